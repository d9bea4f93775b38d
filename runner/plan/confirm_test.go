package plan

import (
	"reflect"
	"testing"
	"time"

	"gonogo/runner/record"
)

func TestConfirmation(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	// 4 targets without the twin x get-c50, get-c300, get-open, in 2 blocks
	const cells = 4 * 3
	if len(p.Confirm) != 2*cells {
		t.Fatalf("%d steps, want %d", len(p.Confirm), 2*cells)
	}
	seen := map[string]bool{}
	for i, st := range p.Confirm {
		target, _ := p.Target(st.Target)
		sc, _ := p.Scenario(st.Scenario)
		want := record.Step{Index: len(p.Steps) + i, Block: p.Blocks + 1 + i/cells, Position: i % cells, Target: st.Target, Scenario: st.Scenario}
		if st != want || target.Twin || !sc.Has(st.Target) || sc.Kind == record.Memory || sc.Requests[0].Method != "GET" || seen[st.Key()] {
			t.Errorf("step %d is %+v, want %+v", i, st, want)
		}
		seen[st.Key()] = true
	}
	again, _ := New(Options{CPUs: twoCPUs, Seed: 7})
	other, _ := New(Options{CPUs: twoCPUs, Seed: 8})
	if !reflect.DeepEqual(p.Confirm, again.Confirm) || reflect.DeepEqual(p.Confirm, other.Confirm) {
		t.Error("the seed alone does not decide the order")
	}
}

// TestConfirmationFitsAMinute, and no longer window lets it take more.
func TestConfirmationFitsAMinute(t *testing.T) {
	p, _ := New(Options{CPUs: twoCPUs, Seed: 7})
	for _, budget := range []time.Duration{DefaultBudget, 4 * time.Hour} {
		p, _ := New(Options{CPUs: twoCPUs, Seed: 7, Budget: budget})
		sc, _ := p.Scenario(getFew)
		n := time.Duration(p.Rules.ConfirmStepsMax)
		if n < 2 || n*StepTime(sc) > time.Minute || (n+1)*StepTime(sc) <= time.Minute || ConfirmTime(p) != time.Minute {
			t.Errorf("%d steps of %v in %v", n, StepTime(sc), ConfirmTime(p))
		}
	}
	without := *p
	without.Confirm = nil
	if p.Expected != stepsTime(p.Scenarios, p.Targets, p.Blocks)+prelude(p.Targets) || confirmSteps(&without) != 0 {
		t.Error("what is mostly not needed is counted as needed")
	}
	quick, _ := New(Options{CPUs: twoCPUs, Seed: 7, Quick: true})
	if len(quick.Confirm) != 0 || quick.Rules.ConfirmStepsMax != 0 || ConfirmTime(quick) != 0 {
		t.Errorf("a smoke run confirms: %d steps, at most %d", len(quick.Confirm), quick.Rules.ConfirmStepsMax)
	}
}
