package findings

import (
	"math/rand/v2"
	"testing"

	"gonogo/runner/record"
)

// TestPosition: 3 % a place in blocks of two, at random orders, is told; none is not.
func TestPosition(t *testing.T) {
	for _, c := range []struct {
		name  string
		slope float64
		want  bool
	}{{"none", 0, false}, {"3 % a place", 0.03, true}, {"0.5 % a place is too little to matter", 0.005, false}} {
		s := pair(20)
		r := rand.New(rand.NewPCG(4, 0))
		for b := 1; b <= 20; b++ {
			at := r.IntN(2)
			for i, name := range []string{"a", "b"} {
				x := of(s, name, b)
				x.Step.Position = (at + i) % 2
				n := uint64(100_000 * (1 + c.slope*float64(x.Step.Position) + 0.004*r.NormFloat64()))
				x.Load.Counts = record.Counts{Planned: n, OK: n, InWindow: n}
			}
		}
		if got := has(Evaluate(s), "position"); got != c.want {
			t.Errorf("%s: told is %v", c.name, got)
		}
	}
}

// TestBimodal: five processes at 100 and five at 130 have no typical one; ten within a
// few percent of 100 have.
func TestBimodal(t *testing.T) {
	for _, c := range []struct {
		name string
		rate [10]uint64
		want bool
	}{
		{"mixture", [10]uint64{1000, 1305, 1010, 1300, 1005, 1310, 1002, 1298, 1008, 1301}, true},
		{"one group", [10]uint64{1000, 1030, 970, 1010, 990, 1050, 960, 1020, 985, 1015}, false},
		{"one alone is an outlier", [10]uint64{1000, 1010, 990, 1005, 1300, 1002, 998, 1008, 996, 1003}, false},
	} {
		s := pair(10)
		for b := 1; b <= 10; b++ {
			n := c.rate[b-1]
			of(s, "a", b).Load.Counts = record.Counts{Planned: n, OK: n, InWindow: n}
		}
		if got := has(Evaluate(s), "bimodal"); got != c.want {
			t.Errorf("%s: told is %v", c.name, got)
		}
	}
}

func has(e Evaluation, code string) bool {
	for _, f := range e.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}
