package report

import (
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// judged is a session with each of the five words, an A/A twin, a pair that shares
// its CPUs, a group that ran again, and a machine of grade B. Per block and in
// round numbers, of target and base:
//
//	rate, get-c50       30 000 and 20 000/s, + and - 1 %       BETTER
//	rate, get-c300      likewise, node-1 busy half the time    INVALID
//	CPU, get-open       50.5 and 50 µs a request               EQUIVALENT
//	p99, get-open       15.2 to 23.8 and 19 ms                 INCONCLUSIVE
//	memory, memory-c300 20 and 90 MiB                          BETTER
//	CPU of go-2         65 and 50 µs a request                 WORSE
func judged() *record.Session {
	s := newSession(8, []record.Target{}) // the machine
	s.Host.Grade = "B"
	s.Host.Checks = []record.Check{{Name: "steal", Unknown: true, Observed: "unknown", Limit: "0.5 %"}}
	one, many := []int{0}, []int{0, 1}
	s.Plan.Targets = []record.Target{
		{Name: "go-1", Base: "node-1", Workers: 1, CPUs: one, GeneratorCPUs: []int{1}},
		{Name: "node-1", Workers: 1, CPUs: one, GeneratorCPUs: []int{1}},
		{Name: "node-1-twin", Base: "node-1", Twin: true, Workers: 1, CPUs: one, GeneratorCPUs: []int{1}},
		{Name: "go-2", Base: "node-cluster-2", Workers: 2, CPUs: many, GeneratorCPUs: many},
		{Name: "node-cluster-2", Workers: 2, CPUs: many, GeneratorCPUs: many},
	}
	scenarios := s.Plan.Scenarios
	few, memory := scenarios[0], scenarios[1]
	few.Targets = []string{"go-1", "node-1", "node-1-twin"}
	hundreds, open := few, few
	hundreds.Name, hundreds.Connections = "get-c300", 300
	open.Name, open.Kind, open.Connections, open.RateOfCapacity, open.Arrivals, open.Targets = "get-open", record.Open, 200, 0.5, "poisson", nil
	memory.RateOfCapacity, memory.Arrivals = 0.5, "poisson"
	s.Plan.Scenarios = []record.Scenario{few, hundreds, open, memory}
	s.Plan.RequestTimeout = 5 * time.Second
	s.Plan.Primary = primaries()
	s.Runs = nil
	for b := 1; b <= 8; b++ {
		for _, sc := range s.Plan.Scenarios {
			first := len(s.Runs)
			for _, t := range s.Plan.Targets {
				if !sc.Has(t.Name) {
					continue
				}
				st := record.Step{Index: len(s.Plan.Steps), Block: b, Position: len(s.Plan.Steps) % 16, Target: t.Name, Scenario: sc.Name}
				s.Plan.Steps = append(s.Plan.Steps, st)
				s.Runs = append(s.Runs, *judgedRun(sc, st))
			}
			if b == 3 && sc.Name == "get-c50" {
				s.Runs = append(s.Runs, again(s.Runs[first:], 1)...)
			}
		}
	}
	s.Contract = nil
	return s
}

func primaries() []record.Primary {
	all := []record.Primary{
		{Metric: "rate_per_sec", Scenario: "get-c50", HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
		{Metric: "rate_per_sec", Scenario: "get-c300", HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
		{Metric: "server_cpu_ns_per_request", Scenario: "get-open", MarginRatio: 0.05},
		{Metric: "p99_ns", Scenario: "get-open", MarginRatio: 0.10, Floor: float64(500 * time.Microsecond)},
		{Metric: "load_pss_bytes", Scenario: "memory-c300", MarginRatio: 0.10, Floor: 5 << 20},
		{Metric: "server_cpu_ns_per_request", Scenario: "get-open", MarginRatio: 0.05, Target: "go-2", Base: "node-cluster-2"},
	}
	for i := range all {
		if all[i].Target == "" {
			all[i].Target, all[i].Base = "go-1", "node-1"
		}
	}
	return all
}

// again repeats a group. Its run i is what was void.
func again(group []record.Run, i int) []record.Run {
	var runs []record.Run
	for _, r := range group {
		r.Attempt = 1
		runs = append(runs, r)
	}
	group[i].Outcome, group[i].Reason = record.Void, "CPU used by others: 12 % (most by backup, PID 4711: 240ms) (limit 2 %, fails above 5 % of one CPU)"
	return runs
}

// wobble is what a block adds to a target, in per cent: 0 in the middle, and
// nothing that two targets have in common.
func wobble(target string, block int) float64 {
	at := map[string]int{"go-1": 0, "node-1": 3, "node-1-twin": 5, "go-2": 1, "node-cluster-2": 6}[target]
	return []float64{-1, 0.5, 1, -0.5, 0.25, -0.25, 0.75, -0.75}[(block+at)%8] / 100
}

func judgedRun(sc record.Scenario, st record.Step) *record.Run {
	rate, cpu, shift := 20_000.0, 50*time.Microsecond, 1+wobble(st.Target, st.Block)
	latency := 10 * time.Millisecond
	switch {
	case sc.RateOfCapacity > 0:
		rate = 10_000
	case st.Target == "go-1":
		rate, cpu = 30_000, 33*time.Microsecond
	}
	switch {
	case sc.Name == "get-c300" && st.Target == "node-1":
		cpu /= 2
	case sc.Name == "get-open" && st.Target == "go-1":
		cpu = 50_500 * time.Nanosecond
		latency = latency * time.Duration([]int64{125, 85, 110, 95, 120, 90, 100, 80}[st.Block-1]) / 100
	case sc.Name == "get-open" && st.Target == "go-2":
		cpu = 65 * time.Microsecond
	}
	if sc.RateOfCapacity == 0 {
		rate *= shift
	}
	n := uint64(rate * sc.Window.Seconds())
	h := histogram.New()
	for i := range n { // ten values: p50 is 1.4 and p99 1.9 times the least
		h.Record(latency + latency/10*time.Duration(i%10))
	}
	r := &record.Run{
		SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: epoch.Add(time.Duration(st.Index) * 5 * time.Second), Took: 5 * time.Second,
		Ready: 40 * time.Millisecond, PlanSHA256: "5eed", LogFile: fmt.Sprintf("logs/%04d.log", st.Index+1),
		Load: &record.LoadResult{Engine: "epoll", Kind: record.Closed, Connections: sc.Connections, Window: sc.Window,
			Counts: record.Counts{Planned: n, OK: n, InWindow: n}, CPU: record.CPUTime{User: time.Duration(n) * 15 * time.Microsecond}},
		ServerCPU: &record.CPUTime{User: time.Duration(float64(cpu) * float64(n) * (1 + wobble(st.Target, st.Block+2)))},
	}
	if sc.RateOfCapacity > 0 {
		r.Load.Kind, r.OfferedPerSec = record.Open, rate
	}
	switch sc.Kind {
	case record.Memory:
		r.Memory = newMemory(st)
	case record.Open:
		r.Load.Response = h.Encode()
	default:
		r.Load.Service = h.Encode()
	}
	return r
}

// failedGate is a session on a machine that failed a gate: it has numbers and no
// verdict but INVALID.
func failedGate() *record.Session {
	s := newSession(6, twoTargets())
	s.Host.Grade = "D"
	s.Host.Checks = []record.Check{{Name: "CPU used by others", Void: true, Observed: "31 %", Limit: "2 %, fails above 5 % of one CPU"}}
	s.Plan.Primary = []record.Primary{
		{Metric: "rate_per_sec", Scenario: "get-c50", Target: "go-1", Base: "node-1", HigherIsBetter: true, MarginRatio: 0.05},
		{Metric: "load_pss_bytes", Scenario: "memory-c300", Target: "go-1", Base: "node-1", MarginRatio: 0.10, Floor: 5 << 20},
	}
	return s
}

// timedOut has 2 % of go-1's requests at the timeout of 5 s in each run, and in
// one run of node-1's three.
func timedOut() *record.Session {
	s := newSession(3, twoTargets())
	s.Plan.RequestTimeout = 5 * time.Second
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Memory != nil || !isGo(r.Step.Target) && r.Step.Block > 1 {
			continue
		}
		h, n := histogram.New(), r.Load.Counts.Planned
		for j := range n {
			if j%50 == 0 {
				h.Record(5 * time.Second)
			} else {
				h.Record(time.Millisecond)
			}
		}
		r.Load.Service = h.Encode()
		r.Load.Counts = record.Counts{Planned: n, OK: n - n/50, TimedOut: n / 50, InWindow: n - n/50}
		r.Load.Errors = map[string]record.ErrorKind{record.ErrTimeout: {Count: n / 50, Example: "no reply in 5s"}}
	}
	return s
}
