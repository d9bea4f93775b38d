package findings

import (
	"fmt"
	"strings"

	"gonogo/runner/record"
)

// knownDifferences: nothing is timed of a target that breaks the contract unknowingly;
// what is known of one is said.
func knownDifferences(s *record.Session, _ *Evaluation) []record.Finding {
	var all []string
	for _, t := range s.Plan.Targets {
		if len(t.Known) > 0 && !t.Twin {
			all = append(all, fmt.Sprintf("%s: %s", t.Name, strings.Join(t.Known, ", ")))
		}
		if t.Chunked {
			all = append(all, t.Name+": users in chunks")
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "known-differences", Severity: record.Note, Observed: strings.Join(all, "; "), Threshold: "none, of the requests that are timed",
		Text: "some targets are known to answer cases of the contract in their own way; no such request is timed, but for the framing of what comes in chunks",
	}}
}

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
