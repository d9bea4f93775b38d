package findings

import (
	"fmt"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// artefactMax marks a maximum that did not recur: above the plan's factor times
// the median of its cell's maxima, while the run's p99.9 is not likewise above
// the median of its cell's. One request decides a maximum, and one hiccup of the
// machine is enough for it. The rule is the same for every target; the maximum
// stays in the record and in the range that is printed.
//
// The median is of all runs of the cell, the suspect among them: a maximum that
// half of the runs or more have is never marked, and of one or two runs nothing
// can be told.
func artefactMax(s *record.Session, e *Evaluation) []record.Finding {
	factor := s.Plan.Rules.ArtefactMaxFactor
	if factor <= 0 {
		return nil
	}
	var all []record.Finding
	for i := range e.Cells {
		c := &e.Cells[i]
		steps, largest := c.lone(factor)
		if len(steps) == 0 {
			continue
		}
		typical := c.Summary[Max].Median
		all = append(all, record.Finding{
			Code: "artefact-max", Severity: record.Note, Steps: steps,
			Observed:  fmt.Sprintf("max %s, the cell's median max is %s", millis(largest), millis(typical)),
			Threshold: fmt.Sprintf("%s x the median max, with p99.9 within %s x its own median", limit(factor), limit(factor)),
			Text: fmt.Sprintf("%s: a maximum of %s was seen in %d of %s, p99.9 unaffected: an artefact until it recurs, do not conclude from it",
				c.Name(), millis(largest), len(steps), count(len(c.Processes), "run")),
		})
	}
	return all
}

// lone gives the runs whose maximum stands alone, and the largest of these.
func (c *Cell) lone(factor float64) (steps []string, largest float64) {
	var tails []float64
	for _, p := range c.Processes {
		if _, ok := p.Values[Max]; ok {
			tails = append(tails, p.tail)
		}
	}
	maximum, tail := c.Summary[Max].Median, 0.0
	if m, ok := stats.Median(tails); ok {
		tail = m
	}
	for _, p := range c.Processes {
		if v, ok := p.Values[Max]; ok && v > factor*maximum && p.tail <= factor*tail {
			steps = append(steps, p.Step.Key())
			largest = max(largest, v)
		}
	}
	return steps, largest
}
