// A gateway: hands every request on to the service at BACKEND.
import { Agent, createServer, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const server = createServer((req, res) => {
  const onward = request(
    { host: process.env.HOST, port: process.env.BACKEND, method: req.method, path: req.url, headers: req.headers, agent },
    (answer) => {
      res.writeHead(answer.statusCode, { "Content-Type": answer.headers["content-type"] ?? "application/json" });
      answer.pipe(res);
    },
  );
  onward.on("error", () => {
    if (!res.headersSent) res.writeHead(502);
    res.end();
  });
  req.pipe(onward);
});
server.listen(Number(process.env.PORT), process.env.HOST);
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
