// Items in memory, written the way an Express app is.
import express from "express";

const items = new Map();
const add = (name) => {
  const id = items.size + 1;
  const item = { id, name, price: { amount: (id % 100) + 0.5, currency: "EUR" }, tags: ["new"], createdAt: new Date().toISOString() };
  items.set(id, item);
  return item;
};
for (let i = 1; i <= 1000; i++) add(`Item ${i}`);

const app = express();
app.disable("x-powered-by");
app.disable("etag");
app.use(express.json());
app.get("/health", (_req, res) => res.json({ status: "up" }));
app.get("/items/:id", (req, res) => {
  const item = items.get(Number(req.params.id));
  item ? res.json(item) : res.status(404).json({ error: "no such item" });
});
app.post("/items", (req, res) => {
  const name = req.body?.name;
  typeof name === "string" && name ? res.status(201).json(add(name)) : res.status(400).json({ error: "name is needed" });
});
app.use((_req, res) => res.status(404).json({ error: "no such item" }));

const server = app.listen(Number(process.env.PORT), process.env.HOST);
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
