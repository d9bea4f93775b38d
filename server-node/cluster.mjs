// The Node half of the comparison on several cores: one primary, which hands out
// connections, and WORKERS workers, each with the API and a store of its own.
import cluster from 'node:cluster';
import os from 'node:os';

import { API } from './api.mjs';
import { delayed } from './delay.mjs';
import { listen, printReady } from './listen.mjs';
import { Store } from './store.mjs';

// How long workers get to end by themselves; then they are killed.
const GRACE_MS = 1500;

if (cluster.isPrimary) lead(Number(process.env.WORKERS || os.availableParallelism()));
else work(Number(process.env.WORKER), Number(process.env.WORKERS));

// lead runs the primary. A worker that ends takes the whole cluster with it: in
// its place another would serve, with an empty store and a cold compiler.
function lead(count) {
  if (!Number.isInteger(count) || count < 1) throw new RangeError('WORKERS must be a number of 1 or more');
  const workers = Array.from({ length: count }, (_, worker) => cluster.fork({ WORKER: worker, WORKERS: count }));
  const signal = (name) => workers.forEach((w) => w.process.kill(name));

  let listening = 0;
  cluster.on('listening', (_, { port }) => {
    if (++listening === count) printReady(port, [process.pid, ...workers.map((w) => w.process.pid)]);
  });

  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    signal('SIGTERM');
    setTimeout(signal, GRACE_MS, 'SIGKILL');
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  let left = count;
  cluster.on('exit', (worker, code, name) => {
    if (!stopping) {
      console.error(`server-node: worker ${worker.process.pid} ended (${name ?? `code ${code}`}), and the cluster with it`);
      signal('SIGKILL');
      process.exit(1);
    }
    if (--left === 0) process.exit(0);
  });

  // A worker whose health is asked asks here for the counts of all workers.
  const rounds = [];
  cluster.on('message', (worker, { wanted, round, counts }) => {
    if (wanted !== undefined) {
      rounds.push({ worker, wanted, missing: count, totals: [] });
      workers.forEach((w) => w.send({ round: rounds.length - 1 }));
      return;
    }
    const r = rounds[round];
    r.totals[workers.indexOf(worker)] = counts;
    if (--r.missing === 0) {
      r.worker.send({ wanted: r.wanted, totals: r.totals });
      delete rounds[round];
    }
  });
}

// work runs a worker. It needs nothing to notice that its primary is gone: Node
// ends a worker whose channel to the primary has closed.
function work(worker, count) {
  const waiting = []; // for totals, by number of the question
  const api = new API(new Store(worker, count), () => new Promise((resolve) => {
    process.send({ wanted: waiting.push(resolve) - 1 });
  }));
  process.on('message', ({ round, wanted, totals }) => {
    if (round !== undefined) return process.send({ round, counts: api.counts() });
    waiting[wanted](totals);
    delete waiting[wanted];
  });
  listen(delayed(api), () => {});
}
