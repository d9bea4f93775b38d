package findings

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"gonogo/runner/record"
)

// TestSummariesIgnoreTheOrderOfRuns: the order in which blocks ran decides no
// summary, no ratio and no mark; and a median lies in its range.
func TestSummariesIgnoreTheOrderOfRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := pair(rapid.IntRange(1, 8).Draw(t, "blocks"))
		for i := range s.Runs {
			n := rapid.Uint64Range(1, 400).Draw(t, "requests")
			s.Runs[i] = *run(s.Runs[i].Step, n)
			if i > 1 { // decoding takes nearly all of the time
				s.Runs[i].Load.Service = nil
			}
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				s.Runs[i].Outcome, s.Runs[i].Reason = record.Failed, "drawn"
			}
		}
		e := Evaluate(s)
		shuffled := *s
		shuffled.Runs = append([]record.Run(nil), s.Runs...)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(s.Runs), func(i, j int) {
			shuffled.Runs[i], shuffled.Runs[j] = shuffled.Runs[j], shuffled.Runs[i]
		})
		again := Evaluate(&shuffled)
		for i, c := range e.Cells {
			if !reflect.DeepEqual(c.Summary, again.Cells[i].Summary) || c.Counts != again.Cells[i].Counts {
				t.Fatalf("%s: %+v, shuffled %+v", c.Name(), c.Summary, again.Cells[i].Summary)
			}
			if len(c.Processes) > c.Planned {
				t.Fatalf("%s: %d of %d runs", c.Name(), len(c.Processes), c.Planned)
			}
			for m, sum := range c.Summary {
				if sum.N < 1 || sum.N > len(c.Processes) || sum.Median < sum.Min || sum.Median > sum.Max {
					t.Fatalf("%s %s: %+v", c.Name(), m, sum)
				}
			}
		}
		if !reflect.DeepEqual(e.Ratios, again.Ratios) || !reflect.DeepEqual(codes(e), codes(again)) {
			t.Fatalf("%+v %v, shuffled %+v %v", e.Ratios, codes(e), again.Ratios, codes(again))
		}
	})
}
