package findings

import (
	"strings"

	"gonogo/runner/record"
)

// machine gathers the gates that the machine did not pass before the first run. A
// gate that would void a run taken under it warns; the others are notes.
func machine(s *record.Session, _ *Evaluation) []record.Finding {
	f := record.Finding{
		Code: "machine", Severity: record.Note,
		Text: "the machine is not as a measurement needs it: tails may be its own, not the servers'",
		Hint: "gonogo doctor says what each check means",
	}
	var failed []string
	for _, c := range s.Host.Checks {
		if c.OK {
			continue
		}
		failed = append(failed, c.Name+": "+c.Observed+", limit "+c.Limit)
		if c.Void {
			f.Severity = record.Warn
		}
	}
	if len(failed) == 0 {
		return nil
	}
	f.Observed, f.Threshold = strings.Join(failed, "; "), "each check passed"
	return []record.Finding{f}
}

// machineChanged: runs before and after a change of the machine's settings are
// not of one machine (method E7).
func machineChanged(s *record.Session, _ *Evaluation) []record.Finding {
	if len(s.Changes) == 0 {
		return nil
	}
	var changed []string
	for _, c := range s.Changes {
		changed = append(changed, c.Name+" from "+c.Limit+" to "+c.Observed)
	}
	return []record.Finding{{
		Code: "machine-changed", Severity: record.Voids, Observed: strings.Join(changed, "; "), Threshold: "no change",
		Text: "settings of the machine changed during the session: its runs are not comparable",
		Hint: "run compare again and leave the settings alone",
	}}
}
