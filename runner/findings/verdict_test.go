package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// arms of a synthetic session: the values of one metric by block. 0 stands for a
// run that was void.
type arms struct{ target, base, twin []float64 }

// session of one primary test a scenario, each with a target, a base and the
// base's twin.
func synthetic(q record.Primary, cells map[string]arms) (*record.Session, *Evaluation) {
	s := &record.Session{Finished: time.Unix(1, 0), Plan: record.Plan{
		Rules:   record.Rules{VoidStepsMax: 1},
		Targets: []record.Target{{Name: "go-1", Base: "node-1"}, {Name: "node-1"}, {Name: "twin", Base: "node-1", Twin: true}},
	}}
	e := &Evaluation{}
	var scenarios []string
	for name := range cells {
		scenarios = append(scenarios, name)
	}
	slices.Sort(scenarios)
	for _, name := range scenarios {
		a := cells[name]
		q := q
		q.Scenario, q.Target, q.Base = name, "go-1", "node-1"
		s.Plan.Primary = append(s.Plan.Primary, q)
		s.Plan.Blocks = len(a.target)
		for b := range a.target {
			st := record.Step{Block: b + 1, Target: "go-1", Scenario: name}
			s.Plan.Steps, s.Runs = append(s.Plan.Steps, st), append(s.Runs, record.Run{Step: st, Outcome: record.Done})
		}
		for arm, values := range map[string][]float64{"go-1": a.target, "node-1": a.base, "twin": a.twin} {
			c := Cell{Target: arm, Scenario: name, Kind: record.Closed, Bound: serverBound}
			for b, v := range values {
				if v != 0 {
					c.Processes = append(c.Processes, Process{Step: record.Step{Block: b + 1}, Values: map[Metric]float64{Metric(q.Metric): v}})
				}
			}
			e.Cells = append(e.Cells, c)
		}
	}
	return s, e
}

var rateQuestion = record.Primary{Metric: "rate_per_sec", HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true}

// Ten blocks whose noise is +-1 % by hand: 100 and 101 in turn, and the twin the
// other way round.
func noisy(level float64) (xs []float64) {
	for b := range 10 {
		xs = append(xs, level*(1+0.01*float64(b%2)))
	}
	return xs
}

func shifted(level float64) (xs []float64) {
	for b := range 10 {
		xs = append(xs, level*(1+0.01*float64((b/2)%2)))
	}
	return xs
}

func TestVerdictWords(t *testing.T) {
	wild := []float64{60, 150, 80, 130, 70, 140, 90, 120, 65, 155}
	for _, c := range []struct {
		name   string
		metric record.Primary
		arms   arms
		want   string
	}{
		{"+20 % rate", rateQuestion, arms{noisy(120), shifted(100), noisy(100)}, "BETTER"},
		{"-20 % rate", rateQuestion, arms{noisy(80), shifted(100), noisy(100)}, "WORSE"},
		{"the same", rateQuestion, arms{noisy(100), shifted(100), noisy(100)}, "EQUIVALENT"},
		{"+2 %, real but inside the margin", rateQuestion, arms{noisy(102), shifted(100), noisy(100)}, "EQUIVALENT"},
		{"noise of 40 %", rateQuestion, arms{wild, shifted(100), noisy(100)}, "INCONCLUSIVE"},
		{"-20 % CPU time", record.Primary{Metric: "server_cpu_ns_per_request", MarginRatio: 0.05}, arms{noisy(80), shifted(100), noisy(100)}, "BETTER"},
		{"below the floor", record.Primary{Metric: "p99_ns", MarginRatio: 0.1, Floor: 50}, arms{noisy(120), shifted(100), noisy(100)}, "EQUIVALENT"},
		{"twins differ", rateQuestion, arms{noisy(120), shifted(100), noisy(110)}, "INVALID"},
	} {
		s, e := synthetic(c.metric, map[string]arms{"x": c.arms})
		v := judge(s, e)
		if len(v) != 1 || v[0].Word != c.want {
			t.Errorf("%s: got %+v, want %s", c.name, v, c.want)
			continue
		}
		if v[0].NoiseFloor == nil || v[0].Why == "" || v[0].Blocks != 10 || v[0].Lo == nil {
			t.Errorf("%s: lacks noise floor, reason, blocks or interval: %+v", c.name, v[0])
		}
		if (v[0].BlocksNeeded != nil) && c.want != "INCONCLUSIVE" {
			t.Errorf("%s: asks for more blocks", c.name)
		}
	}
}

func TestVerdictNeedsAServerBoundRow(t *testing.T) {
	s, e := synthetic(rateQuestion, map[string]arms{"x": {noisy(120), shifted(100), noisy(100)}})
	for i := range e.Cells {
		if e.Cells[i].Target == "node-1" {
			e.Cells[i].Bound = generatorBound
		}
	}
	v := judge(s, e)
	if v[0].Word != "INVALID" || !strings.Contains(v[0].Why, "node-1 was generator-bound") {
		t.Errorf("got %s: %s", v[0].Word, v[0].Why)
	}
}

func TestNoVerdictWords(t *testing.T) {
	for name, edit := range map[string]func(*record.Session){
		"quick":      func(s *record.Session) { s.Plan.Quick = true },
		"incomplete": func(s *record.Session) { s.Runs[0].Outcome = record.Failed },
		"cut short":  func(s *record.Session) { s.Finished = time.Time{} },
	} {
		s, e := synthetic(rateQuestion, map[string]arms{"x": {noisy(120), shifted(100), noisy(100)}})
		edit(s)
		if v := judge(s, e); len(v) != 0 {
			t.Errorf("%s: got %+v", name, v)
		}
	}
	s, e := synthetic(rateQuestion, map[string]arms{"x": {noisy(120), shifted(100), noisy(100)}})
	s.Host.Grade = "D"
	if v := judge(s, e); v[0].Word != "INVALID" {
		t.Errorf("grade D: got %s", v[0].Word)
	}
}

// A pair that one test lost costs the others none of theirs; a test that lost most
// of its pairs is void.
func TestBrokenBlocks(t *testing.T) {
	hole := func(xs []float64, blocks ...int) []float64 {
		xs = slices.Clone(xs)
		for _, b := range blocks {
			xs[b] = 0
		}
		return xs
	}
	s, e := synthetic(rateQuestion, map[string]arms{
		"x": {hole(noisy(120), 3), shifted(100), noisy(100)},
		"y": {noisy(120), hole(shifted(100), 7), noisy(100)},
		"z": {hole(noisy(120), 0, 1, 2, 3, 4, 5), shifted(100), noisy(100)},
	})
	v := judge(s, e)
	if v[0].Blocks != 9 || v[1].Blocks != 9 {
		t.Errorf("%d and %d pairs, want 9 each", v[0].Blocks, v[1].Blocks)
	}
	if v[2].Word != "INVALID" || !strings.Contains(v[2].Why, "all but 4 of 10 pairs") {
		t.Errorf("a test with 4 of 10 blocks: %+v", v[2])
	}
	// By hand: each has nine agreeing signs of ten blocks, eight of them shared, so of
	// the 2^9 flips 2 leave the first alone, 2 the second, and 1 both: 3/2^9.
	if *v[0].Adjusted > 3.0/512+1e-9 {
		t.Errorf("p adjusted over the family is %g", *v[0].Adjusted)
	}
	if v[0].Word != "BETTER" {
		t.Errorf("+20 %% over 9 blocks: %s: %s", v[0].Word, v[0].Why)
	}
}

// A twin that differs voids the session, and one with too few blocks to do so says
// that it cannot.
func TestTwinFindings(t *testing.T) {
	seven := func(xs []float64) []float64 { return xs[:7] }
	for _, c := range []struct {
		name string
		arms arms
		want string // code; "" for none
	}{
		{"quiet", arms{noisy(120), shifted(100), noisy(100)}, ""},
		{"10 % apart in all ten blocks", arms{noisy(120), shifted(100), noisy(110)}, "twin-differs"},
		{"seven blocks: 2/2^7 > 0.01", arms{seven(noisy(120)), seven(shifted(100)), seven(noisy(110))}, "twin-blind"},
	} {
		s, e := synthetic(rateQuestion, map[string]arms{"x": c.arms})
		e.Verdicts = judge(s, e)
		var got string
		for _, f := range twinDiffers(s, e) {
			got = f.Code
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Three blocks of +0, +5 and +10 %: the logarithms 0, 0.0488 and 0.0953 have the
// sample deviation 0.0477.
func TestPilot(t *testing.T) {
	s := pair(3)
	s.Plan.Blocks = 8
	s.Plan.Primary = []record.Primary{{Metric: string(Rate), Scenario: "get", Target: "a", Base: "b", HigherIsBetter: true, MarginRatio: 0.05}}
	for b := 4; b <= 8; b++ {
		s.Plan.Steps = append(s.Plan.Steps, record.Step{Block: b, Target: "a", Scenario: "get"})
	}
	if block, ok := PilotBlock(&s.Plan); !ok || block != 3 {
		t.Errorf("the pilot ends with block %d, %v; want 3", block, ok)
	}
	for b, right := range []uint64{1000, 1050, 1100} {
		of(s, "a", b+1).Load.Counts = record.Counts{Planned: right, OK: right, InWindow: right}
		of(s, "b", b+1).Load.Counts = record.Counts{Planned: 1000, OK: 1000, InWindow: 1000}
	}
	ratio, ok := stats.MinimumDetectable(0.0477, 8, 1)
	if !ok {
		t.Fatal("eight blocks find nothing")
	}
	margin, ok := stats.SmallestMargin(0.0477, 8)
	if !ok {
		t.Fatal("eight blocks confirm nothing")
	}
	want := fmt.Sprintf("rate_per_sec of a and b in get: %.0f %%; equality within %.0f %%", 100*(ratio-1), math.Ceil(100*margin))
	if got := Pilot(s); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Runs = s.Runs[:2]
	if got := Pilot(s); len(got) != 0 {
		t.Errorf("one block tells %q", got)
	}
}

// The pilot ends when the slowest primary test has its three pairs, and there is none
// where nothing is left to warn of.
func TestPilotBlock(t *testing.T) {
	p := record.Plan{Blocks: 8, Primary: []record.Primary{{Target: "a", Scenario: "every"}, {Target: "a", Scenario: "second"}}}
	for b := 1; b <= 8; b++ {
		p.Steps = append(p.Steps, record.Step{Block: b, Target: "a", Scenario: "every"})
		if b%2 == 0 {
			p.Steps = append(p.Steps, record.Step{Block: b, Target: "a", Scenario: "second"})
		}
	}
	if block, ok := PilotBlock(&p); !ok || block != 6 {
		t.Errorf("block %d, %v; want 6, the third of every second", block, ok)
	}
	p.Blocks = 6
	if _, ok := PilotBlock(&p); ok {
		t.Error("a pilot that is the whole session")
	}
	p.Primary = nil
	if _, ok := PilotBlock(&p); ok {
		t.Error("a pilot without a question")
	}
}
