package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// failedChecks gathers the checks that a run which counts did not pass: one
// finding a check, with the first of its observations.
func failedChecks(_ *record.Session, e *Evaluation) []record.Finding {
	var all []record.Finding
	at := map[string]int{}
	runs := 0
	for _, c := range e.Cells {
		for _, p := range c.Processes {
			runs++
			for _, check := range checks(p.run) {
				if check.OK || check.Unknown { // what this system does not tell caps the grade once, and is no event of a run
					continue
				}
				i, seen := at[check.Name]
				if !seen {
					i = len(all)
					at[check.Name] = i
					all = append(all, record.Finding{Code: "check-failed", Severity: record.Warn, Text: check.Name,
						Observed: check.Observed + " in " + p.Step.Key(), Threshold: check.Limit})
				}
				all[i].Steps = append(all[i].Steps, p.Step.Key())
			}
		}
	}
	for i := range all {
		all[i].Text = fmt.Sprintf("check %q not passed by %d of %s", all[i].Text, len(all[i].Steps), count(runs, "run"))
	}
	return all
}
