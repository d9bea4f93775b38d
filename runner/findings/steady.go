package findings

import (
	"fmt"
	"math"

	"gonogo/runner/record"
)

// notSteady: a window that had not settled measures a start, not a service. Its
// numbers are kept and labelled: to drop what does not settle would leave only what
// does.
func notSteady(s *record.Session, e *Evaluation) []record.Finding {
	r := s.Plan.Rules.Steady
	var all []record.Finding
	for i := range e.Cells {
		c := &e.Cells[i]
		w := c.Warmup
		if w == nil || w.Steady {
			continue
		}
		limit, speed := r.RateDrift, "rate"
		if c.Kind == record.Open {
			limit, speed = r.LatencyDrift, "largest latencies"
		}
		all = append(all, record.Finding{
			Code: "not-steady", Severity: record.Warn, Steps: c.steps(),
			Observed: fmt.Sprintf("second half %s than the first (p %s), %d of %s unlike the rest, %d of %d processes trending",
				faster(w.Drift), digits(w.P), w.Unlike, count(w.Slices, "slice"), w.Trending, w.Processes),
			Threshold: fmt.Sprintf("halves within %s %% or p above %s, fewer than a quarter of the slices, fewer than half of the processes", digits(100*limit), digits(r.P)),
			Text:      fmt.Sprintf("%s: no steady state in the window, by its %s: it had not settled, the numbers are of a server on its way", c.Name(), speed),
			Hint:      c.unsettledHint(w, s.Plan),
		})
	}
	return all
}

// unsettledHint says what to do, by which part of the rule failed. An open loop is
// judged by the largest latency of each slice, one request of some thousand: there a
// pattern over slices is of the schedule or of the machine as often as of a start.
func (c *Cell) unsettledHint(w *Warmup, p record.Plan) string {
	drifts := math.Abs(w.Drift) > p.Rules.Steady.RateDrift && w.P <= p.Rules.Steady.P
	if c.Kind == record.Open {
		drifts = math.Abs(w.Drift) > p.Rules.Steady.LatencyDrift && w.P <= p.Rules.Steady.P
	}
	switch {
	case drifts && w.Drift > 0:
		return "it still gets faster, so a longer --budget, whose windows are longer, shows where it settles; till then its cost is an upper bound"
	case drifts:
		return "it gets slower under load: look at memory and heat before another session, for no longer warm-up cures that"
	case c.Kind == record.Open:
		return "the pattern is in the largest latencies of slices, not in a drift: medians stand, its p99 and maximum do not"
	}
	return "it differs from itself without a drift: run again on a quieter machine, and if it recurs it is the server's own"
}

func faster(drift float64) string {
	word := "faster"
	if drift < 0 {
		word = "slower"
	}
	return fmt.Sprintf("%s %% %s", digits(100*math.Abs(drift)), word)
}
