package findings

import (
	"fmt"
	"math"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// The limits of method D4: a place in a block that changes the rate by more than 1 %,
// at p < 0.01.
const (
	positionSlope = 0.01
	positionP     = 0.01
)

// position: whether a run was early or late in its block should not matter. The order
// is shuffled, so that it does not bias a comparison, but it widens every interval.
func position(s *record.Session, e *Evaluation) []record.Finding {
	var placed []stats.Placed
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Kind != record.Closed {
			continue // the rate of an open loop is the schedule's
		}
		for _, p := range c.Processes {
			if v, ok := p.Values[Rate]; ok && v > 0 {
				placed = append(placed, stats.Placed{Block: p.Step.Block, Position: p.Step.Position, Arm: c.Name(), Value: v})
			}
		}
	}
	effect, ok := stats.PositionSlope(placed, s.Plan.Seed)
	if s.Plan.Quick || !ok || math.Abs(effect.Slope) <= positionSlope || effect.P >= positionP {
		return nil
	}
	return []record.Finding{{
		Code: "position", Severity: record.Warn,
		Observed:  fmt.Sprintf("%+.1f %% a place, p %.2g", 100*effect.Slope, effect.P),
		Threshold: fmt.Sprintf("%g %% a place or p at least %g", 100*positionSlope, positionP),
		Text:      "rates depend on the place of a run within its block: the shuffled order keeps that out of the ratios, but they are less exact",
		Hint:      "look for what builds up from run to run: heat, a page cache, ports in TIME_WAIT",
	}}
}

// bimodal: where fresh processes fall into two groups there is no typical one, and a
// median is of whichever group is larger (method S9).
func bimodal(s *record.Session, e *Evaluation) []record.Finding {
	var seen, steps []string
	for i := range e.Cells {
		c := &e.Cells[i]
		m := Rate
		switch c.Kind {
		case record.Memory:
			m = LoadPSS
		case record.Open:
			m = ServerCPU
		}
		xs := c.Values(m)
		if least := s.Plan.Rules.MinBlocksForMedian; least == 0 || len(xs) < least {
			continue
		}
		modes, ok := stats.Bimodal(xs)
		if !ok {
			continue
		}
		low, _ := stats.Median(modes.Low)
		high, _ := stats.Median(modes.High)
		seen = append(seen, fmt.Sprintf("%s %s: %d near %s, %d near %s", c.Name(), m, len(modes.Low), digits(low), len(modes.High), digits(high)))
		steps = append(steps, c.steps()...)
	}
	if len(seen) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "bimodal", Severity: record.Note, Steps: steps,
		Observed: some(seen), Threshold: "no gap of three times the median gap between groups 10 % apart",
		Text: fmt.Sprintf("processes fall into two groups in %s: no one number stands for both", count(len(seen), "cell")),
		Hint: "look for what the groups have in common: CPU, place in the block, spread over workers",
	}}
}
