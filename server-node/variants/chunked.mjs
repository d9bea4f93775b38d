// The answers as an article of 2025 had them: writeHead without a length, so that
// Node sends the body in chunks. All else is the plain server.
import { API, MAX_BODY, fail, parse, refuse } from '../api.mjs';
import { listen, printReady } from '../listen.mjs';
import { Store } from '../store.mjs';

class Chunked extends API {
  variant = 'chunked';

  read(res, id) {
    if (res.req.method === 'HEAD') return super.read(res, id); // the article has none
    const user = this.store.get(id);
    if (user === undefined) return fail(res, 404, 'not found');
    send(res, 200, JSON.stringify(user));
  }

  create(req, res) {
    if (Number(req.headers['content-length']) > MAX_BODY) return refuse(req, res);
    const chunks = [];
    let size = 0;
    req.on('data', (chunk) => {
      if (size > MAX_BODY) return;
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY) refuse(req, res);
    });
    req.on('end', () => {
      if (size > MAX_BODY) return;
      const { name, email, problem } = parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      if (problem !== undefined) return fail(res, 400, problem);
      send(res, 201, JSON.stringify(this.store.add(name, email)));
    });
  }
}

function send(res, status, body) {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(body);
}

listen(new Chunked(new Store()), (port) => printReady(port, [process.pid]));
