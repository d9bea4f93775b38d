import { API } from '../api.mjs';
import { listen, printReady } from '../listen.mjs';
import { Store } from '../store.mjs';

// What a client of the API sends, and every request that is ever timed. Escapes,
// targets that are no path, bodies in chunks and the like stay with the plain handler:
// frameworks have views of their own about them, and the contract has one.
const ORDINARY = /^\/[\w/?=&.-]*$/;

// serve runs the API with its routes, its bodies and its answers in a framework:
// routes takes the API and gives a handler of requests.
export async function serve(variant, routes) {
  const api = new Framework(new Store());
  api.variant = variant;
  api.route = await routes(api);
  listen(api, (port) => printReady(port, [process.pid]));
}

class Framework extends API {
  handle(req, res) {
    const ordinary = ORDINARY.test(req.url) && req.url !== '/healthz' && req.method !== 'CONNECT' && req.headers['transfer-encoding'] === undefined;
    if (!ordinary) return super.handle(req, res);
    this.served++;
    this.route(req, res);
  }
}
