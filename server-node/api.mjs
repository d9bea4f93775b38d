import v8 from 'node:v8';

// The largest body of a POST, in bytes.
export const MAX_BODY = 16_384;

// How long a connection stays open for a client that still sends what was
// refused; net/http waits as long.
const LINGER_MS = 500;

// fatal: invalid UTF-8 throws. ignoreBOM: a byte order mark is kept, and then
// refused by JSON.parse, as in Go.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// API answers requests.
export class API {
  served = 0; // requests, GET /healthz left out

  // totals resolves to the counts of all workers; here there is one.
  constructor(store, totals = async () => [this.counts()]) {
    this.store = store;
    this.totals = totals;
  }

  handle(req, res) {
    const path = decodedPath(req.url);
    if (path !== '/healthz') this.served++;
    if (path === undefined) return fail(res, 400, 'bad request');
    if (path === '/users') {
      if (req.method === 'POST') return this.create(req, res);
      return methodNotAllowed(res, 'POST');
    }
    const id = idOf(path);
    if (id === undefined && path !== '/healthz') return fail(res, 404, 'not found');
    if (req.method !== 'GET' && req.method !== 'HEAD') return methodNotAllowed(res, 'GET, HEAD');
    if (id === undefined) return this.health(res);
    this.read(res, id);
  }

  read(res, id) {
    const user = this.store.get(id);
    if (user === undefined) return fail(res, 404, 'not found');
    send(res, 200, JSON.stringify(user));
  }

  create(req, res) {
    if (Number(req.headers['content-length']) > MAX_BODY) return refuse(req, res);
    const chunks = [];
    let size = 0;
    req.on('data', (chunk) => {
      if (size > MAX_BODY) return; // refused already
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY) refuse(req, res);
    });
    // A request that is reset or cut never ends: nothing is stored.
    req.on('end', () => {
      if (size > MAX_BODY) return;
      const { name, email, problem } = parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      if (problem !== undefined) return fail(res, 400, problem);
      send(res, 201, JSON.stringify(this.store.add(name, email)));
    });
  }

  counts() {
    return { pid: process.pid, users: this.store.size, requests: this.served };
  }

  // health is for the runner, and no part of the contract: which process this
  // is, its settings as the runtime sees them, and what it has done.
  async health(res) {
    const workers = await this.totals();
    send(res, 200, JSON.stringify({
      runtime: process.versions.bun ? 'bun' : process.versions.deno ? 'deno' : 'node',
      version: process.versions.bun ?? process.versions.deno ?? process.version, // both claim a Node version too
      variant: this.variant,
      delay_ms: this.delay,
      pid: process.pid,
      token: process.env.GONOGO_TOKEN ?? '',
      workers: workers.length,
      worker_pids: workers.map((w) => w.pid),
      heap_limit_bytes: v8.getHeapStatistics().heap_size_limit,
      users: workers.map((w) => w.users),
      requests: workers.map((w) => w.requests),
    }));
  }
}

// parse takes the whole body: a chunk may end inside a character. Go's strings
// cannot hold a lone surrogate: it becomes U+FFFD there, and so here.
export function parse(body) {
  let object;
  try {
    object = JSON.parse(utf8.decode(body));
  } catch {
    return { problem: 'invalid json' };
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return { problem: 'invalid json' };
  const { name, email } = object;
  if (typeof name !== 'string' || name === '') return { problem: 'name required' };
  if (typeof email !== 'string' || !email.includes('@')) return { problem: 'invalid email' };
  return { name: name.toWellFormed(), email: email.toWellFormed() };
}

// decodedPath cuts scheme and host off an absolute target, and the query, and
// percent-decodes once. An escape that is malformed or makes invalid UTF-8
// gives undefined.
function decodedPath(target) {
  if (target[0] !== '/') target = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const query = target.indexOf('?');
  try {
    return decodeURIComponent(query < 0 ? target : target.slice(0, query));
  } catch {
    return undefined;
  }
}

// idOf gives what stands for :id in /users/:id, which is neither empty nor holds a slash.
export function idOf(path) {
  const id = path.startsWith('/users/') ? path.slice(7) : '';
  return id === '' || id.includes('/') ? undefined : id;
}

// refuse answers at once and ends the reply only when the client is done, or
// after a while: closing with bytes still unread would reset the connection and
// could lose the answer.
export function refuse(req, res) {
  const body = '{"error":"body too large"}';
  // The reason is the one that net/http has; Node's own is "Payload Too Large".
  res.writeHead(413, 'Request Entity Too Large', { 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' });
  res.write(body);
  req.on('end', () => res.end());
  setTimeout(() => res.end(), LINGER_MS);
  req.resume();
}

export function methodNotAllowed(res, allow) {
  res.setHeader('Allow', allow);
  fail(res, 405, 'method not allowed');
}

export function fail(res, status, message) {
  send(res, status, `{"error":"${message}"}`);
}

// send fixes the length first. A writeHead without it would send the body in
// chunks: other bytes and more work than Go has.
export function send(res, status, body) {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}
