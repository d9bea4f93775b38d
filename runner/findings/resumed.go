package findings

import (
	"fmt"
	"strings"
	"time"

	"gonogo/runner/record"
)

// resumed: a session that was interrupted and went on is of two sittings, or more.
// What was measured in different ones is compared within blocks alone, of which none
// is of two: a group that was cut ran again whole. The gap is told all the same, for
// the reader may know what happened to the machine in it.
func resumed(s *record.Session, _ *Evaluation) []record.Finding {
	var all []record.Finding
	for i, gap := range s.Interruptions() {
		f := record.Finding{
			Code: "resumed", Severity: record.Note,
			Observed:  fmt.Sprintf("interrupted %s, at %s, resumed %v later", gap.Where(), gap.Last.UTC().Format("2006-01-02 15:04:05 UTC"), gap.Gap.Round(time.Second)),
			Threshold: "one sitting",
			Text:      "the session was interrupted and resumed, by its own plan and with the same programs",
		}
		if gap.Resumed.Before(gap.Last) {
			f.Observed += ", by a clock that was set back meanwhile"
		}
		if n := len(gap.Repeated); n > 0 {
			f.Steps = gap.Repeated
			f.Observed += fmt.Sprintf("; %s of the group that was cut ran again", count(n, "run"))
		}
		failed, grave := failedGates(s.Resumes[i].Checks)
		if len(failed) > 0 {
			f.Observed += "; the machine then: " + strings.Join(failed, "; ")
		}
		if grave {
			f.Severity = record.Warn
		}
		all = append(all, f)
	}
	return all
}

// failedGates are the checks that did not hold, and whether one of them would have
// voided a run taken under it.
func failedGates(checks []record.Check) (failed []string, grave bool) {
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, c.Name+": "+c.Observed+", limit "+c.Limit)
			grave = grave || c.Void
		}
	}
	return failed, grave
}
