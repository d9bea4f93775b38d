package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// fewBlocks: below six values not even the whole range min..max holds the true
// median with 95 % confidence: 1 - 2/2^n is 93.75 % at 5 and 96.9 % at 6.
func fewBlocks(s *record.Session, e *Evaluation) []record.Finding {
	least := s.Plan.Rules.MinBlocksForMedian
	if s.Plan.Quick { // said already, and louder
		return nil
	}
	var names []string
	fewest := least
	for _, c := range e.Cells {
		if n := len(c.Processes); n > 0 && n < least {
			names = append(names, c.Name())
			fewest = min(fewest, n)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "few-blocks", Severity: record.Warn,
		Observed: fmt.Sprintf("%s in %s", count(fewest, "run"), some(names)), Threshold: count(least, "run"),
		Text: fmt.Sprintf("too few runs for a 95 %% interval of a median in %d of %s: a median of so few may move with the next run",
			len(names), count(len(e.Cells), "cell")),
		Hint: "a larger --budget gives more blocks",
	}}
}
