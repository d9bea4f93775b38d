package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

func profilePlan(t *testing.T, targets ...string) *record.Plan {
	t.Helper()
	p, err := NewProfile(ProfileOptions{CPUs: CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}, Targets: targets, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Each profiler has a run of its own, and each target one without any: five and five.
func TestProfilesHaveRunsOfTheirOwn(t *testing.T) {
	p := profilePlan(t, "go-1", "node-1")
	runs := map[string][]string{}
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		if sc.Kind != record.Closed || sc.Connections != 50 {
			t.Errorf("%s: %s over %d connections", st.Key(), sc.Kind, sc.Connections)
		}
		runs[st.Target] = append(runs[st.Target], sc.Profile)
	}
	for target, want := range map[string][]string{
		"go-1":   {"", record.ProfileCPU, record.ProfileMemory, record.ProfileTrace, record.ProfileWaits},
		"node-1": {"", record.ProfileCPU, record.ProfileHeap, record.ProfileMemory, record.ProfileWaits},
	} {
		slices.Sort(runs[target])
		if !slices.Equal(runs[target], want) {
			t.Errorf("%s has runs %q, want %q", target, runs[target], want)
		}
	}
	if file, from := Needs(p.Targets[0]); p.Targets[0].Argv[0] != profiledGo || file != profiledGo || from == "" {
		t.Errorf("go-1 is %q: the plain build holds no profiler", p.Targets[0].Argv)
	}
	if p.Kind != record.Profiling || p.Expected > 3*time.Minute {
		t.Errorf("a plan of kind %s of %v", p.Kind, p.Expected)
	}
}

func TestWhatHasNoProfilesIsRefused(t *testing.T) {
	if _, err := NewProfile(ProfileOptions{Targets: []string{"bun-1"}}); err == nil || !strings.Contains(err.Error(), "bun") {
		t.Errorf("bun: %v", err)
	}
	if p := profilePlan(t, "go-1", "go-1+mutex"); len(p.Steps) != 10 || p.Targets[1].Variant != "mutex" {
		t.Errorf("a variant: %d steps of %+v", len(p.Steps), p.Targets)
	}
}
