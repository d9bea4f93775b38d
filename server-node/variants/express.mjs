// The API on Express: its router, its reading of bodies, its send. What it adds to
// an answer (ETag, X-Powered-By) stays, for that is Express as it comes.
import express from 'express';

import { MAX_BODY, fail, methodNotAllowed, parse, refuse } from '../api.mjs';
import { serve } from './framework.mjs';

await serve('express', (api) => {
  const app = express();
  app.set('strict routing', true);
  app.set('case sensitive routing', true);

  app.get('/users/:id', (req, res) => {
    const user = api.store.get(req.params.id);
    if (user === undefined) return fail(res, 404, 'not found');
    send(res, 200, user);
  });
  // The contract's body is any bytes under any type: express.json would refuse some
  // types and mend invalid UTF-8.
  const body = express.raw({ type: () => true, limit: MAX_BODY });
  // What is declared too large is refused unread; Express would read it first.
  const first = (req, res, next) => {
    if (Number(req.headers['content-length']) > MAX_BODY) return refuse(req, res);
    delete req.headers['content-encoding'];
    next();
  };
  app.post('/users', first, body, (req, res) => {
    const { name, email, problem } = parse(req.body ?? Buffer.alloc(0));
    if (problem !== undefined) return fail(res, 400, problem);
    send(res, 201, api.store.add(name, email));
  });
  app.all('/users', (req, res) => methodNotAllowed(res, 'POST'));
  app.all('/users/:id', (req, res) => methodNotAllowed(res, 'GET, HEAD'));
  app.use((req, res) => fail(res, 404, 'not found'));
  app.use((err, req, res, next) => {
    if (err.type === 'entity.too.large') return refuse(req, res);
    if (err.type === 'request.aborted') return; // nobody is there to be answered
    next(err);
  });
  return app;
});

// send is res.json without the charset that it adds to the type.
function send(res, status, user) {
  res.status(status).setHeader('Content-Type', 'application/json');
  res.send(Buffer.from(JSON.stringify(user)));
}
