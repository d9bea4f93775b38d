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
	var differ []string
	for _, t := range s.Plan.Targets {
		ours, base := size[t.Name], size[t.Base]
		if t.Base != "" && ours != 0 && base != 0 && ours != base {
			differ = append(differ, fmt.Sprintf("%s %d and %s %d bytes", t.Name, ours, t.Base, base))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "reply-bytes", Severity: record.Note, Observed: some(differ), Threshold: "equal",
		Text: "a whole reply to GET differs in size: the bodies are equal, the runtimes' default headers are not",
	}}
}
