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
	j := newJudgement(s, e)
	verdicts := make([]record.Verdict, len(s.Plan.Primary))
	// A test that a check voided leaves the family: it can claim nothing, and the
	// others are adjusted over the blocks that they have in common.
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
	whole map[int]bool // the blocks that every primary test has both values of
	twins map[cellMetric]*stats.Effect
}

func newJudgement(s *record.Session, e *Evaluation) *judgement {
	j := &judgement{s: s, e: e, whole: map[int]bool{}, twins: map[cellMetric]*stats.Effect{}}
	missing := map[int]bool{}
	for b := 1; b <= s.Plan.Blocks; b++ {
		j.whole[b] = true
	}
	for _, q := range s.Plan.Primary {
		pairs := j.pairs(q.Target, q.Base, q.Scenario, Metric(q.Metric))
		if j.lost(pairs) {
			continue // a test that lost most of its blocks is void itself and does not cost the others theirs
		}
		for b := range j.whole {
			if _, ok := pairs[b]; !ok {
				missing[b] = true
			}
		}
	}
	j.eachTwin(func(t record.Target, q record.Primary) {
		pairs := j.pairs(t.Name, t.Base, q.Scenario, Metric(q.Metric))
		for b := range j.whole {
			if _, ok := pairs[b]; !ok && !j.lost(pairs) {
				missing[b] = true
			}
		}
	})
	for b := range missing {
		delete(j.whole, b)
	}
	j.twinEffects()
	return j
}

// lost reports whether fewer than half of the blocks are left.
func (j *judgement) lost(pairs map[int][2]float64) bool { return 2*len(pairs) < j.s.Plan.Blocks }

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

// cellMetric is what the A/A twin has one effect for.
type cellMetric struct {
	scenario string
	metric   Metric
}

// twinEffects compares each A/A twin with the target it is a copy of, in every
// metric that a primary test reads. Targets on more cores borrow the noise of the
// one-core twin in the same scenario and metric: a session affords one twin.
func (j *judgement) twinEffects() {
	j.eachTwin(func(t record.Target, q record.Primary) {
		key := cellMetric{q.Scenario, Metric(q.Metric)}
		if j.twins[key] != nil {
			return
		}
		if effect, err := j.effect(t.Name, t.Base, q.Scenario, Metric(q.Metric)); err == nil {
			j.twins[key] = &effect
		}
	})
}

// eachTwin goes through the A/A twins and the questions that their noise is wanted
// for.
func (j *judgement) eachTwin(do func(record.Target, record.Primary)) {
	for _, t := range j.s.Plan.Targets {
		for _, q := range j.s.Plan.Primary {
			if t.Twin {
				do(t, q)
			}
		}
	}
}

// test gathers what the verdict on one question rests on.
func (j *judgement) test(q record.Primary) stats.Test {
	direction := stats.LowerIsBetter
	if q.HigherIsBetter {
		direction = stats.HigherIsBetter
	}
	t := stats.Test{
		Question: stats.Question{Direction: direction, Margin: q.MarginRatio, Floor: q.Floor},
		Twin:     j.twins[cellMetric{q.Scenario, Metric(q.Metric)}],
	}
	effect, err := j.effect(q.Target, q.Base, q.Scenario, Metric(q.Metric))
	if err != nil {
		t.Failed = append(t.Failed, err.Error())
	}
	t.Effect = effect
	if pairs := j.pairs(q.Target, q.Base, q.Scenario, Metric(q.Metric)); j.lost(pairs) {
		t.Failed = append(t.Failed, fmt.Sprintf("checks voided all but %d of %d blocks", len(pairs), j.s.Plan.Blocks))
	}
	if q.ServerBound {
		t.Failed = append(t.Failed, j.notServerBound(q)...)
	}
	if j.s.Host.Grade == "D" {
		t.Failed = append(t.Failed, "the machine failed a gate before the first run")
	}
	return t
}

// effect pairs a target with its base over the whole blocks. Blocks are broken by
// checks that do not look at what is measured, and a broken one leaves all tests
// alike, for their p-values are adjusted together by flipping whole blocks.
func (j *judgement) effect(target, base, scenario string, m Metric) (stats.Effect, error) {
	pairs := j.pairs(target, base, scenario, m)
	var xs, ys []float64
	for b := 1; b <= j.s.Plan.Blocks; b++ {
		if pair, ok := pairs[b]; ok && j.whole[b] {
			xs, ys = append(xs, pair[0]), append(ys, pair[1])
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
