// get-open: open loop, 21500.5 requests/s, poisson arrivals, 50 connections, warm-up 1s, window 1.1s for k6, written by gonogo 0.1.0.
// Run: k6 run FILE. The summary goes into gonogo-k6.json: gonogo import --engine k6 gonogo-k6.json
//
// Not expressed here:
// - fresh server processes, shuffled blocks, the A/A twin and the server's CPU time are not k6's: start the server anew before each run yourself
// - ids: from the same range, but not in gonogo's order
// - latency: k6 counts it from the send, not from when a request was due: waiting in the generator does not show
// - a request that finds all connections busy when it is due: k6 drops it (dropped_iterations) where gonogo sends it late
// - poisson arrivals: k6 spaces requests evenly, so its tail is shorter

import http from 'k6/http';
import { check, randomSeed } from 'k6';

export const options = {
  "discardResponseBodies": false,
  "scenarios": {
    "warmup": {
      "executor": "constant-arrival-rate",
      "rate": 21500500,
      "timeUnit": "1000s",
      "preAllocatedVUs": 50,
      "maxVUs": 50,
      "duration": "1000ms",
      "gracefulStop": "0s"
    },
    "window": {
      "executor": "constant-arrival-rate",
      "rate": 21500500,
      "timeUnit": "1000s",
      "preAllocatedVUs": 50,
      "maxVUs": 50,
      "startTime": "1000ms",
      "duration": "1100ms",
      "gracefulStop": "5000ms"
    }
  },
  "summaryTrendStats": [
    "count",
    "min",
    "avg",
    "med",
    "p(90)",
    "p(95)",
    "p(99)",
    "p(99.9)",
    "max"
  ],
  "thresholds": {
    "checks{scenario:window}": [
      "rate\u003e=0"
    ],
    "http_req_duration{scenario:window}": [
      "max\u003e=0"
    ],
    "http_req_failed{scenario:window}": [
      "rate\u003e=0"
    ],
    "http_reqs{scenario:window}": [
      "count\u003e=0"
    ]
  }
};

const base = "http://10.0.0.1:8080";
const ids = 3;
const requests = [
  {
    "method": "GET",
    "path": "/users/{id}",
    "headers": {},
    "weight": 1,
    "status": 200,
    "want": "{\"id\":\"{id}\",\"name\":\"User {id}\"}"
  }
];
const total = requests.reduce((sum, request) => sum + request.weight, 0);

randomSeed(1 + __VU);

const fill = (text, id) => text.split('{id}').join(id);

// pick draws a request by its weight.
function pick() {
  let left = Math.random() * total;
  for (const request of requests) {
    left -= request.weight;
    if (left < 0) return request;
  }
  return requests[requests.length - 1];
}

// right holds a reply to the wanted status and body, in which {digits} stands for a
// number that the server chose.
export function right(request, id, reply) {
  if (request.status ? reply.status !== request.status : reply.status < 200 || reply.status > 299) return false;
  if (!request.want) return true;
  const body = reply.body || '';
  const [before, after] = fill(request.want, id).split('{digits}');
  if (after === undefined) return body === before;
  const middle = body.slice(before.length, body.length - after.length);
  return body.startsWith(before) && body.endsWith(after) && /^[0-9]+$/.test(middle);
}

export default function () {
  const request = pick();
  const id = String(1 + Math.floor(Math.random() * ids));
  const reply = http.request(request.method, base + fill(request.path, id), request.body ? fill(request.body, id) : null, {
    headers: request.headers,
    timeout: "5000ms",
    tags: { name: request.path },
    responseCallback: http.expectedStatuses(request.status || { min: 200, max: 299 }),
  });
  check(reply, { 'the reply is right': (r) => right(request, id, r) });
}

export function handleSummary(data) {
  data.gonogo = { scenario: "get-open", window_ms: 1100 };
  return { 'gonogo-k6.json': JSON.stringify(data) };
}
