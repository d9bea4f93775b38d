package session

import (
	"math"
	"strconv"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// A server that holds 96 KiB for each connection, beside another that holds nothing
// more: the difference of their slopes is 96 KiB, whatever a connection costs the
// runtime that both share. Real processes, the real session, the real findings.
func TestWhatAConnectionCosts(t *testing.T) {
	levels := []float64{1, 20, 60, 100}
	p := planOf(nil, target("plain"), target("holds", "-connection", "96"))
	rules := record.ScaleRules{LevelsMin: 6, SpanMin: 16, ResidualMax: 0.05, BeyondMax: 2, BendMax: 0.10, LinePoints: 4, Resamples: 20}
	p.Kind, p.Rules.Scale, p.Scale, p.Steps, p.Blocks = record.Scaling, &rules, &record.Scale{Factor: "connections", Levels: levels}, nil, 1
	for _, l := range levels {
		p.Scenarios = append(p.Scenarios, record.Scenario{Name: "memory-c" + strconv.Itoa(int(l)), Kind: record.Memory, Requests: getUser, Connections: int(l), RatePerSec: 1000, Arrivals: "constant", Window: 250 * time.Millisecond})
	}
	load := closedLoop(100 * time.Millisecond)
	load.Targets = []string{"none"} // memory alone is asked here
	p.Scenarios = append(p.Scenarios, load)
	for _, x := range p.Targets {
		for _, l := range levels {
			p.Scale.Points = append(p.Scale.Points, record.ScalePoint{Arm: x.Name, Level: l, Target: x.Name, Load: load.Name, Memory: "memory-c" + strconv.Itoa(int(l))})
		}
	}
	p.Steps = plan.Order(p)
	o := execute(t, t.Context(), p, nil)
	if o.err != nil {
		t.Fatal(o.err)
	}
	s := record.Session{SchemaVersion: record.SchemaVersion, Plan: *p}
	pids := map[int]bool{}
	for _, r := range o.runs {
		if r.Outcome != record.Done || len(r.PIDs) != 1 || pids[r.PIDs[0]] {
			t.Fatalf("%s: %s %s, processes %v; want it done by a fresh one", r.Step.Key(), r.Outcome, r.Reason, r.PIDs)
		}
		if r.Load.Response != nil || r.Load.Service != nil || r.ServerCPU != nil {
			t.Errorf("%s: a memory run publishes latency or CPU", r.Step.Key())
		}
		pids[r.PIDs[0]] = true
		s.Runs = append(s.Runs, *r)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	each := map[string]*findings.EachCosts{}
	for _, a := range findings.Evaluate(&s).Scale.Arms {
		each[a.Arm] = a.Each
		t.Logf("%s: %+v", a.Arm, a.Each)
	}
	if each["plain"] == nil || each["holds"] == nil || !each["holds"].Straight {
		t.Fatalf("%+v, want lines", each)
	}
	// What is held is never free, so nothing is collected between: 97.6 KiB were seen.
	if kib := (each["holds"].Bytes.Value - each["plain"].Bytes.Value) / 1024; math.Abs(kib/96-1) > 0.10 {
		t.Errorf("a connection costs %.1f KiB more, want 96", kib)
	}
}

// One connection: the generator's own time is a part of each cycle. In a sweep that is
// said and voids nothing; in a comparison it would.
func TestOneConnectionVoidsNothing(t *testing.T) {
	sc := closedLoop(60 * time.Millisecond)
	sc.Connections = 1
	for _, kind := range []record.Kind{record.Scaling, ""} {
		p := planOf([]record.Scenario{sc}, target("stub"))
		p.Kind = kind
		s := step{Config: Config{Plan: p}, target: p.Targets[0], scenario: sc, run: &record.Run{Step: p.Steps[0]}}
		if spec := s.spec("127.0.0.1:1"); spec.LaxDuty != (kind == record.Scaling) {
			t.Errorf("kind %q: lax %v", kind, spec.LaxDuty)
		}
	}
}

// All levels of a sweep are offered the rate that the weakest target of all can take.
func TestLevelsDoEqualWork(t *testing.T) {
	p := planOf(nil, target("go-1"), target("go-2"), target("node-1"))
	capacity := map[string]float64{"go-1": 20_000, "go-2": 40_000, "node-1": 10_000}
	for kind, want := range map[record.Kind]float64{record.Scaling: 1000, "": 4000} {
		p.Kind = kind
		if got := rate(p, p.Targets[1], capacity, 0.1); got != want {
			t.Errorf("kind %q: %g/s, want %g", kind, got, want)
		}
	}
}
