package decision

import (
	"sync"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// truth is what a target of a session really costs.
type truth struct {
	micros, mebis, millis, rate float64 // CPU per request, memory under load, p99, rate in a closed loop
}

const blocks = 8

// standard is a machine with CPUs for all: Go takes a third of Node's CPU time
// (the known truth of method P3: 60 and 20 µs) and of its memory, and a cluster
// takes what Node takes, on two cores.
func standard() map[string]truth {
	return map[string]truth{
		"go-1": {20, 32, 2, 40_000}, "node-1": {60, 84, 4, 15_000}, "node-1-twin": {60, 84, 4, 15_000},
		"go-2": {20, 34, 2, 78_000}, "node-cluster-2": {60, 190, 4, 29_000},
	}
}

func targets() []record.Target {
	one := func(name, base string) record.Target {
		return record.Target{Name: name, Base: base, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{2, 3}, Twin: name == "node-1-twin"}
	}
	two := func(name, base string) record.Target {
		return record.Target{Name: name, Base: base, Workers: 2, CPUs: []int{0, 1}, GeneratorCPUs: []int{2, 3}}
	}
	return []record.Target{one("go-1", "node-1"), one("node-1", ""), one("node-1-twin", "node-1"), two("go-2", "node-cluster-2"), two("node-cluster-2", "")}
}

// session is what gonogo would have archived of such servers.
func session(of map[string]truth) *record.Session {
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-a1b2c3", Finished: time.Unix(1_000_000, 0)}
	s.Host = record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "Example CPU 3 GHz", CPUs: []int{0, 1, 2, 3}, GoVersion: "go1.26.0", NodeVersion: "v20.20.2", Grade: "A"}
	s.Plan = record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: "test", Seed: 7, Blocks: blocks, Targets: targets(),
		Scenarios: []record.Scenario{
			{Name: "get-c50", Kind: record.Closed, Connections: 50}, {Name: "get-open", Kind: record.Open, Connections: 200},
			{Name: "memory-c300", Kind: record.Memory, Connections: 300},
		},
		Rules: record.Rules{ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, ServerCPUBusyMin: 0.9, GeneratorCPUMax: 0.8, MinBlocksForMedian: 6,
			WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98, ChattyBytesPerReq: 1, VoidStepsMax: 0.2},
		Decision: &record.DecisionRules{
			Pairs:     []record.DecisionPair{{Target: "go-1", Base: "node-1", Cores: 1}, {Target: "go-2", Base: "node-cluster-2", Cores: 2}},
			SavingMin: 0.1, CPUTarget: 0.6, OwnWork: []time.Duration{0, 100_000, 500_000, 2_000_000, 10_000_000},
		},
	}
	for _, p := range s.Plan.Decision.Pairs {
		s.Plan.Primary = append(s.Plan.Primary,
			record.Primary{Metric: "rate_per_sec", Scenario: "get-c50", Target: p.Target, Base: p.Base, HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
			record.Primary{Metric: "server_cpu_ns_per_request", Scenario: "get-open", Target: p.Target, Base: p.Base, MarginRatio: 0.05},
			record.Primary{Metric: "p99_ns", Scenario: "get-open", Target: p.Target, Base: p.Base, MarginRatio: 0.1, Floor: 500_000},
			record.Primary{Metric: "load_pss_bytes", Scenario: "memory-c300", Target: p.Target, Base: p.Base, MarginRatio: 0.1, Floor: 5 << 20})
	}
	for b := 1; b <= blocks; b++ {
		for _, sc := range s.Plan.Scenarios {
			for i, t := range s.Plan.Targets {
				st := record.Step{Index: len(s.Plan.Steps), Block: b, Position: len(s.Plan.Steps) % 15, Target: t.Name, Scenario: sc.Name}
				s.Plan.Steps = append(s.Plan.Steps, st)
				s.Runs = append(s.Runs, measured(st, sc.Kind, t, of[t.Name], 1+0.004*float64((b*(i+3)+i)*7%11-5)))
			}
		}
	}
	return s
}

// measured is a run of such a target; jitter is what this process differs by.
func measured(st record.Step, k record.Kind, t record.Target, of truth, jitter float64) record.Run {
	const n, window = 1000, time.Second
	r := record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, PlanSHA256: "0123456789abcdef0123456789abcdef",
		Started: time.Unix(int64(st.Index), 0).UTC(), Settings: &record.Settings{Runtime: "node", Version: "v20.20.2"}}
	if st.Target == "go-1" || st.Target == "go-2" {
		r.Settings = &record.Settings{Runtime: "go", Version: "go1.26.0"}
	}
	r.Load = &record.LoadResult{Kind: k, Window: window, Counts: record.Counts{Planned: n, OK: n, InWindow: n}, CPU: record.CPUTime{User: 100 * time.Millisecond}}
	cpu := time.Duration(of.micros * 1e3 * n * jitter)
	switch k {
	case record.Closed: // the server uses its CPUs up; latency decides nothing here and is left out
		got := uint64(of.rate * jitter)
		r.Load.Counts = record.Counts{Planned: got, OK: got, InWindow: got}
		cpu = time.Duration(0.98 * float64(len(t.CPUs)) * float64(window))
	case record.Open:
		r.OfferedPerSec = 7500
		r.Load.Counts = record.Counts{Planned: 7500, OK: 7500, InWindow: 7500}
		cpu = cpu * 15 / 2
		r.Load.Response = latencies(of.millis * jitter)
	case record.Memory:
		pss := uint64(of.mebis * (1 << 20) * jitter)
		r.Memory = &record.MemoryWatch{Load: []record.MemoryAt{{MemoryReading: record.MemoryReading{Processes: 1, PSS: &pss, RSS: pss}}}}
	}
	r.ServerCPU = &record.CPUTime{User: cpu}
	return r
}

// latencies are 980 of 1 ms, and 20 of p99.
func latencies(p99 float64) *record.Histogram {
	if h, ok := made[p99]; ok {
		return h
	}
	h := histogram.New()
	for i := range 1000 {
		if i < 980 {
			h.Record(time.Millisecond)
		} else {
			h.Record(time.Duration(p99 * float64(time.Millisecond)))
		}
	}
	made[p99] = h.Encode()
	return made[p99]
}

// made keeps histograms, for to encode them takes most of the time of these tests.
var made = map[float64]*record.Histogram{}

// noisy makes a metric of Go swing by a factor from block to block around Node's,
// so that no number of the session says which of the two is better.
func noisy(s *record.Session, scenario string, change func(r *record.Run, factor float64)) {
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Step.Scenario == scenario && (r.Step.Target == "go-1" || r.Step.Target == "go-2") {
			change(r, []float64{0.5, 2}[r.Step.Block%2]*(1+0.01*float64(r.Step.Block)))
		}
	}
}

// fixture is a session with its evaluation, which is made once.
type fixture struct {
	make func() *record.Session
	once sync.Once
	s    *record.Session
	e    findings.Evaluation
}

func (f *fixture) get() (*record.Session, findings.Evaluation) {
	f.once.Do(func() { f.s = f.make(); f.e = findings.Evaluate(f.s) })
	return f.s, f.e
}

func cpuTimes(r *record.Run, factor float64) {
	r.ServerCPU.User = time.Duration(float64(r.ServerCPU.User) * factor)
}
