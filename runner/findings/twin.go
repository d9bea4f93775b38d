package findings

import (
	"fmt"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// twinDiffers: one target under two labels came out different, so this session
// cannot tell a difference from its own noise (method S8). Where no metric has the
// blocks for that to show at all, it says so.
func twinDiffers(s *record.Session, e *Evaluation) []record.Finding {
	if len(e.Verdicts) == 0 {
		return nil
	}
	j := newJudgement(s, e)
	var effects []stats.Effect
	most, blind := 0, true
	for _, key := range j.twinOrder() {
		effect := *j.twins[key]
		effects = append(effects, effect)
		noise, ok := stats.NoiseOf(effect)
		most, blind = max(most, effect.Blocks), blind && !(ok && noise.CanVoid)
	}
	switch {
	case stats.TwinsDiffer(effects):
		return []record.Finding{{
			Code: "twin-differs", Severity: record.Voids,
			Observed: fmt.Sprintf("p below %g over %s", stats.VoidAlpha, count(len(effects), "metric")), Threshold: fmt.Sprintf("p at least %g", stats.VoidAlpha),
			Text: "the A/A twin differs from the target that it is a copy of: no difference of this session can be believed",
			Hint: "something follows the order of the runs or the label; run again on a quieter machine",
		}}
	case blind && len(effects) > 0:
		return []record.Finding{{
			Code: "twin-blind", Severity: record.Warn,
			Observed: count(most, "pair"), Threshold: "8 pairs",
			Text: "too few pairs for the A/A twin to void the session: its noise floor stands, its silence proves little",
			Hint: "a longer budget gives more blocks",
		}}
	}
	return nil
}

// twinOrder are the keys of the twins' effects, in the order of the plan.
func (j *judgement) twinOrder() (keys []cellMetric) {
	seen := map[cellMetric]bool{}
	for _, q := range j.s.Plan.Primary {
		for _, t := range j.s.Plan.Targets {
			key := cellMetric{t.Base, q.Scenario, Metric(q.Metric)}
			if t.Twin && j.twins[key] != nil && !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}
