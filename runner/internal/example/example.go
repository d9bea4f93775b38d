// Package example makes up a session that has one of everything that a report
// shows, for the tests of those who write reports. It is no measurement: every
// number comes from a seeded generator and is the same on every machine.
package example

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

const (
	blocks = 8
	window = 2 * time.Second
	warmup = time.Second
	slice  = 100 * time.Millisecond
	oneIn  = 8 // of the requests have a latency, so that tests are fast
)

var epoch = time.Date(2026, 11, 30, 19, 41, 0, 0, time.UTC)

// kind is what a target is like.
type kind struct {
	rate      float64       // answers per second in a closed loop
	latency   time.Duration // typical, in the open loop
	tail      float64       // how far the tail reaches
	cpus      int
	idle      float64 // MiB
	load      float64
	ready     time.Duration
	processes int
}

var kinds = map[string]kind{
	"go-1":           {12_000, 180 * time.Microsecond, 0.45, 1, 9, 17, 11 * time.Millisecond, 1},
	"node-1":         {6_000, 240 * time.Microsecond, 0.8, 1, 48, 92, 64 * time.Millisecond, 1},
	"node-1-twin":    {6_000, 240 * time.Microsecond, 0.8, 1, 48, 92, 64 * time.Millisecond, 1},
	"go-2":           {17_000, 170 * time.Microsecond, 0.5, 2, 9, 19, 12 * time.Millisecond, 1},
	"node-cluster-2": {10_500, 230 * time.Microsecond, 0.85, 2, 131, 236, 210 * time.Millisecond, 3},
}

// Session is the whole of it: complete, and graded B. Each call gives another copy.
func Session() *record.Session {
	var s record.Session
	if err := json.Unmarshal(encoded(), &s); err != nil {
		panic("example session: " + err.Error()) // it was written below
	}
	return &s
}

var encoded = sync.OnceValue(func() []byte {
	b, err := json.Marshal(session())
	if err != nil {
		panic("example session: " + err.Error())
	}
	return b
})

func session() *record.Session {
	load := 0.2
	s := &record.Session{
		SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-e8a3b1", Started: epoch, Finished: epoch.Add(13 * time.Minute),
		Plan: plan(),
		Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "Example CPU @ 2.00GHz", CPUs: []int{0, 1, 2, 3}, PhysicalCores: 2,
			MemoryBytes: 8 << 30, Hypervisor: "kvm", GoVersion: "go1.26.0", NodeVersion: "v20.20.2", LoadAverage1: &load, Grade: "B",
			Checks: []record.Check{
				{Name: "foreign CPU", OK: true, Observed: "0.4 %", Limit: "5 %"},
				{Name: "CPU governor", Observed: "powersave", Limit: "performance"},
				{Name: "steal", Unknown: true, Observed: "not told", Limit: "1 %"},
			}},
	}
	for _, t := range s.Plan.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 60, ReplyBytesGET: 186})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, st := range s.Plan.Steps {
		s.Runs = append(s.Runs, run(&s.Plan, st, r))
	}
	s.Runs[7].Outcome, s.Runs[7].Reason = record.Void, "another process used 40 % of a CPU"
	return s
}

func plan() record.Plan {
	get := []record.Request{{Method: "GET", Path: "/users/{id}", WantStatus: 200}}
	one := func(name, base string) record.Target {
		return record.Target{Name: name, Base: base, Argv: []string{name}, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{2, 3}}
	}
	two := func(name, base string) record.Target {
		return record.Target{Name: name, Base: base, Argv: []string{name}, Workers: 2, CPUs: []int{0, 1}, GeneratorCPUs: []int{2, 3}}
	}
	twin := one("node-1-twin", "node-1")
	twin.Twin = true
	p := record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: "test", Seed: 7, Blocks: blocks, RequestTimeout: 5 * time.Second,
		Targets: []record.Target{one("go-1", "node-1"), one("node-1", ""), twin, two("go-2", "node-cluster-2"), two("node-cluster-2", "")},
		Scenarios: []record.Scenario{
			{Name: "get-c50", Kind: record.Closed, Requests: get, Connections: 50, Warmup: warmup, Window: window},
			{Name: "get-open", Kind: record.Open, Requests: get, Connections: 50, RateOfCapacity: 0.5, Arrivals: "poisson", Warmup: warmup, Window: window},
			{Name: "memory-c300", Kind: record.Memory, Requests: get, Connections: 300, Window: 4 * time.Second, Idle: 2 * time.Second, Rest: 3 * time.Second},
		},
		Rules: record.Rules{ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, DutyRatioMin: 0.95, DutyRatioMax: 1.005, ServerCPUBusyMin: 0.9,
			ChattyBytesPerReq: 1, MinBlocksForMedian: 6, GeneratorCPUMax: 0.8, WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98, VoidStepsMax: 0.2},
		Primary: []record.Primary{
			{Metric: "rate_per_sec", Scenario: "get-c50", Target: "go-1", Base: "node-1", HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
			{Metric: "server_cpu_ns_per_request", Scenario: "get-open", Target: "go-1", Base: "node-1", MarginRatio: 0.05},
			{Metric: "p99_ns", Scenario: "get-open", Target: "go-1", Base: "node-1", MarginRatio: 0.1, Floor: 500_000},
			{Metric: "load_pss_bytes", Scenario: "memory-c300", Target: "go-1", Base: "node-1", MarginRatio: 0.05, Floor: 1 << 20},
			{Metric: "rate_per_sec", Scenario: "get-c50", Target: "go-2", Base: "node-cluster-2", HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
			{Metric: "p99_ns", Scenario: "get-open", Target: "go-2", Base: "node-cluster-2", MarginRatio: 0.1, Floor: 100_000},
		},
	}
	for b := 1; b <= blocks; b++ {
		for _, sc := range p.Scenarios {
			for i := range p.Targets {
				n := len(p.Steps)
				t := p.Targets[(i+b)%len(p.Targets)]
				p.Steps = append(p.Steps, record.Step{Index: n, Block: b, Position: n % (len(p.Targets) * len(p.Scenarios)), Target: t.Name, Scenario: sc.Name})
			}
		}
	}
	return p
}

// run is a step that was done. Processes differ by a percent or two.
func run(p *record.Plan, st record.Step, r *rand.Rand) record.Run {
	return runOf(kinds[st.Target], p, st, r)
}

func runOf(k kind, p *record.Plan, st record.Step, r *rand.Rand) record.Run {
	sc, _ := p.Scenario(st.Scenario)
	own := 1 + 0.012*r.NormFloat64()
	rate := k.rate * own
	if sc.Kind == record.Open {
		rate = 3_000 * float64(k.cpus)
	}
	n := uint64(rate * window.Seconds())
	perRequest := time.Duration(float64(k.cpus) * 0.96 * 1e9 / k.rate / own)
	res := &record.LoadResult{Engine: "epoll", Kind: sc.Kind, Connections: sc.Connections, Window: window, Warmup: warmup,
		Start:  epoch.Add(time.Duration(st.Index)*6*time.Second + warmup),
		Counts: record.Counts{Planned: n, OK: n, InWindow: n}, CPU: record.CPUTime{User: 500 * time.Millisecond, System: 700 * time.Millisecond}}
	out := record.Run{
		SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: epoch.Add(time.Duration(st.Index) * 6 * time.Second), Took: 6 * time.Second,
		Ready: time.Duration(float64(k.ready) * (1 + 0.1*r.Float64())), LogFile: fmt.Sprintf("logs/%04d-%s.%s.b%02d.log", st.Index+1, st.Target, st.Scenario, st.Block),
		Load: res, ServerCPU: &record.CPUTime{User: perRequest * time.Duration(n) * 2 / 3, System: perRequest * time.Duration(n) / 3},
	}
	if sc.Kind == record.Memory {
		res.Kind = record.Closed
		out.Memory = memory(k, st.Block, r)
		return out
	}
	res.Timeline = timeline(rate, r)
	latencies(res, sc, k, own, n, r)
	return out
}

func timeline(rate float64, r *rand.Rand) []record.Slice {
	var all []record.Slice
	offset := time.Duration(r.IntN(40)) * time.Millisecond
	for at := -warmup; at < window; at += slice {
		part := min(1, 0.35+0.65*math.Sqrt(float64(at+warmup)/float64(warmup/2)))
		start := at
		if at < 0 {
			start -= offset // a warm-up does not end on the edge of a slice
		}
		all = append(all, record.Slice{Start: start, Length: slice, Right: uint64(rate * part * slice.Seconds() * (1 + 0.03*r.NormFloat64()))})
	}
	return all
}

// latencies draws a log-normal service time; in an open loop the response time is
// a little more. One run has a maximum of its own.
func latencies(res *record.LoadResult, sc record.Scenario, k kind, own float64, n uint64, r *rand.Rand) {
	service, response := histogram.New(), histogram.New()
	typical := float64(k.latency)
	if sc.Kind == record.Closed {
		typical = float64(sc.Connections) * 1e9 / (k.rate * own)
	}
	for range n / oneIn {
		d := typical * math.Exp(k.tail*r.NormFloat64()/2)
		service.Record(time.Duration(d))
		response.Record(time.Duration(d * (1 + 0.2*r.ExpFloat64())))
	}
	res.Service = service.Encode()
	if sc.Kind == record.Open {
		res.Response = response.Encode()
	}
}

func memory(k kind, block int, r *rand.Rand) *record.MemoryWatch {
	reading := func(mib float64) *record.MemoryReading {
		mib *= 1 + 0.015*r.NormFloat64()
		pss, uss := uint64(mib*(1<<20)), uint64(mib*0.9*(1<<20))
		return &record.MemoryReading{Processes: k.processes, PSS: &pss, USS: &uss, RSS: uint64((mib + 20*float64(k.processes)) * (1 << 20))}
	}
	peak := uint64(k.load * 1.15 * (1 << 20))
	m := &record.MemoryWatch{Method: "smaps_rollup", Idle: reading(k.idle), LoadEnd: reading(k.load), Rest: reading(k.load * 0.85), RestFor: 3 * time.Second, PeakBytes: &peak}
	for i := range 4 {
		m.Load = append(m.Load, record.MemoryAt{At: time.Duration(i+1) * time.Second, MemoryReading: *reading(k.load - (k.load-k.idle)*math.Exp(-1.5*float64(i+1)))})
	}
	return m
}
