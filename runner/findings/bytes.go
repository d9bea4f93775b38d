package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// replyBytes: each runtime keeps its default headers, so one sends more bytes for
// the same answer. It is part of what it costs, and it is said.
func replyBytes(s *record.Session, _ *Evaluation) []record.Finding {
	size := map[string]int{}
	for _, p := range s.Contract {
		size[p.Target] = p.ReplyBytesGET
	}
	var all []record.Finding
	for _, t := range s.Plan.Targets {
		ours, base := size[t.Name], size[t.Base]
		if t.Base == "" || ours == 0 || base == 0 || ours == base {
			continue
		}
		all = append(all, record.Finding{
			Code: "reply-bytes", Severity: record.Note,
			Observed: fmt.Sprintf("%s %d, %s %d bytes", t.Name, ours, t.Base, base), Threshold: "equal",
			Text: fmt.Sprintf("a whole GET reply is %d bytes from %s and %d from %s: the bodies are equal, the default headers are not", ours, t.Name, base, t.Base),
		})
	}
	return all
}
