package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// chatty: a server that writes for each request is measured writing. Logging is
// load, and one target may do it where the other does not.
func chatty(s *record.Session, e *Evaluation) []record.Finding {
	most := s.Plan.Rules.ChattyBytesPerReq
	var all []record.Finding
	for _, c := range e.Cells {
		var steps []string
		worst := 0.0
		for _, p := range c.Processes {
			n := p.run.Load.Counts.Answered()
			if n == 0 {
				continue
			}
			if per := float64(p.run.LogInWindow) / float64(n); per > most {
				steps = append(steps, p.Step.Key())
				worst = max(worst, per)
			}
		}
		if len(steps) > 0 {
			all = append(all, record.Finding{
				Code: "chatty-server", Severity: record.Warn, Steps: steps,
				Observed: digits(worst) + " bytes of log a request", Threshold: limit(most) + " bytes",
				Text: c.Name() + ": the server wrote to its log in the timed window: logging is load",
				Hint: "turn off its access log, or measure both with it",
			})
		}
	}
	return all
}

// logsCut: of a log that is too long the middle is not kept, and what it said there
// nobody can look up. It says nothing against a number.
func logsCut(s *record.Session, _ *Evaluation) []record.Finding {
	var steps []string
	var cut int64
	for i := range s.Runs {
		if r := &s.Runs[i]; r.LogCut > 0 {
			steps = append(steps, r.Step.Key())
			cut += r.LogCut
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "log-cut", Severity: record.Note, Steps: steps,
		Observed: fmt.Sprintf("%d bytes of %s", cut, count(len(steps), "log")),
		Text:     "servers wrote more into their logs than is kept: of each the beginning and the end are there, and a line between them says how much is not",
		Hint:     "turn off its access log",
	}}
}
