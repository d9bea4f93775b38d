package decision

import (
	"math"
	"testing"

	"gonogo/runner/record"
)

// TestCapacityTimes: they are those of the findings, paired by block and with their
// sign. From block to block the machine slows down; in seven of eight blocks the one
// takes 10 µs less than the other, and in the last 70 µs more. The medians of the
// two are both 45 µs, so whoever takes their difference finds nothing.
func TestCapacityTimes(t *testing.T) {
	one := []float64{10, 20, 30, 40, 50, 60, 70, 80}
	two := []float64{20, 30, 40, 50, 60, 70, 80, 10}
	f := changed(func(s *record.Session) {
		times := map[string][]float64{"go-1": one, "node-1": two, "go-2": two, "node-cluster-2": one}
		for i := range s.Runs {
			if r := &s.Runs[i]; r.Step.Scenario == "get-c50" && times[r.Step.Target] != nil {
				n := uint64(1e6 / times[r.Step.Target][r.Step.Block-1])
				r.Load.Counts = record.Counts{Planned: n, OK: n, InWindow: n}
			}
		}
	})
	near := func(us, ns float64) bool { return math.Abs(ns/1e3-us) < 0.01 } // a rate is whole requests
	found := decide(t, f, record.DecisionInputs{}).CapacityTimes
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	for i, want := range []struct {
		target               string
		saved, least, most   float64 // µs
		ofTwo, ofTen, others float64
	}{
		{"go-1", 10, -70, 10, 0.005, 0.001, 45},
		{"go-2", -10, -10, 70, -0.005, -0.001, 45},
	} {
		c := found[i]
		if c.Target != want.target || c.Blocks != 8 || !near(want.saved, c.Saved) || !near(want.least, c.SavedMin) || !near(want.most, c.SavedMax) ||
			!near(want.others, c.TargetTime) || !near(want.others, c.BaseTime) {
			t.Errorf("got %+v, want %+v", c, want)
		}
		if len(c.Shares) != 2 || math.Abs(c.Shares[0]-want.ofTwo) > 1e-5 || math.Abs(c.Shares[1]-want.ofTen) > 1e-5 {
			t.Errorf("%s: shares %v of %v", c.Target, c.Shares, c.OwnWork)
		}
	}
}
