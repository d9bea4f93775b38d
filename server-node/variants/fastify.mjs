// The API on Fastify: its router, its reading of bodies, its serialisation by schema.
import fastify from 'fastify';

import { MAX_BODY, fail, idOf, methodNotAllowed, parse, refuse } from '../api.mjs';
import { serve } from './framework.mjs';

const text = { type: 'string' };
const user = { type: 'object', properties: { id: text, name: text, email: text } };

await serve('fastify', async (api) => {
  const app = fastify({ bodyLimit: MAX_BODY, maxParamLength: MAX_BODY });
  // The contract's body is any bytes under any type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (req, body, done) => done(null, body));

  app.get('/users/:id', { schema: { response: { 200: user } } }, (req, reply) => {
    const found = api.store.get(req.params.id);
    if (found === undefined) return plainly(reply, () => fail(reply.raw, 404, 'not found'));
    send(reply, 200, found);
  });
  app.post('/users', { schema: { response: { 201: user } } }, (req, reply) => {
    const { name, email, problem } = parse(req.body ?? Buffer.alloc(0));
    if (problem !== undefined) return plainly(reply, () => fail(reply.raw, 400, problem));
    send(reply, 201, api.store.add(name, email));
  });
  app.setNotFoundHandler((req, reply) => plainly(reply, () => {
    const path = req.url.split('?', 1)[0];
    if (path === '/users') return methodNotAllowed(reply.raw, 'POST');
    if (idOf(path) !== undefined) return methodNotAllowed(reply.raw, 'GET, HEAD');
    fail(reply.raw, 404, 'not found');
  }));
  app.setErrorHandler((err, req, reply) => {
    if (err.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return plainly(reply, () => refuse(req.raw, reply.raw));
    reply.send(err);
  });
  await app.ready();
  return (req, res) => app.routing(req, res);
});

// send sends bytes, for to the type of all else Fastify adds a charset.
function send(reply, status, value) {
  reply.code(status).header('Content-Type', 'application/json');
  reply.send(Buffer.from(reply.serialize(value)));
}

// plainly answers an error in the words of the contract, past the framework.
function plainly(reply, answer) {
  reply.hijack();
  answer();
}
