package findings

import (
	"fmt"
	"maps"
	"slices"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// judge answers the primary tests of the plan, and no others. A quick or
// incomplete session answers none: it has no words.
func judge(s *record.Session, e *Evaluation) []record.Verdict {
	if s.Plan.Quick || !s.Complete() || len(s.Plan.Primary) == 0 {
		return nil
	}
	j := newJudgement(s, e)
	verdicts := make([]record.Verdict, len(s.Plan.Primary))
	// A test that a check voided leaves the family: it can claim nothing.
	var family []stats.Test
	var places []int
	for i, q := range s.Plan.Primary {
		t := j.test(q)
		if len(t.Failed) > 0 {
			verdicts[i] = verdict(q, stats.Judge(t, 1, 1))
			continue
		}
		family, places = append(family, t), append(places, i)
	}
	for i, v := range stats.Verdicts(family) {
		verdicts[places[i]] = verdict(s.Plan.Primary[places[i]], v)
	}
	return verdicts
}

// judgement holds what all tests of a session share.
type judgement struct {
	s     *record.Session
	e     *Evaluation
	twins map[cellMetric]*stats.Effect
}

func newJudgement(s *record.Session, e *Evaluation) *judgement {
	j := &judgement{s: s, e: e, twins: map[cellMetric]*stats.Effect{}}
	j.twinEffects()
	return j
}

// pairs are the values of a target and its base, by block.
func (j *judgement) pairs(target, base, scenario string, m Metric) map[int][2]float64 {
	pairs, of := map[int][2]float64{}, map[int]float64{}
	if b, ok := j.e.Cell(base, scenario); ok {
		for _, p := range b.Processes {
			if v, ok := p.Values[m]; ok {
				of[p.Step.Block] = v
			}
		}
	}
	if a, ok := j.e.Cell(target, scenario); ok {
		for _, p := range a.Processes {
			v, ok := p.Values[m]
			if w, ok2 := of[p.Step.Block]; ok && ok2 {
				pairs[p.Step.Block] = [2]float64{v, w}
			}
		}
	}
	return pairs
}

// cellMetric is what an A/A twin has one effect for: it is of the base.
type cellMetric struct {
	base     string
	scenario string
	metric   Metric
}

// twinEffects compares each A/A twin with the target it is a copy of, in every
// metric that a primary test reads.
func (j *judgement) twinEffects() {
	for _, t := range j.s.Plan.Targets {
		for _, q := range j.s.Plan.Primary {
			key := cellMetric{t.Base, q.Scenario, Metric(q.Metric)}
			if !t.Twin || j.twins[key] != nil {
				continue
			}
			if effect, err := j.effect(t.Name, t.Base, q.Scenario, Metric(q.Metric)); err == nil {
				j.twins[key] = &effect
			}
		}
	}
}

// twin is the effect of the twin of a test's base. Targets on more cores borrow the
// noise of another's in the same scenario and metric: a session affords few twins.
func (j *judgement) twin(q record.Primary) *stats.Effect {
	if effect := j.twins[cellMetric{q.Base, q.Scenario, Metric(q.Metric)}]; effect != nil {
		return effect
	}
	for _, t := range j.s.Plan.Targets {
		if effect := j.twins[cellMetric{t.Base, q.Scenario, Metric(q.Metric)}]; t.Twin && effect != nil {
			return effect
		}
	}
	return nil
}

// test gathers what the verdict on one question rests on.
func (j *judgement) test(q record.Primary) stats.Test {
	direction := stats.LowerIsBetter
	if q.HigherIsBetter {
		direction = stats.HigherIsBetter
	}
	t := stats.Test{
		Question: stats.Question{Direction: direction, Margin: q.MarginRatio, Floor: q.Floor},
		Twin:     j.twin(q),
	}
	effect, err := j.effect(q.Target, q.Base, q.Scenario, Metric(q.Metric))
	if err != nil {
		t.Failed = append(t.Failed, err.Error())
	}
	t.Effect = effect
	if planned := j.s.Plan.Rounds(q.Target, q.Scenario); 2*effect.Blocks < planned {
		t.Failed = append(t.Failed, fmt.Sprintf("checks voided all but %d of %d pairs", effect.Blocks, planned))
	}
	t.Failed = append(t.Failed, unfresh(&j.s.Plan, q)...)
	if q.ServerBound {
		t.Failed = append(t.Failed, j.notServerBound(q)...)
	}
	if j.s.Host.Grade == "D" {
		t.Failed = append(t.Failed, "the machine failed a gate before the first run")
	} else if j.s.GateFailed() {
		t.Failed = append(t.Failed, "the machine failed a gate before the session went on after an interruption")
	}
	return t
}

// effect pairs a target with its base over the blocks that hold both. A run is
// lost to checks that do not look at what is measured, so which pairs are left says
// nothing about how they differ.
func (j *judgement) effect(target, base, scenario string, m Metric) (stats.Effect, error) {
	pairs := j.pairs(target, base, scenario, m)
	blocks := slices.Sorted(maps.Keys(pairs))
	var xs, ys []float64
	for _, b := range blocks {
		xs, ys = append(xs, pairs[b][0]), append(ys, pairs[b][1])
	}
	effect, err := stats.Pair(xs, ys)
	if err != nil {
		return stats.Effect{}, fmt.Errorf("compare %s of %s and %s: %w", m, target, base, err)
	}
	effect.In = blocks
	return effect, nil
}

// notServerBound says which side of a rate was limited by something else than its
// server. Such a rate is a lower bound, and a ratio of it no comparison.
func (j *judgement) notServerBound(q record.Primary) []string {
	var failed []string
	for _, name := range []string{q.Target, q.Base} {
		if c, ok := j.e.Cell(name, q.Scenario); ok && c.Bound != serverBound {
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
