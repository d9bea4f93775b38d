package findings

import (
	"fmt"
	"strings"

	"gonogo/runner/record"
)

// repeated is a run whose group ran again. A group is repeated whole when a check
// voids one of its runs, so that a pair never straddles a disturbance.
func repeated(r *record.Run) Discarded {
	d := Discarded{Step: r.Step.Key(), Attempt: r.Attempt, Outcome: r.Outcome, Reason: r.Reason, LogFile: r.LogFile, Repeated: true}
	if d.Reason == "" {
		d.Reason = "ran again with its group, of which another run was void"
	}
	return d
}

// discardedRuns: runs that failed, were voided by a check or interrupted enter
// no cell. They are counted here and listed, with their reasons, in the report.
func discardedRuns(s *record.Session, e *Evaluation) []record.Finding {
	if len(e.Discarded) == 0 {
		return nil
	}
	var steps, parts []string
	for _, o := range []record.Outcome{record.Done, record.Failed, record.Void, record.Interrupted} {
		n := 0
		for _, d := range e.Discarded {
			if d.Outcome == o {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	for _, d := range e.Discarded {
		steps = append(steps, d.Step)
	}
	return []record.Finding{{
		Code: "discarded-runs", Severity: record.Warn, Steps: steps,
		Observed:  fmt.Sprintf("%s of %s", strings.Join(parts, ", "), count(len(s.Runs), "run")),
		Threshold: "0",
		Text:      "runs were discarded: no number of theirs is used, their records and logs are kept",
		Hint:      "the reasons are listed with the discarded runs",
	}}
}
