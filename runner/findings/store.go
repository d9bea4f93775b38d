package findings

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// outsideStore: what a store costs that the targets ask is in none of their accounts, and
// where it shares their CPUs, rate and latency are of both together.
func outsideStore(s *record.Session, _ *Evaluation) []record.Finding {
	store := s.Plan.Store
	if store == nil {
		return nil
	}
	where := "wherever the system put it"
	if len(store.CPUs) > 0 {
		where = fmt.Sprintf("on CPUs %v", store.CPUs)
	}
	var beside []string
	for _, t := range s.Plan.Targets {
		shared := len(store.CPUs) == 0 || slices.ContainsFunc(store.CPUs, func(c int) bool { return len(t.CPUs) == 0 || slices.Contains(t.CPUs, c) })
		if shared {
			beside = append(beside, t.Name)
		}
	}
	f := record.Finding{
		Code: "outside-store", Severity: record.Note,
		Observed: fmt.Sprintf("%s %s, %d connections of each target; %s", store.Version, where, store.Connections, strings.Join(store.Settings, " ")),
		Text:     "the users are in a store outside of the servers: its CPU time and memory are in no server's account",
	}
	if len(beside) > 0 {
		f.Severity = record.Warn
		f.Text += "; it shares CPUs with " + strings.Join(beside, ", ") + ", so that their rates and latencies are of server and store together"
		f.Hint = "four cores or more keep them apart; CPU per request and memory are the server's own on any machine"
	}
	return []record.Finding{f}
}
