package plan

import (
	"reflect"
	"testing"

	"gonogo/runner/record"
)

// The rule of a decision is in the plan, and compares servers on as many cores.
func TestDecisionRules(t *testing.T) {
	p, err := New(Options{CPUs: CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 4}})
	if err != nil {
		t.Fatal(err)
	}
	want := []record.DecisionPair{{Target: "go-1", Base: "node-1", Cores: 1}, {Target: "go-4", Base: "node-cluster-4", Cores: 4}}
	if p.Decision == nil || !reflect.DeepEqual(p.Decision.Pairs, want) {
		t.Errorf("got %+v, want pairs %v", p.Decision, want)
	}
	p, err = New(Options{Targets: []string{"node-1"}})
	if err != nil || p.Decision != nil {
		t.Errorf("one server alone has a rule: %+v, %v", p.Decision, err)
	}
}
