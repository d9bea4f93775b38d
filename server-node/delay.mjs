import { setTimeout as sleep } from 'node:timers/promises';

// What a request may wait: a stop cuts after a second what is still in flight.
const MAX_WAITS = 16;
const MAX_DELAY = 900;

// delayed makes every request but GET /healthz wait, for the services that a handler
// asks before it can answer: a timer for each, DELAY_MS=5 for one of 5 ms, 5+5+5 for
// three one after the other, 5/5/5 for three at once. Without a delay it gives back
// what it was given: the plain server runs no line of this file.
export function delayed(api, setting = process.env.DELAY_MS ?? '') {
  const wait = parse(setting);
  if (wait === undefined) return api;
  api.delay = setting;
  return {
    async handle(req, res) {
      if (req.url !== '/healthz') await wait();
      api.handle(req, res);
    },
  };
}

// parse gives what waits, or undefined if nothing does.
function parse(setting) {
  if (setting === '' || setting === '0') return undefined;
  const parallel = setting.includes('/');
  const parts = setting.split(parallel ? '/' : '+');
  const waits = parts.map(Number);
  const total = parallel ? Math.max(...waits) : waits.reduce((sum, ms) => sum + ms, 0);
  if (!parts.every((text) => /^[1-9][0-9]*$/.test(text)) || total > MAX_DELAY || waits.length > MAX_WAITS) {
    throw new RangeError(`DELAY_MS must be like 5, 5+5+5 or 5/5/5: whole milliseconds, ${MAX_WAITS} waits and ${MAX_DELAY} ms at most`);
  }
  if (parallel) return () => Promise.all(waits.map(pause));
  return async () => {
    for (const ms of waits) await pause(ms);
  };
}

// pause waits for ms and, in a process that works, on to the next whole millisecond of
// a clock: timers here count from the last that has passed, so one set for ms alone ends
// up to one early, and is set again. server-go's ends at a whole millisecond too.
async function pause(ms) {
  const due = performance.now() + ms;
  for (let left = ms; left > 0; left = due - performance.now()) await sleep(left);
}
