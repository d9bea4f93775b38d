// The Node half of the comparison in one process: a small JSON API over users in
// memory, with the built-in http module. server-go is the same API, equal to the
// byte; read api.mjs beside api.go and store.mjs beside store.go.
//
// Settings come from the environment: HOST, PORT (0 is any free port), GONOGO_TOKEN,
// and DELAY_MS, which makes requests wait: see delay.mjs.
import { API } from './api.mjs';
import { delayed } from './delay.mjs';
import { listen, printReady } from './listen.mjs';
import { Store } from './store.mjs';

listen(delayed(new API(new Store())), (port) => printReady(port, [process.pid]));
