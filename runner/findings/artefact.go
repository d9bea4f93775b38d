package findings

import (
	"fmt"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// artefactMax lists the maxima that are not believed, under two codes. An
// artefact-max is rejected: it was caused outside the server, or one run alone has
// it while that run's p99.9 is as usual. An undetermined-max is not: several runs
// have it, too few to call it the server's. The rules are the same for every
// target; what is rejected stays in the record and in the range that is printed.
//
// Of one or two runs nothing can be told, unless the cause was seen.
func artefactMax(s *record.Session, e *Evaluation) []record.Finding {
	var all []record.Finding
	for i := range e.Cells {
		c := &e.Cells[i]
		m := c.Maximum
		if m == nil || m.Standing == Reproduced || m.Standing == Undetermined && m.Of < 3 {
			continue
		}
		code := "undetermined-max"
		if m.Rejected() {
			code = "artefact-max"
		}
		all = append(all, record.Finding{
			Code: code, Severity: record.Note, Steps: m.steps,
			Observed:  fmt.Sprintf("max %s, the cell's median max is %s", millis(m.Value), millis(c.Summary[Max].Median)),
			Threshold: fmt.Sprintf("a request of more than max/%s in %d of %s", limit(s.Plan.Rules.ArtefactMaxFactor), m.Needed, count(m.Of, "run")),
			Text:      c.Name() + ": " + m.Text,
		})
	}
	return all
}

// Rejected reports whether the maximum is to be shown as no property of the server.
func (m *Maximum) Rejected() bool {
	return m.Standing == Artefact || m.Standing == Undetermined && m.lonely && m.Of >= 3
}

// usualTail reports whether a run's p99.9 is within the factor of the median of its
// cell's: where it is not, more than one request was slow, and the run is not
// explained away.
func (c *Cell) usualTail(p *Process, factor float64) bool {
	var tails []float64
	for _, other := range c.Processes {
		if _, ok := other.Values[Max]; ok {
			tails = append(tails, other.tail)
		}
	}
	typical, ok := stats.Median(tails)
	return ok && p.tail <= factor*typical
}
