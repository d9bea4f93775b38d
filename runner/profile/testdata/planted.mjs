// A server of known truth: PLANT says what is wrong with it, or nothing.
import http from 'node:http';

const plant = process.env.PLANT;
const kept = [];
const cell = new Int32Array(new SharedArrayBuffer(4));
let served = 0;

function hotFunction() {
  let x = 1;
  for (let i = 0; i < 300_000; i++) x = (x * 31 + i) % 65_537;
  return x;
}

function leakFunction() {
  kept.push(new Array(2000).fill(served));
}

// Blocks the thread without any work: 30 ms in one of eight requests.
function blockFunction() {
  if (served % 8 === 0) Atomics.wait(cell, 0, 0, 30);
}

const server = http.createServer((req, res) => {
  served++;
  if (plant === 'hot') hotFunction();
  if (plant === 'leak') leakFunction();
  if (plant === 'block') blockFunction();
  res.end('{"ok":true}');
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ ready: true, port: server.address().port, pids: [process.pid] })));
process.on('SIGTERM', () => process.exit(0));
