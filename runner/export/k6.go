package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// k6Shortest is the least duration of an executor of k6.
const k6Shortest = time.Second

// k6Executor is a member of options.scenarios: grafana.com/docs/k6, "Constant VUs"
// and "Constant arrival rate".
type k6Executor struct {
	Executor        string `json:"executor"`
	VUs             int    `json:"vus,omitempty"`
	Rate            int64  `json:"rate,omitempty"`
	TimeUnit        string `json:"timeUnit,omitempty"`
	PreAllocatedVUs int    `json:"preAllocatedVUs,omitempty"`
	MaxVUs          int    `json:"maxVUs,omitempty"`
	StartTime       string `json:"startTime,omitempty"`
	Duration        string `json:"duration"`
	GracefulStop    string `json:"gracefulStop"`
}

type k6Request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
	Weight  int               `json:"weight"`
	Status  int               `json:"status,omitempty"` // absent: any 2xx
	Want    string            `json:"want,omitempty"`   // absent: any body
}

// K6 writes a script for k6 run.
func K6(j Job) (*Text, error) {
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("export for k6: %w", err)
	}
	lost := j.lost("k6")
	if j.open() {
		lost = append(lost, "a request that finds all connections busy when it is due: k6 drops it (dropped_iterations) where gonogo sends it late")
		if arrivals(&j.Scenario) == "poisson" {
			lost = append(lost, "poisson arrivals: k6 spaces requests evenly, so its tail is shorter")
		}
	}
	if j.Scenario.Window < k6Shortest || 0 < j.Scenario.Warmup && j.Scenario.Warmup < k6Shortest {
		lost = append(lost, fmt.Sprintf("times under %v: k6 knows none, such a warm-up or window lasts %v", k6Shortest, k6Shortest))
	}
	options, err := json.MarshalIndent(j.k6Options(), "", "  ")
	if err != nil {
		return nil, err
	}
	requests, err := json.MarshalIndent(j.k6Requests(), "", "  ")
	if err != nil {
		return nil, err
	}
	head := j.heading("//", "k6", "Run: k6 run FILE. The summary goes into gonogo-k6.json: gonogo import --engine k6 gonogo-k6.json", lost)
	text := strings.NewReplacer("HEADING\n", head, "OPTIONS", string(options), "REQUESTS", string(requests),
		"BASE", quoted("http://"+j.Host), "NAME", quoted(j.Scenario.Name), "IDS", fmt.Sprint(j.IDs), "SEED", fmt.Sprint(j.Seed%math.MaxInt32),
		"TIMEOUT", quoted(millis(j.Timeout)), "WINDOW_MS", fmt.Sprint(max(j.Scenario.Window, k6Shortest).Milliseconds())).Replace(k6Script)
	return &Text{text, lost}, nil
}

// quoted is a string in JSON and so in JavaScript.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string cannot fail
	return string(b)
}

func (j *Job) k6Options() map[string]any {
	s := &j.Scenario
	executor := func(d time.Duration) k6Executor {
		e := k6Executor{Executor: "constant-vus", VUs: s.Connections, Duration: millis(max(d, k6Shortest)), GracefulStop: millis(j.Timeout)}
		if j.open() {
			e.Executor, e.VUs = "constant-arrival-rate", 0
			e.PreAllocatedVUs, e.MaxVUs = s.Connections, s.Connections
			e.Rate, e.TimeUnit = k6Rate(s.RatePerSec)
		}
		return e
	}
	scenarios := map[string]k6Executor{"window": executor(s.Window)}
	if s.Warmup > 0 {
		warmup, window := executor(s.Warmup), executor(s.Window)
		warmup.GracefulStop, window.StartTime = "0s", warmup.Duration
		scenarios = map[string]k6Executor{"warmup": warmup, "window": window}
	}
	return map[string]any{
		"scenarios":             scenarios,
		"discardResponseBodies": false,
		"summaryTrendStats":     []string{"count", "min", "avg", "med", "p(90)", "p(95)", "p(99)", "p(99.9)", "max"},
		// A threshold is how k6 is made to sum up one scenario apart from the others.
		"thresholds": map[string][]string{
			"http_reqs{scenario:window}":         {"count>=0"},
			"http_req_duration{scenario:window}": {"max>=0"},
			"http_req_failed{scenario:window}":   {"rate>=0"},
			"checks{scenario:window}":            {"rate>=0"},
		},
	}
}

// k6Rate is a rate in k6's whole numbers: to a thousandth of a request a second.
func k6Rate(perSec float64) (rate int64, unit string) {
	if perSec == math.Trunc(perSec) {
		return int64(perSec), "1s"
	}
	return int64(math.Round(1000 * perSec)), "1000s"
}

func (j *Job) k6Requests() (list []k6Request) {
	for _, r := range j.Scenario.Requests {
		headers := r.Header
		if headers == nil {
			headers = map[string]string{}
		}
		list = append(list, k6Request{r.Method, r.Path, headers, r.Body, cmp.Or(r.Weight, 1), r.WantStatus, r.WantBody})
	}
	return list
}

const k6Script = `HEADING

import http from 'k6/http';
import { check, randomSeed } from 'k6';

export const options = OPTIONS;

const base = BASE;
const ids = IDS;
const requests = REQUESTS;
const total = requests.reduce((sum, request) => sum + request.weight, 0);

randomSeed(SEED + __VU);

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
    timeout: TIMEOUT,
    tags: { name: request.path },
    responseCallback: http.expectedStatuses(request.status || { min: 200, max: 299 }),
  });
  check(reply, { 'the reply is right': (r) => right(request, id, r) });
}

export function handleSummary(data) {
  data.gonogo = { scenario: NAME, window_ms: WINDOW_MS };
  return { 'gonogo-k6.json': JSON.stringify(data) };
}
`
