// A service that knows nothing of gonogo: items in memory, Node's own http, no package.
import { createServer } from "node:http";

const items = new Map();
const add = (name) => {
  const id = items.size + 1;
  const item = { id, name, price: { amount: (id % 100) + 0.5, currency: "EUR" }, tags: ["new"], createdAt: new Date().toISOString() };
  items.set(id, item);
  return item;
};
for (let i = 1; i <= 1000; i++) add(`Item ${i}`);

const send = (res, status, value) => {
  const body = JSON.stringify(value);
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
};

const server = createServer((req, res) => {
  const [, first, id, more] = req.url.split("?")[0].split("/");
  if (req.method === "GET" && first === "health" && id === undefined) return send(res, 200, { status: "up" });
  if (req.method === "GET" && first === "items" && id !== undefined && more === undefined) {
    const item = items.get(Number(id));
    return item ? send(res, 200, item) : send(res, 404, { error: "no such item" });
  }
  if (req.method === "POST" && first === "items" && id === undefined) {
    const chunks = [];
    req.on("data", (c) => chunks.push(c));
    req.on("end", () => {
      let name;
      try {
        ({ name } = JSON.parse(Buffer.concat(chunks)));
      } catch {}
      typeof name === "string" && name ? send(res, 201, add(name)) : send(res, 400, { error: "name is needed" });
    });
    return;
  }
  send(res, 404, { error: "no such item" });
});
server.listen(Number(process.env.PORT), process.env.HOST);
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
