package findings

import (
	"fmt"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// judge answers the primary tests of the plan, and no others. A quick or
// incomplete session answers none: it has no words.
func judge(s *record.Session, e *Evaluation) []record.Verdict {
	if s.Plan.Quick || !s.Complete() || len(s.Plan.Primary) == 0 {
		return nil
	}
	twins := twinEffects(s, e)
	var tests []stats.Test
	for _, q := range s.Plan.Primary {
		tests = append(tests, e.test(s, q, twins))
	}
	verdicts := make([]record.Verdict, len(tests))
	for i, v := range stats.Verdicts(tests) {
		verdicts[i] = verdict(s.Plan.Primary[i], v)
	}
	return verdicts
}

// cellMetric is what the A/A twin has one effect for.
type cellMetric struct {
	scenario string
	metric   Metric
}

// twinEffects compares each A/A twin with the target it is a copy of, in every
// metric that a primary test reads. Two-core targets borrow the noise of the
// one-core twin in the same scenario and metric: a session affords one twin.
func twinEffects(s *record.Session, e *Evaluation) map[cellMetric]*stats.Effect {
	effects := map[cellMetric]*stats.Effect{}
	for _, t := range s.Plan.Targets {
		if !t.Twin {
			continue
		}
		for _, q := range s.Plan.Primary {
			key := cellMetric{q.Scenario, Metric(q.Metric)}
			if effects[key] != nil {
				continue
			}
			if effect, err := e.effect(t.Name, t.Base, q.Scenario, Metric(q.Metric)); err == nil {
				effects[key] = &effect
			}
		}
	}
	return effects
}

// test gathers what the verdict on one question rests on.
func (e *Evaluation) test(s *record.Session, q record.Primary, twins map[cellMetric]*stats.Effect) stats.Test {
	direction := stats.LowerIsBetter
	if q.HigherIsBetter {
		direction = stats.HigherIsBetter
	}
	t := stats.Test{
		Question: stats.Question{Direction: direction, Margin: q.MarginRatio, Floor: q.Floor},
		Twin:     twins[cellMetric{q.Scenario, Metric(q.Metric)}],
	}
	effect, err := e.effect(q.Target, q.Base, q.Scenario, Metric(q.Metric))
	if err != nil {
		t.Failed = append(t.Failed, err.Error())
	}
	t.Effect = effect
	if q.ServerBound {
		t.Failed = append(t.Failed, e.notServerBound(q)...)
	}
	if s.Host.Grade == "D" {
		t.Failed = append(t.Failed, "the machine failed a gate before the first run")
	}
	return t
}

// effect pairs a target with its base by block. Where voided runs broke some of
// the blocks, the pairs that are whole are compared: which blocks are broken was
// decided by checks that did not look at what was measured.
func (e *Evaluation) effect(target, base, scenario string, m Metric) (stats.Effect, error) {
	a, ok := e.Cell(target, scenario)
	b, ok2 := e.Cell(base, scenario)
	if !ok || !ok2 {
		return stats.Effect{}, fmt.Errorf("no runs of %s or %s in %s", target, base, scenario)
	}
	of := map[int]float64{}
	for _, p := range b.Processes {
		if v, ok := p.Values[m]; ok {
			of[p.Step.Block] = v
		}
	}
	var xs, ys []float64
	for _, p := range a.Processes {
		v, ok := p.Values[m]
		if w, ok2 := of[p.Step.Block]; ok && ok2 {
			xs, ys = append(xs, v), append(ys, w)
		}
	}
	effect, err := stats.Pair(xs, ys)
	if err != nil {
		return stats.Effect{}, fmt.Errorf("compare %s of %s and %s: %w", m, target, base, err)
	}
	return effect, nil
}

// notServerBound says which side of a rate was limited by something else than its
// server. Such a rate is a lower bound, and a ratio of it no comparison.
func (e *Evaluation) notServerBound(q record.Primary) []string {
	var failed []string
	for _, name := range []string{q.Target, q.Base} {
		c, ok := e.Cell(name, q.Scenario)
		if !ok {
			continue
		}
		if c.Bound != serverBound {
			failed = append(failed, fmt.Sprintf("%s was %s", name, c.Bound))
		}
	}
	return failed
}

// verdict turns the answer into what is archived and printed.
func verdict(q record.Primary, v stats.Verdict) record.Verdict {
	r := record.Verdict{Primary: q, Word: string(v.Word), Why: v.Why, Blocks: v.Blocks, NoiseFloor: v.NoiseFloor, BlocksNeeded: v.BlocksNeeded}
	if v.Blocks == 0 {
		return r
	}
	ratio, lo, hi, p, adjusted := v.Ratio.Value, v.Ratio.Lo, v.Ratio.Hi, v.P, v.Adjusted
	r.Ratio, r.P, r.Adjusted = &ratio, &p, &adjusted
	if v.Ratio.Reached {
		r.Lo, r.Hi = &lo, &hi
	}
	return r
}
