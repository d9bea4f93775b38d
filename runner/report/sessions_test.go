package report

import (
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// The sessions under testdata/sessions are written from this file by -update.
// Every number in them is chosen, so that each line of a report can be checked
// by hand.

var epoch = time.Date(2026, 11, 30, 19, 41, 0, 0, time.UTC)

// cases are the archived sessions, one for each thing a report must get right.
var cases = map[string]func() *record.Session{
	"standard":          func() *record.Session { return newSession(6, fourTargets()) },
	"one-repeat":        func() *record.Session { return newSession(1, twoTargets()) },
	"all-equal":         allEqual,
	"crash-in-repeat-2": crash,
	"lone-max":          func() *record.Session { return withMax(2) },
	"common-max":        func() *record.Session { return withMax(1, 2, 3) },
	"quick":             quick,
	"incomplete":        incomplete,
	"empty":             empty,
	"every-doubt":       everyDoubt,
	"five-words":        judged,
	"grade-d":           failedGate,
	"timed-out":         timedOut,
}

func twoTargets() []record.Target {
	return []record.Target{
		{Name: "go-1", Base: "node-1", Argv: []string{"bin/server-go"}, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}},
		{Name: "node-1", Argv: []string{"node", "server-node/server.mjs"}, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}},
	}
}

func fourTargets() []record.Target {
	both := []int{0, 1}
	return append(twoTargets(),
		record.Target{Name: "go-2", Base: "node-cluster-2", Argv: []string{"bin/server-go"}, Workers: 2, CPUs: both, GeneratorCPUs: both},
		record.Target{Name: "node-cluster-2", Argv: []string{"node", "server-node/cluster.mjs"}, Workers: 2, CPUs: both, GeneratorCPUs: both})
}

func newPlan(blocks int, targets []record.Target) record.Plan {
	get := []record.Request{{Method: "GET", Path: "/users/{id}", WantStatus: 200}}
	p := record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: "test", Seed: 7, Blocks: blocks, Targets: targets,
		Scenarios: []record.Scenario{
			{Name: "get-c50", Kind: record.Closed, Requests: get, Connections: 50, Warmup: 1500 * time.Millisecond, Window: 2 * time.Second},
			{Name: "memory-c300", Kind: record.Memory, Requests: get, Connections: 300, Window: 4 * time.Second, Idle: 2 * time.Second, Rest: 3 * time.Second},
		},
		Rules: record.Rules{ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, DutyRatioMin: 0.95, DutyRatioMax: 1.005, ServerCPUBusyMin: 0.9,
			ChattyBytesPerReq: 1, MinBlocksForMedian: 6, GeneratorCPUMax: 0.8, WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98},
	}
	for b := 1; b <= blocks; b++ {
		for _, sc := range p.Scenarios {
			for _, t := range targets {
				n := len(p.Steps)
				p.Steps = append(p.Steps, record.Step{Index: n, Block: b, Position: n % (len(targets) * len(p.Scenarios)), Target: t.Name, Scenario: sc.Name})
			}
		}
	}
	return p
}

func newSession(blocks int, targets []record.Target) *record.Session {
	load := 1.25
	s := &record.Session{
		SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-a1b2c3", Started: epoch, Finished: epoch.Add(11*time.Minute + 40*time.Second),
		Plan: newPlan(blocks, targets),
		Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "Example CPU @ 2.00GHz", CPUs: []int{0, 1}, PhysicalCores: 2,
			MemoryBytes: 4 << 30, Hypervisor: "kvm", GoVersion: "go1.26.0", NodeVersion: "v20.20.2", LoadAverage1: &load},
	}
	for _, t := range targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 60, ReplyBytesGET: map[bool]int{true: 186, false: 233}[isGo(t.Name)]})
	}
	for _, st := range s.Plan.Steps {
		s.Runs = append(s.Runs, *newRun(&s.Plan, st))
	}
	return s
}

func isGo(target string) bool { return target[:2] == "go" }

// newRun serves 40 000 requests in 2 s, and 2 % fewer in each later block; Node
// half as many. CPU per request is 50 µs for Go on one core, 100 µs for Node.
func newRun(p *record.Plan, st record.Step) *record.Run {
	sc, _ := p.Scenario(st.Scenario)
	n := uint64(40_000 - 800*(st.Block-1))
	if !isGo(st.Target) {
		n /= 2
	}
	r := &record.Run{
		SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: epoch.Add(time.Duration(st.Index) * 5 * time.Second),
		Took: 5 * time.Second, Ready: 40 * time.Millisecond, LogFile: fmt.Sprintf("logs/%04d-%s.%s.b%02d.log", st.Index+1, st.Target, st.Scenario, st.Block),
		Load: &record.LoadResult{Engine: "net", Kind: record.Closed, Connections: sc.Connections, Window: sc.Window,
			Counts: record.Counts{Planned: n, OK: n, InWindow: n}, CPU: record.CPUTime{User: 500 * time.Millisecond, System: 700 * time.Millisecond}},
		ServerCPU: &record.CPUTime{User: 1200 * time.Millisecond, System: 800 * time.Millisecond},
	}
	if sc.Kind == record.Memory {
		r.Memory = newMemory(st)
		return r
	}
	r.Load.Service = latencies(n, 0)
	return r
}

// latencies are n values spread evenly over 1.000..1.999 ms in whole
// microseconds, and one more of max if that is not 0. So p50 is 1.499 ms and
// p99 1.989 ms.
func latencies(n uint64, max time.Duration) *record.Histogram {
	h := histogram.New()
	for i := range n {
		h.Record(time.Millisecond + time.Duration(i%1000)*time.Microsecond)
	}
	if max > 0 {
		h.Record(max)
	}
	return h.Encode()
}

// newMemory: Go 12 MiB idle and 20 MiB under load, Node 50 and 90, and 1 MiB more
// in each later block; a second process adds its USS.
func newMemory(st record.Step) *record.MemoryWatch {
	idle, load, processes := uint64(12), uint64(20), 1
	if !isGo(st.Target) {
		idle, load = 50, 90
	}
	if st.Target == "node-cluster-2" {
		idle, load, processes = 130, 230, 3
	}
	reading := func(mib uint64) *record.MemoryReading {
		mib += uint64(st.Block - 1)
		pss, uss := mib<<20, (mib-4)<<20
		return &record.MemoryReading{Processes: processes, PSS: &pss, USS: &uss, RSS: (mib + 8) << 20}
	}
	peak := (load + 10) << 20
	m := &record.MemoryWatch{Method: "smaps_rollup", Idle: reading(idle), LoadEnd: reading(load + 1), Rest: reading(load - 2), RestFor: 3 * time.Second, PeakBytes: &peak}
	for i := range uint64(4) { // the median of load-1, load, load, load+1
		m.Load = append(m.Load, record.MemoryAt{At: time.Duration(i+1) * time.Second, MemoryReading: *reading(load + (i+1)/2 - 1)})
	}
	return m
}

func allEqual() *record.Session {
	s := newSession(6, twoTargets())
	first := map[string]*record.Run{}
	for i := range s.Runs {
		r := &s.Runs[i]
		same := first[r.Step.Scenario]
		if same == nil {
			first[r.Step.Scenario] = r
			continue
		}
		step, log := r.Step, r.LogFile
		*r = *same
		r.Step, r.LogFile = step, log
	}
	return s
}

func crash() *record.Session {
	s := newSession(3, twoTargets())
	r := find(s, "node-1", "get-c50", 2)
	*r = record.Run{SchemaVersion: record.SchemaVersion, Step: r.Step, Outcome: record.Failed, Started: r.Started, Took: 1500 * time.Millisecond,
		Reason: "watch target node-1: it ended by itself after 1.5s: exit status 3", ExitStatus: "exit status 3", LogTail: "panic", LogFile: r.LogFile}
	return s
}

func find(s *record.Session, target, scenario string, block int) *record.Run {
	for i := range s.Runs {
		if st := s.Runs[i].Step; st.Target == target && st.Scenario == scenario && st.Block == block {
			return &s.Runs[i]
		}
	}
	panic("no such run: " + target + "/" + scenario)
}

// withMax gives one request of 230 ms among 100 000 to these blocks of go-1.
func withMax(blocks ...int) *record.Session {
	s := newSession(3, twoTargets())
	for b := 1; b <= 3; b++ {
		find(s, "go-1", "get-c50", b).Load.Service = latencies(100_000, 0)
	}
	for _, b := range blocks {
		find(s, "go-1", "get-c50", b).Load.Service = latencies(99_999, 230*time.Millisecond)
	}
	return s
}

func quick() *record.Session {
	s := newSession(1, fourTargets())
	s.Plan.Quick = true
	return s
}

func incomplete() *record.Session {
	s := newSession(6, twoTargets())
	s.Finished = time.Time{}
	s.Runs = s.Runs[:9]
	last := &s.Runs[8]
	*last = record.Run{SchemaVersion: record.SchemaVersion, Step: last.Step, Outcome: record.Interrupted, Reason: "interrupted by a signal", Started: last.Started}
	return s
}

func empty() *record.Session {
	s := newSession(6, twoTargets())
	s.Runs, s.Finished, s.Contract = nil, time.Time{}, nil
	return s
}

// everyDoubt has what no other case has: errors, failed checks, a voided run, a
// chatty server, workers out of balance, a generator at its limit, a cell
// without any run that counts, hostile names.
func everyDoubt() *record.Session {
	s := newSession(2, fourTargets())
	s.Host.Grade = "C"
	s.Host.Checks = []record.Check{{Name: "CPU governor", Observed: "powersave", Limit: "performance"}}
	r := find(s, "go-1", "get-c50", 1)
	r.Load.Counts.OK -= 30
	r.Load.Counts.Failed, r.Load.Counts.TimedOut = 20, 10
	r.Load.Counts.InWindow -= 30
	r.Load.Errors = map[string]record.ErrorKind{record.ErrStatus: {Count: 20, Example: "HTTP 500: <b>|`x`"}, record.ErrTimeout: {Count: 10}}
	r.LogInWindow = 400_000

	r = find(s, "go-1", "get-c50", 2)
	r.Load.Checks = []record.Check{{Name: "Little's law", Observed: "0.91", Limit: "0.95..1.005"}}

	for b := 1; b <= 2; b++ {
		r = find(s, "node-1", "get-c50", b)
		r.ServerCPU = &record.CPUTime{User: 1200 * time.Millisecond}
		r.Load.CPU = record.CPUTime{User: 1900 * time.Millisecond}
		r = find(s, "node-cluster-2", "get-c50", b)
		r.PerWorker = []uint64{16_000, 4_000}
		r = find(s, "go-2", "get-c50", b)
		r.Outcome, r.Reason = record.Void, "memory read\nin the window \x1b[31m"
	}
	r = find(s, "node-1", "memory-c300", 2)
	r.Checks = []record.Check{{Name: "CPUs read back", Void: true, Observed: "0,1", Limit: "0"}}
	return s
}
