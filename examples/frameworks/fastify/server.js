// Items in memory, written the way a Fastify app is: with schemas.
import Fastify from "fastify";

const items = new Map();
const add = (name) => {
  const id = items.size + 1;
  const item = { id, name, price: { amount: (id % 100) + 0.5, currency: "EUR" }, tags: ["new"], createdAt: new Date().toISOString() };
  items.set(id, item);
  return item;
};
for (let i = 1; i <= 1000; i++) add(`Item ${i}`);

const item = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    price: { type: "object", properties: { amount: { type: "number" }, currency: { type: "string" } } },
    tags: { type: "array", items: { type: "string" } },
    createdAt: { type: "string" },
  },
};

const app = Fastify({ forceCloseConnections: true });
app.get("/health", async () => ({ status: "up" }));
app.get("/items/:id", { schema: { response: { 200: item } } }, async (req, reply) => items.get(Number(req.params.id)) ?? reply.code(404).send({ error: "no such item" }));
const body = { type: "object", required: ["name"], properties: { name: { type: "string", minLength: 1 } } };
app.post("/items", { schema: { body, response: { 201: item } } }, async (req, reply) => reply.code(201).send(add(req.body.name)));
app.setErrorHandler((err, _req, reply) => reply.code(err.validation ? 400 : (err.statusCode ?? 500)).send({ error: err.validation ? "name is needed" : err.message }));
app.setNotFoundHandler((_req, reply) => reply.code(404).send({ error: "no such item" }));

await app.listen({ port: Number(process.env.PORT), host: process.env.HOST });
process.on("SIGTERM", () => app.close().then(() => process.exit(0)));
