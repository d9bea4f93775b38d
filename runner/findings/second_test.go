package findings

import (
	"testing"

	"gonogo/runner/record"
)

// TestSecondOpinion: ratios of 1.5 and 0.75 in turn have logarithms of mean 0.06 and
// standard error 0.12, which is no difference; 1.2 in each block is one.
func TestSecondOpinion(t *testing.T) {
	for _, c := range []struct {
		name      string
		blocks    int
		odd, even uint64
		word      string
		want      bool
	}{
		{"agrees", 10, 1200, 1210, "BETTER", false},
		{"disagrees", 10, 1500, 750, "BETTER", true},
		{"disagrees", 10, 1500, 750, "WORSE", true},
		{"no claim to doubt", 10, 1500, 750, "INCONCLUSIVE", false},
		{"too few blocks to ask", 9, 1500, 750, "BETTER", false},
	} {
		s := pair(c.blocks)
		for b := 1; b <= c.blocks; b++ {
			n := c.even
			if b%2 == 1 {
				n = c.odd
			}
			of(s, "a", b).Load.Counts = record.Counts{Planned: n, OK: n, InWindow: n}
			of(s, "b", b).Load.Counts = record.Counts{Planned: 1000, OK: 1000, InWindow: 1000}
		}
		s.Plan.Blocks = c.blocks
		e := Evaluate(s)
		e.Verdicts = []record.Verdict{{Word: c.word, Primary: record.Primary{Metric: string(Rate), Scenario: "get", Target: "a", Base: "b"}}}
		if got := len(secondOpinion(s, &e)) > 0; got != c.want {
			t.Errorf("%s, %s: told is %v", c.name, c.word, got)
		}
	}
}
