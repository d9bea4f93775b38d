package findings

import "gonogo/runner/record"

// quick: a smoke run shows that the kit works.
func quick(s *record.Session, _ *Evaluation) []record.Finding {
	if !s.Plan.Quick {
		return nil
	}
	return []record.Finding{{
		Code: "quick", Severity: record.Warn,
		Observed: count(s.Plan.Blocks, "block"), Threshold: count(s.Plan.Rules.MinBlocksForMedian, "block"),
		Text: "a smoke run shows that servers and kit work, not how the servers compare: its numbers are not evidence",
		Hint: "make compare measures",
	}}
}
