package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// incomplete: a session that was cut short, or has a step without a run that is
// done, draws no conclusion. The runs that are missing are rarely missing by
// chance: a server that dies under load is the one without numbers.
func incomplete(s *record.Session, e *Evaluation) []record.Finding {
	if s.Complete() {
		return nil
	}
	done := 0
	for _, c := range e.Cells {
		done += len(c.Processes)
	}
	f := record.Finding{
		Code: "incomplete", Severity: record.Voids,
		Observed: fmt.Sprintf("%d of %s done", done, count(len(s.Plan.Steps), "step")), Threshold: "all of them, and a finish",
		Text: "the session is incomplete: no conclusion can be drawn from it",
		Hint: "the numbers of the finished runs stand; run compare again for a comparison",
	}
	if s.Finished.IsZero() {
		f.Text = "the session was cut short: no conclusion can be drawn from it"
	}
	return []record.Finding{f}
}
