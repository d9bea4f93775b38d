package record

import (
	"strings"
	"testing"
	"time"
)

func searchPlan() Plan {
	rules := CapacityRules{AchievedMin: 0.99, ErrorsMax: 0.001, DroppedMax: 0.001, Quantile: 0.95, SLO: 20 * time.Millisecond, StartRatio: 0.25, StepFactor: 1.5,
		Bracket: 0.03, Low: Votes{4, 5}, High: Votes{3, 5}, UnfitMax: 4, TrialsMax: 60}
	return Plan{Kind: Capacity, Targets: []Target{{Name: "a"}}, Scenarios: []Scenario{{Name: "capacity", Kind: Capacity}, {Name: "overload", Kind: Open, Overload: &OverloadWork{}}},
		Rules: Rules{Capacity: &rules}, Steps: []Step{{Index: 0, Block: 1, Target: "a", Scenario: "capacity"}, {Index: 1, Block: 1, Position: 1, Target: "a", Scenario: "overload"}}}
}

func trialRun(n int, rate float64) Run {
	return Run{SchemaVersion: SchemaVersion, Step: Step{Block: 1, Target: "a", Scenario: "capacity", Trial: n}, Outcome: Done, OfferedPerSec: rate, Load: &LoadResult{}}
}

func TestTrialsBelongToASearch(t *testing.T) {
	if key := trialRun(7, 1).Step.Key(); key != "a/capacity/b01/t07" {
		t.Errorf("key %s", key)
	}
	over := Run{SchemaVersion: SchemaVersion, Step: Step{Index: 1, Block: 1, Position: 1, Target: "a", Scenario: "overload"}, Outcome: Done, Load: &LoadResult{}}
	for _, c := range []struct {
		name   string
		change func(*Session)
		want   string // in the error; "": none
	}{
		{"trials and an overload", func(*Session) {}, ""},
		{"no rate", func(s *Session) { s.Runs[0].OfferedPerSec = 0 }, "a trial without a rate"},
		{"a search that is no trial", func(s *Session) { s.Runs[0].Step.Trial = 0 }, "trial 0 in a scenario of kind capacity"},
		{"an overload that is one", func(s *Session) { s.Runs[2].Step.Trial = 1 }, "trial 1 in a scenario of kind open"},
		{"of another search", func(s *Session) { s.Runs[0].Step.Block = 2 }, "is not a step of the plan"},
		{"answers without a question", func(s *Session) { s.Runs[2].Overload = &OverloadWatch{Health: []Nanos{1}} }, "1 answers of /healthz to 0 questions"},
		{"an endless search", func(s *Session) { s.Plan.Rules.Capacity.StepFactor = 1 }, "goes on by 1"},
		{"votes that cannot be had", func(s *Session) { s.Plan.Rules.Capacity.Low = Votes{6, 5} }, "6 of 5"},
		{"no SLO", func(s *Session) { s.Plan.Rules.Capacity.SLO = 0 }, "against 0s"},
	} {
		s := &Session{SchemaVersion: SchemaVersion, Plan: searchPlan(), Runs: []Run{trialRun(1, 250), trialRun(2, 375), over}}
		c.change(s)
		err := s.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Each search has to have run; an overload has not, for its rate may be unknown.
func TestACompleteSearch(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Session)
		want   bool
	}{
		"searched":    {func(*Session) {}, true},
		"failed":      {func(s *Session) { s.Runs[0].Outcome = Failed }, true},
		"interrupted": {func(s *Session) { s.Runs[1].Outcome = Interrupted }, false},
		"not run":     {func(s *Session) { s.Runs = nil }, false},
		"cut short":   {func(s *Session) { s.Finished = time.Time{} }, false},
	} {
		s := &Session{Plan: searchPlan(), Finished: time.Unix(1, 0), Runs: []Run{trialRun(1, 250), trialRun(2, 375)}}
		c.change(s)
		if got := s.Complete(); got != c.want {
			t.Errorf("%s: complete is %v", name, got)
		}
	}
}
