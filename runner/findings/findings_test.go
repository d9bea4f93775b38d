package findings

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// pair is a plan of two targets, the second the base of the first, and one
// closed scenario.
func pair(blocks int) *record.Session {
	one := func(name, base string) record.Target {
		return record.Target{Name: name, Base: base, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}}
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "x", Finished: time.Unix(1, 0)}
	s.Plan = record.Plan{
		Blocks: blocks, Targets: []record.Target{one("a", "b"), one("b", "")},
		Scenarios: []record.Scenario{{Name: "get", Kind: record.Closed, Connections: 50}},
		Rules: record.Rules{ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, ServerCPUBusyMin: 0.9, ChattyBytesPerReq: 1,
			MinBlocksForMedian: 6, GeneratorCPUMax: 0.8, WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98},
	}
	for b := 1; b <= blocks; b++ {
		for _, target := range []string{"a", "b"} {
			st := record.Step{Index: len(s.Plan.Steps), Block: b, Target: target, Scenario: "get"}
			s.Plan.Steps = append(s.Plan.Steps, st)
			s.Runs = append(s.Runs, *run(st, 1000))
		}
	}
	return s
}

// run answers n requests in 2 s with a server CPU time of 2 s.
func run(st record.Step, n uint64) *record.Run {
	return &record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done,
		ServerCPU: &record.CPUTime{User: 1500 * time.Millisecond, System: 500 * time.Millisecond},
		Load: &record.LoadResult{Window: 2 * time.Second, Counts: record.Counts{Planned: n, OK: n, InWindow: n},
			CPU: record.CPUTime{User: time.Second}, Service: flat(n, 0)}}
}

// flat is n latencies of 1 ms, the last of them replaced by max if that is not 0.
func flat(n uint64, max time.Duration) *record.Histogram {
	if same, ok := flats[n]; ok && max == 0 {
		return same
	}
	h := histogram.New()
	for i := range n {
		if d := max; d > 0 && i == n-1 {
			h.Record(d)
		} else {
			h.Record(time.Millisecond)
		}
	}
	if max == 0 {
		flats[n] = h.Encode()
		return flats[n]
	}
	return h.Encode()
}

// flats keeps what encoding made, for it takes most of the time of these tests.
var flats = map[uint64]*record.Histogram{}

// of returns the run of a target in a block, counted from 1.
func of(s *record.Session, target string, block int) *record.Run {
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Step.Target == target && r.Step.Block == block {
			return r
		}
	}
	panic("no such run")
}

func codes(e Evaluation) []string {
	var all []string
	for _, f := range e.Findings {
		all = append(all, f.Code)
	}
	return all
}

func findingOf(t *testing.T, e Evaluation, code string) record.Finding {
	t.Helper()
	for _, f := range e.Findings {
		if f.Code == code {
			return f
		}
	}
	t.Fatalf("no %s among %v", code, codes(e))
	return record.Finding{}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestMetrics(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		r := of(s, "a", b)
		r.Load.Counts = record.Counts{Planned: 1000 * uint64(b), OK: 900 * uint64(b), Miss: 100 * uint64(b), InWindow: 980 * uint64(b)}
		r.Ready = time.Duration(b) * time.Millisecond
	}
	e := Evaluate(s)
	c, _ := e.Cell("a", "get")
	for _, w := range []struct {
		m    Metric
		want Summary
	}{
		{Rate, Summary{6, 1715, 490, 2940}},                                              // 980 b / 2 s, b = 1..6
		{ServerCPU, Summary{6, (2e9/3000 + 2e9/4000) / 2, 2e9 / 6000, 2e6}},              // 2 s / 1000 b
		{GeneratorCPU, Summary{6, (1e9/2940 + 1e9/3920) / 2, 1e9 / 5880, 1e9 / 980}},     // 1 s / 980 b, those of the window
		{ServerBusy, Summary{6, 1, 1, 1}},                                                // 2 s in 2 s on one CPU
		{GeneratorBusy, Summary{6, 0.5, 0.5, 0.5}}, {Ready, Summary{6, 3.5e6, 1e6, 6e6}}, // 1..6 ms
		{Max, Summary{6, 1e6, 1e6, 1e6}}, {Bad, Summary{6, 0, 0, 0}},
	} {
		got := c.Summary[w.m]
		if got.N != w.want.N || !near(got.Median, w.want.Median) && got.Median != w.want.Median || !near(got.Min, w.want.Min) && got.Min != w.want.Min || !near(got.Max, w.want.Max) && got.Max != w.want.Max {
			t.Errorf("%s: got %+v, want %+v", w.m, got, w.want)
		}
	}
	if xs := c.Values(Rate); !slices.Equal(xs, []float64{490, 980, 1470, 1960, 2450, 2940}) {
		t.Errorf("run order is lost: %v", xs)
	}
}

// TestPercentilesAreNotAveraged: two processes with a p99 of 1 ms and 100 ms
// (S2). The typical process's p99 is the median of the two; the mean of means,
// or a p99 of one of them alone, is not printed as such.
func TestPercentilesAreNotAveraged(t *testing.T) {
	s := pair(3)
	for b, d := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 100 * time.Millisecond} {
		h := histogram.New()
		for range 1000 {
			h.Record(d)
		}
		of(s, "a", b+1).Load.Service = h.Encode()
	}
	e := Evaluate(s)
	c, _ := e.Cell("a", "get")
	p99 := c.Summary[P99]
	if p99.N != 3 || p99.Median < 1.998e6 || p99.Median > 2.002e6 { // the mean is 34.3 ms
		t.Errorf("p99 %+v", p99)
	}
}

// TestPercentilesNeedSamples: ln 0.025 / ln q samples, ten times that for p99.9.
func TestPercentilesNeedSamples(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want []Metric
	}{
		{5, nil}, {6, []Metric{P50}}, {35, []Metric{P50}}, {36, []Metric{P50, P90}}, {71, []Metric{P50, P90}}, {72, []Metric{P50, P90, P95}},
		{367, []Metric{P50, P90, P95}}, {368, []Metric{P50, P90, P95, P99}}, {36_879, []Metric{P50, P90, P95, P99}},
		{36_880, []Metric{P50, P90, P95, P99, P999}},
	} {
		s := pair(1)
		s.Runs[0] = *run(s.Runs[0].Step, c.n)
		cell := Evaluate(s).Cells[0]
		var got []Metric
		for _, q := range quantiles {
			if _, ok := cell.Summary[q.metric]; ok {
				got = append(got, q.metric)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d samples: got %v, want %v", c.n, got, c.want)
		}
	}
}

// TestPercentileOfAllRunsOrNone: a median over the runs that happen to have
// enough samples would be one over the faster runs.
func TestPercentileOfAllRunsOrNone(t *testing.T) {
	s := pair(3)
	s.Runs[0] = *run(s.Runs[0].Step, 100)
	c := Evaluate(s).Cells[0]
	if _, ok := c.Summary[P99]; ok || c.Summary[P95].N != 3 || len(c.Values(P99)) != 2 {
		t.Errorf("p99 %v, p95 %v, %d values", c.Summary[P99], c.Summary[P95], len(c.Values(P99)))
	}
}

func TestResponseTimeIsPreferred(t *testing.T) {
	s := pair(1)
	s.Runs[0].Load.Response = flat(1000, 2*time.Second)
	if got := Evaluate(s).Cells[0].Summary[Max].Median; got != 2e9 {
		t.Errorf("max %v", got)
	}
}

// TestRatiosArePairedByBlock: the machine is twice as slow in blocks 4 to 6, for
// both; a is 3 x b in each block. Unpaired, the ratio of medians is the same
// here, but the range would be 1.5..6.
func TestRatiosArePairedByBlock(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		n := uint64(1000)
		if b > 3 {
			n = 500
		}
		of(s, "a", b).Load.Counts = record.Counts{Planned: 3 * n, OK: 3 * n, InWindow: 3 * n}
		of(s, "b", b).Load.Counts = record.Counts{Planned: n, OK: n, InWindow: n}
	}
	of(s, "b", 6).Outcome, of(s, "b", 6).Reason = record.Failed, "gone" // no partner: not paired
	e := Evaluate(s)
	want := []Ratio{
		{"a", "b", "get", Rate, Summary{5, 3, 3, 3}},
		{"a", "b", "get", ServerCPU, Summary{5, 1. / 3, 1. / 3, 1. / 3}},
	}
	if len(e.Ratios) != 2 {
		t.Fatalf("got %+v", e.Ratios)
	}
	for i, w := range want {
		g := e.Ratios[i]
		if g.Target != w.Target || g.Base != w.Base || g.Metric != w.Metric || g.N != w.N || !near(g.Median, w.Median) || !near(g.Min, w.Min) || !near(g.Max, w.Max) {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

func TestMemory(t *testing.T) {
	s := pair(1)
	s.Plan.Scenarios[0].Kind = record.Memory
	mib := func(n uint64) *uint64 { n <<= 20; return &n }
	for i := range s.Runs {
		s.Runs[i].Load.Service = nil
	}
	s.Runs[0].Memory = &record.MemoryWatch{
		Idle:    &record.MemoryReading{Processes: 1, PSS: mib(10), RSS: 12 << 20},
		LoadEnd: &record.MemoryReading{Processes: 3, RSS: 40 << 20}, // no PSS: absent, not 0
		Load: []record.MemoryAt{
			{MemoryReading: record.MemoryReading{PSS: mib(10)}}, // as load began: not under load
			{At: time.Second, MemoryReading: record.MemoryReading{PSS: mib(20), USS: mib(1)}},
			{At: 2 * time.Second, MemoryReading: record.MemoryReading{PSS: mib(30)}},
			{At: 3 * time.Second, MemoryReading: record.MemoryReading{PSS: mib(90)}},
		},
		PeakBytes: mib(95),
	}
	s.Runs[1].Memory = &record.MemoryWatch{Load: []record.MemoryAt{{MemoryReading: record.MemoryReading{PSS: mib(60)}}}}
	e := Evaluate(s)
	got := e.Cells[0].Processes[0].Values
	for m, want := range map[Metric]float64{IdlePSS: 10, LoadPSS: 30, LoadUSS: 1, LoadEndRSS: 40, Peak: 95, "idle_rss_bytes": 12} {
		if got[m] != want*(1<<20) {
			t.Errorf("%s: got %v, want %v MiB", m, got[m], want)
		}
	}
	for _, m := range []Metric{LoadEndPSS, RestPSS, "idle_uss_bytes", P50, Max} {
		if v, ok := got[m]; ok {
			t.Errorf("%s is unknown, got %v", m, v)
		}
	}
	if got[Trees] != 3 || len(e.Ratios) != 1 || e.Ratios[0].Metric != LoadPSS || e.Ratios[0].Median != 0.5 {
		t.Errorf("processes %v, ratios %+v", got[Trees], e.Ratios)
	}
}

// TestDiscardedRunsEnterNoCell includes a run whose archived outcome is done but
// whose own check says that it means nothing, and one whose histogram is damaged.
func TestDiscardedRunsEnterNoCell(t *testing.T) {
	s := pair(6)
	for b, o := range []record.Outcome{record.Failed, record.Void, record.Interrupted} {
		r := of(s, "a", b+1)
		r.Outcome, r.Reason = o, "because"
	}
	of(s, "a", 4).Load.Checks = []record.Check{{Name: "clock", Void: true, Observed: "3", Limit: "1"}}
	of(s, "a", 5).Load.Service = &record.Histogram{Count: 1000, V2: "HISTdamaged"}
	e := Evaluate(s)
	c, _ := e.Cell("a", "get")
	if len(c.Processes) != 1 || c.Planned != 6 || c.Counts.OK != 1000 || len(e.Discarded) != 5 {
		t.Errorf("%d of %d processes, %d answered, discarded %+v", len(c.Processes), c.Planned, c.Counts.OK, e.Discarded)
	}
	if d := e.Discarded[3]; d.Step != "a/get/b04" || d.Outcome != record.Void || d.Reason != "clock: 3 (limit 1)" {
		t.Errorf("got %+v", d)
	}
	f := findingOf(t, e, "discarded-runs")
	if f.Observed != "1 failed, 3 void, 1 interrupted of 12 runs" || len(f.Steps) != 5 {
		t.Errorf("got %+v", f)
	}
	if !e.Invalid() {
		t.Error("a step without a run that counts is no evidence")
	}
}

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{230, "230"}, {12345.6, "12346"}, {99.94, "99.9"}, {1.5, "1.50"}, {0.0512, "0.0512"}, {0, "0"}, {0.0001234, "0.000123"}} {
		if got := digits(c.v); got != c.want {
			t.Errorf("digits(%v) = %s, want %s", c.v, got, c.want)
		}
	}
}

// TestEvaluateChangesNothing: an evaluation is a pure function of its session.
func TestEvaluateChangesNothing(t *testing.T) {
	s, same := pair(3), pair(3)
	s.Runs[0].Checks, same.Runs[0].Checks = make([]record.Check, 1, 8), make([]record.Check, 1, 8)
	for _, of := range []*record.Session{s, same} {
		of.Runs[0].Load.Checks = []record.Check{{Name: "must not land behind the run's own checks", OK: true}}
	}
	first := Evaluate(s)
	if !reflect.DeepEqual(s, same) || s.Runs[0].Checks[:2][1].Name != "" {
		t.Error("the session was changed")
	}
	if !reflect.DeepEqual(first, Evaluate(s)) {
		t.Error("the second evaluation differs from the first")
	}
}

// TestEmptySessions: nothing to say is no reason to fail.
func TestEmptySessions(t *testing.T) {
	for name, s := range map[string]*record.Session{
		"zero": {}, "no runs": {Plan: pair(2).Plan}, "run of no cell": {Runs: []record.Run{*run(record.Step{Target: "z", Scenario: "z", Block: 1}, 10)}},
		"no window": func() *record.Session { s := pair(1); s.Runs[0].Load = &record.LoadResult{}; return s }(),
	} {
		if e := Evaluate(s); !e.Invalid() && name != "no window" {
			t.Errorf("%s: valid", name)
		}
	}
}
