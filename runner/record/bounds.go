package record

import "fmt"

// What somebody wrote into an archive must not let a reader count for ever: rules
// compare every value of a series with every other, and rank tests take longer by the
// third power of the number of pairs. Each limit is far beyond what a session has.
const (
	mostBlocks = 500 // plans end at 60
	mostRuns   = 20_000
	mostCycles = 1_000
	mostSlices = 5_000 // of one run, warm-up and window: plans have tens
)

func (s *Session) bounded() error {
	if s.Plan.Blocks < 0 || s.Plan.Blocks > mostBlocks {
		return fmt.Errorf("a plan of %d blocks, want at most %d", s.Plan.Blocks, mostBlocks)
	}
	if n := len(s.Runs); n > mostRuns {
		return fmt.Errorf("%d runs, want at most %d", n, mostRuns)
	}
	for _, sc := range s.Plan.Scenarios {
		if sc.Work != nil && sc.Work.Cycles > mostCycles {
			return fmt.Errorf("scenario %s of %d cycles, want at most %d", sc.Name, sc.Work.Cycles, mostCycles)
		}
	}
	inCell := map[[2]string]int{}
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Load != nil && len(r.Load.Timeline) > mostSlices {
			return fmt.Errorf("run %s holds %d slices of time, want at most %d", r.Step.Key(), len(r.Load.Timeline), mostSlices)
		}
		cell := [2]string{r.Step.Target, r.Step.Scenario}
		if inCell[cell]++; inCell[cell] > 2*mostBlocks { // attempts and trials as well
			return fmt.Errorf("more than %d runs of %s in %s", 2*mostBlocks, cell[0], cell[1])
		}
	}
	return nil
}
