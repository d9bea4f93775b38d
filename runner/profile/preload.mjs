// Loaded into a Node process by --import before its program, for gonogo profile. It
// opens a listener on loopback that is told when the timed window begins and ends, and
// records in between what PROFILE asks for. The program itself is not touched.
import http from 'node:http';
import inspector from 'node:inspector';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

const of = process.env.PROFILE;
const session = new inspector.Session();
if (of === 'memory' || of === 'heap') session.connect();

const post = (method, params) => new Promise((resolve, reject) => {
  session.post(method, params, (err, result) => (err ? reject(err) : resolve(result)));
});

// Microseconds of the clock that V8 stamps its samples with.
const now = () => Number(process.hrtime.bigint() / 1000n);

const RESOLUTION_MS = 1;
const delay = of === 'waits' ? monitorEventLoopDelay({ resolution: RESOLUTION_MS }) : undefined;
delay?.enable();

// After a collection: what is still there is in use.
async function live() {
  await post('HeapProfiler.collectGarbage');
  return process.memoryUsage().heapUsed;
}

let begun;

async function begin() {
  const state = {};
  if (of === 'heap') state.live = await live();
  if (of === 'memory') {
    await post('HeapProfiler.startSampling', { samplingInterval: 131_072, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true });
  }
  delay?.reset();
  state.loop = performance.eventLoopUtilization();
  state.at = now();
  begun = state;
  return { at_us: state.at };
}

async function end() {
  const at = now();
  const answer = { pid: process.pid, begin_us: begun.at, end_us: at, utilisation: performance.eventLoopUtilization(begun.loop).utilization };
  if (delay !== undefined) {
    const quantile = (p) => (delay.count > 0 ? delay.percentile(p) : 0);
    answer.delay = {
      resolution_ns: RESOLUTION_MS * 1e6, samples: delay.count, exceeds: delay.exceeds,
      mean_ns: delay.count > 0 ? delay.mean : 0, p50_ns: quantile(50), p99_ns: quantile(99), max_ns: delay.count > 0 ? delay.max : 0,
    };
  }
  if (of === 'memory') answer.allocations = (await post('HeapProfiler.stopSampling')).profile;
  if (of === 'heap') answer.live = { begin: begun.live, end: await live() };
  return answer;
}

const actions = { '/begin': begin, '/end': end };

const server = http.createServer(async (req, res) => {
  const action = actions[req.url];
  try {
    const body = action === undefined ? undefined : JSON.stringify(await action());
    res.writeHead(body === undefined ? 404 : 200, { Connection: 'close' });
    res.end(body);
  } catch (err) {
    res.writeHead(500, { Connection: 'close' });
    res.end(err.stack);
  }
});
server.unref();
await new Promise((resolve) => server.listen({ host: '127.0.0.1', port: 0, exclusive: true }, resolve));
process.stdout.write(`${JSON.stringify({ profile: `127.0.0.1:${server.address().port}`, pid: process.pid })}\n`);
