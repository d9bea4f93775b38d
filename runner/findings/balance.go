package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// imbalance: a connection stays with the worker that accepted it, so a cluster
// may be as slow as its busiest worker. Two measures: the busiest worker over the
// mean, and Jain's index, (sum x)^2 / (n * sum x^2), which is 1 for equal shares
// and 1/n for one worker that does it all.
func imbalance(s *record.Session, e *Evaluation) []record.Finding {
	r := s.Plan.Rules
	var all []record.Finding
	for _, c := range e.Cells {
		var steps []string
		worst, index := 0.0, 1.0
		for _, p := range c.Processes {
			over, jain, ok := balance(p.run.PerWorker)
			if !ok || over <= r.WorkerMaxOverMean && jain >= r.WorkerJainMin {
				continue
			}
			steps = append(steps, p.Step.Key())
			worst, index = max(worst, over), min(index, jain)
		}
		if len(steps) > 0 && r.WorkerMaxOverMean > 0 {
			all = append(all, record.Finding{
				Code: "imbalanced-workers", Severity: record.Warn, Steps: steps,
				Observed:  fmt.Sprintf("busiest worker %.2f x the mean, Jain's index %.3f", worst, index),
				Threshold: fmt.Sprintf("at most %.2f x, at least %.2f", r.WorkerMaxOverMean, r.WorkerJainMin),
				Text:      fmt.Sprintf("%s: requests were not spread evenly over the workers in %d of %s", c.Name(), len(steps), count(len(c.Processes), "run")),
				Hint:      "connections that are a multiple of the workers help",
			})
		}
	}
	return all
}

// balance is unknown for fewer than two workers, or none that served.
func balance(workers []uint64) (maxOverMean, jain float64, ok bool) {
	var sum, squares, most float64
	for _, w := range workers {
		x := float64(w)
		sum, squares, most = sum+x, squares+x*x, max(most, x)
	}
	n := float64(len(workers))
	if n < 2 || sum == 0 {
		return 0, 0, false
	}
	return most * n / sum, sum * sum / (n * squares), true
}
