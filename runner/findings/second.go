package findings

import (
	"fmt"
	"math"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// secondResamples bound the interval's ends to about a tenth of its width.
const secondResamples = 2000

// secondOpinion asks the bootstrap of each BETTER and WORSE: blocks are resampled, and
// the ratio of geometric means taken anew. It shares no assumption of symmetry with the
// signed-rank test. Where it cannot tell a difference, that is said beside the verdict;
// it never makes or unmakes one, for with few blocks its intervals are too narrow, and
// below ten it is not asked.
func secondOpinion(s *record.Session, e *Evaluation) []record.Finding {
	var seen []string
	j := &judgement{s: s, e: e}
	for _, v := range e.Verdicts {
		if v.Word != string(stats.Better) && v.Word != string(stats.Worse) {
			continue
		}
		q := v.Primary
		pairs := j.pairs(q.Target, q.Base, q.Scenario, Metric(q.Metric))
		var target, base [][]float64
		for b := 1; b <= s.Plan.Blocks; b++ {
			if p, ok := pairs[b]; ok {
				target, base = append(target, []float64{p[0]}), append(base, []float64{p[1]})
			}
		}
		r, ok := stats.BootstrapRatio(target, base, geometricMean, 1-stats.Alpha, secondResamples, s.Plan.Seed)
		if ok && r.Reached && r.Lo <= 1 && 1 <= r.Hi {
			seen = append(seen, fmt.Sprintf("%s of %s in %s: %.3f to %.3f", q.Metric, q.Target, q.Scenario, r.Lo, r.Hi))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "second-opinion", Severity: record.Warn, Observed: some(seen), Threshold: "a bootstrap interval without 1",
		Text: fmt.Sprintf("the bootstrap sees no difference in %s that the exact test calls BETTER or WORSE", count(len(seen), "test")),
		Hint: "the blocks disagree among themselves; more of them settle it",
	}}
}

func geometricMean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}
