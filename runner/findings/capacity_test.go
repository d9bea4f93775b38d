package findings_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

func target(t *testing.T, e findings.Evaluation, name string) findings.TargetCapacity {
	t.Helper()
	for _, x := range e.Capacity.Targets {
		if x.Target == name {
			return x
		}
	}
	t.Fatalf("no capacity of %s", name)
	return findings.TargetCapacity{}
}

// The searches are gone through again from the runs. Both servers are M/M/1, whose p95
// is 20 ms at 1/S - 2.9957/20 ms: 1850.2/s at S = 0.5 ms, 850.2/s at S = 1 ms.
func TestCapacityOfASession(t *testing.T) {
	s := example.Capacity()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	for name, truth := range map[string]float64{"go-1": 1850.2, "node-1": 850.2} {
		x := target(t, e, name)
		if x.Rate == nil || math.Abs(x.Rate.Value/truth-1) > 0.05 || x.Rate.Lo > truth || x.Rate.Hi < truth*0.97 || x.Rate.Reached {
			t.Errorf("%s: %+v, want about %.1f/s from one search, without a 95 %% interval", name, x.Rate, truth)
		}
		if !slices.Contains(x.Bound, string(capacity.SLO)) || len(x.Overloads) != 1 {
			t.Errorf("%s: bound by %v, %d overloads; want the SLO and 1", name, x.Bound, len(x.Overloads))
		}
		for _, o := range x.Overloads {
			// The bracket's middle is below 1/S, so 120 % of it is above: 1/S are served.
			if served := 1 / example.Service[name].Seconds(); math.Abs(o.Goodput/served-1) > 0.03 || o.Recovery == nil || *o.Recovery != 1400*time.Millisecond || o.HealthMax != 5e6 {
				t.Errorf("%s: %+v, want a goodput of %.0f/s, 1.4 s to recover, /healthz up to 5 ms", name, o, served)
			}
		}
	}
	if n := len(e.Capacity.Ratios); n != 1 || math.Abs(e.Capacity.Ratios[0].Median/(1850.2/850.2)-1) > 0.05 {
		t.Errorf("ratios %+v, want one of 2.18", e.Capacity.Ratios)
	}
	if e.Invalid() || !s.Complete() || len(e.Verdicts) > 0 || len(e.Ratios) > 0 {
		t.Errorf("invalid %v, complete %v, %d verdicts, %d ratios of cells", e.Invalid(), s.Complete(), len(e.Verdicts), len(e.Ratios))
	}
}

// oneTarget is the half of the example that takes less time to read.
func oneTarget() *record.Session {
	s := example.Capacity()
	s.Plan.Targets = slices.DeleteFunc(s.Plan.Targets, func(t record.Target) bool { return t.Name != "node-1" })
	s.Plan.Steps = slices.DeleteFunc(s.Plan.Steps, func(st record.Step) bool { return st.Target != "node-1" })
	s.Runs = slices.DeleteFunc(s.Runs, func(r record.Run) bool { return r.Step.Target != "node-1" || r.Step.Trial == 0 })
	return s
}

func find(all []record.Finding, code string) *record.Finding {
	for i := range all {
		if all[i].Code == code {
			return &all[i]
		}
	}
	return nil
}

// A run that was taken away, added or altered is no longer what the search asked for.
func TestASearchThatCannotBeFollowed(t *testing.T) {
	for name, alter := range map[string]func(*record.Session){
		"taken away": func(s *record.Session) { s.Runs = slices.Delete(s.Runs, 3, 4) },
		"cut short":  func(s *record.Session) { s.Runs = s.Runs[:9] },
		"renumbered": func(s *record.Session) {
			last := &s.Runs[0]
			for i := range s.Runs {
				if s.Runs[i].Step.Trial > last.Step.Trial {
					last = &s.Runs[i]
				}
			}
			last.Step.Trial++
		},
		"at another rate": func(s *record.Session) { s.Runs[2].OfferedPerSec *= 1.1 },
		"added": func(s *record.Session) {
			r := s.Runs[0]
			for _, o := range s.Runs {
				if o.Step.Search() == r.Step.Search() {
					r.Step.Trial = max(r.Step.Trial, o.Step.Trial)
				}
			}
			r.Step.Trial++
			s.Runs = append(s.Runs, r)
		},
		"passed, and it did not": func(s *record.Session) { s.Runs[0].Load.Counts.InWindow /= 2 },
	} {
		s := oneTarget()
		alter(s)
		e := findings.Evaluate(s)
		if f := find(e.Findings, "capacity-open"); f == nil || f.Severity != record.Voids {
			t.Errorf("%s: no finding voids the session", name)
		}
	}
}

// Where the generator is the limit there is no number, but a lower bound.
func TestTheLimitIsTheGenerator(t *testing.T) {
	s := oneTarget()
	first := s.Runs[0].Step.Search()
	var kept []record.Run
	n := 0
	for _, r := range s.Runs {
		if r.Step.Search() != first {
			kept = append(kept, r)
		} else if n < 2 { // two rates pass, and from there on the generator falls behind
			n++
			kept = append(kept, r)
		}
	}
	last := kept[slices.IndexFunc(kept, func(r record.Run) bool { return r.Step.Search() == first })+1]
	for range s.Plan.Rules.Capacity.UnfitMax {
		r, l := last, *last.Load
		n++
		r.Step.Trial, r.Load = n, &l
		r.OfferedPerSec = math.Round(last.OfferedPerSec * 1.5)
		l.Checks = []record.Check{{Name: "CPU of the generator", Void: true, Observed: "99 % of 1", Limit: "80 %"}}
		r.Outcome, r.Reason = record.Void, "CPU of the generator"
		kept = append(kept, r)
	}
	// A second search finds a bracket. What one of two found is no sample of both.
	second := record.Step{Index: len(s.Plan.Steps), Block: 2, Target: first.Target, Scenario: first.Scenario}
	for _, r := range s.Runs {
		if r.Step.Search() == first {
			n := r.Step.Trial
			r.Step = second
			r.Step.Trial = n
			kept = append(kept, r)
		}
	}
	s.Plan.Blocks, s.Plan.Steps = 2, append(s.Plan.Steps, second)
	s.Runs = kept
	e := findings.Evaluate(s)
	if found := e.Capacity.Middles(first.Target); len(found) != 1 {
		t.Errorf("brackets %v, want that of the second search", found)
	}
	f := find(e.Findings, "capacity-generator")
	if f == nil || !strings.Contains(f.Text, first.Target) || !strings.Contains(f.Text, "or more") {
		t.Fatalf("finding %+v, want one that says the generator is the limit of %s", f, first.Target)
	}
	x := target(t, e, first.Target)
	if x.Rate != nil || x.Searches[first.Block-1].Lo != last.OfferedPerSec {
		t.Errorf("%+v, want no number and %g/s as the lower bound", x, last.OfferedPerSec)
	}
	if e.Invalid() {
		t.Error("the session is void, though a generator that is the limit is an answer")
	}
}
