import http from 'node:http';

// listen serves an API and calls ready with the port. SIGTERM and SIGINT end
// the process, with code 0 and within two seconds.
export function listen(api, ready) {
  // The limits of time are the same numbers as in server-go/main.go. Without the
  // interval Node looks for requests that hang once in 30 s only.
  const server = http.createServer({
    headersTimeout: 10_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 65_000,
    noDelay: true,
  }, (req, res) => api.handle(req, res));

  // Node hands over CONNECT as a tunnel, without any care for the socket; here it
  // is a method like any other. Its target may be a host without a path.
  server.on('connect', (req, socket) => {
    if (!req.url.startsWith('/')) req.url = '';
    const res = new http.ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.on('finish', () => socket.destroySoon());
    socket.on('error', () => socket.destroy());
    api.handle(req, res);
  });

  server.on('error', (err) => {
    console.error(`server-node: ${err.message}`);
    process.exit(1);
  });
  server.listen({ host: process.env.HOST || '127.0.0.1', port: process.env.PORT || 0 }, () => ready(server.address().port));

  // close() drops idle connections and waits for what is in flight. It also
  // waits for connections that never sent a byte: those are cut after a second.
  // A second signal, as when a group is told and its primary tells again, changes
  // nothing: with once() it would meet no handler and end the process at once.
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    server.close(() => process.exit(0));
    setTimeout(() => server.closeAllConnections(), 1000);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

export function printReady(port, pids) {
  const host = process.env.HOST || '127.0.0.1';
  if (!/^(127\.|::1$|localhost$)/.test(host)) {
    console.error(`server-node: warning: listening on ${host}: whoever reaches this machine reaches this server, which has no protection`);
  }
  process.stdout.write(`${JSON.stringify({ ready: true, port, pids })}\n`);
}
