package session

import (
	"testing"

	"gonogo/runner/record"
)

// All that is held against each other, directly or through another, gets the same rate:
// by hand, half of the smallest of 4000, 2000 and 1000. A plan with bases in a ring ends.
func TestRateIsOfAllThatIsCompared(t *testing.T) {
	p := &record.Plan{Targets: []record.Target{{Name: "go-1", Base: "node-1"}, {Name: "node-1"}, {Name: "go-1+typed", Base: "go-1"},
		{Name: "go-2", Base: "node-cluster-2"}, {Name: "node-cluster-2"}, {Name: "a", Base: "b"}, {Name: "b", Base: "a"}}}
	capacity := map[string]float64{"go-1": 4000, "node-1": 2000, "go-1+typed": 1000, "go-2": 9000, "node-cluster-2": 600}
	for name, want := range map[string]float64{"go-1": 500, "node-1": 500, "go-1+typed": 500, "go-2": 300, "node-cluster-2": 300, "a": 0} {
		x, _ := p.Target(name)
		if got := rate(p, x, capacity, 0.5); got != want {
			t.Errorf("%s gets %g/s, want %g", name, got, want)
		}
	}
}
