package decision

import (
	"slices"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// pair is what the session says of a pair in one metric of which less is better.
type pair struct {
	record.DecisionPair
	verdict *record.Verdict // nil: the plan asks no such question
	base    float64         // typical value of the base, in the metric's unit

	measured *record.Span // target / base by another session, in place of the verdict's own
}

func (m *matter) pair(p record.DecisionPair, metric findings.Metric) pair {
	for i := range m.e.Verdicts {
		v := &m.e.Verdicts[i]
		if q := v.Primary; q.Target == p.Target && q.Base == p.Base && q.Metric == string(metric) {
			of := pair{DecisionPair: p, verdict: v}
			if c, ok := m.e.Cell(p.Base, q.Scenario); ok {
				of.base = c.Summary[metric].Median
			}
			if metric == findings.LoadPSS {
				of = m.floored(of)
			}
			return of
		}
	}
	return pair{DecisionPair: p}
}

func (p pair) word() stats.Word {
	if p.verdict == nil {
		return ""
	}
	return stats.Word(p.verdict.Word)
}

// interval is target / base as measured, whatever the verdict made of it.
func (p pair) interval() (record.Span, bool) {
	if p.measured != nil && p.word() != "" && p.word() != stats.Invalid {
		return *p.measured, true
	}
	if v := p.verdict; v != nil && p.word() != stats.Invalid && v.Ratio != nil && v.Lo != nil && v.Hi != nil && p.base > 0 {
		return record.Span{Value: *v.Ratio, Lo: *v.Lo, Hi: *v.Hi}, true
	}
	return record.Span{}, false
}

// countable is the ratio that a bill may be made with. A proven difference counts
// with its interval, a proven equality as 1. What is INCONCLUSIVE may cost, up to
// the far end of its interval, and never saves.
func (p pair) countable() (record.Span, bool) {
	r, ok := p.interval()
	switch p.word() {
	case stats.Better, stats.Worse:
		return r, ok
	case stats.Equivalent:
		return record.Span{Value: 1, Lo: 1, Hi: 1}, p.base > 0
	case stats.Inconclusive:
		return record.Span{Value: 1, Lo: 1, Hi: max(1, r.Hi)}, ok
	}
	return record.Span{}, false
}

// times is the target's own value.
func (p pair) times(ratio record.Span) record.Span {
	return record.Span{Value: p.base * ratio.Value, Lo: p.base * ratio.Lo, Hi: p.base * ratio.Hi}
}

// levelMetrics are the absolute numbers that a decision rests on.
var levelMetrics = []findings.Metric{findings.ServerCPU, findings.P99, findings.LoadPSS}

// levels are those of the scenarios that primary tests read.
func (m *matter) levels() []record.Level {
	var all []record.Level
	seen := map[[3]string]bool{}
	for _, v := range m.e.Verdicts {
		q := v.Primary
		for _, target := range []string{q.Target, q.Base} {
			key := [3]string{target, q.Scenario, q.Metric}
			c, ok := m.e.Cell(target, q.Scenario)
			if !ok || seen[key] || !isLevel(q.Metric) {
				continue
			}
			seen[key] = true
			if s, ok := c.Summary[findings.Metric(q.Metric)]; ok {
				all = append(all, record.Level{Target: target, Scenario: q.Scenario, Metric: q.Metric, Median: s.Median, Min: s.Min, Max: s.Max, Processes: s.N})
			}
		}
	}
	return all
}

func isLevel(metric string) bool {
	for _, m := range levelMetrics {
		if string(m) == metric {
			return true
		}
	}
	return false
}

// clustering compares each cluster with Node in one process, in whatever the plan
// asks of the pairs: what can be had without a rewrite.
func (m *matter) clustering() []record.Clustering {
	one, ok := m.rule(1)
	if !ok {
		return nil
	}
	var all []record.Clustering
	for _, p := range m.rules.Pairs {
		if p.Cores == 1 {
			continue
		}
		for _, q := range m.questions(one) {
			if c, ok := m.ratio(p.Base, one.Base, q.Scenario, findings.Metric(q.Metric)); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// rule is the pair on so many cores.
func (m *matter) rule(cores int) (record.DecisionPair, bool) {
	for _, p := range m.rules.Pairs {
		if p.Cores == cores {
			return p, true
		}
	}
	return record.DecisionPair{}, false
}

func (m *matter) questions(p record.DecisionPair) []record.Primary {
	var all []record.Primary
	for _, q := range m.s.Plan.Primary {
		if q.Target == p.Target && q.Base == p.Base {
			all = append(all, q)
		}
	}
	return all
}

// ratio compares any two targets by block. It has no verdict, for nobody asked
// before the first run.
func (m *matter) ratio(target, base, scenario string, metric findings.Metric) (record.Clustering, bool) {
	a, ok := m.e.Cell(target, scenario)
	b, ok2 := m.e.Cell(base, scenario)
	if !ok || !ok2 {
		return record.Clustering{}, false
	}
	of := map[int]float64{}
	for _, p := range b.Processes {
		if v, ok := p.Values[metric]; ok && p.Step.Block <= m.s.Plan.Blocks {
			of[p.Step.Block] = v
		}
	}
	var xs, ys []float64
	for _, p := range a.Processes {
		v, ok := p.Values[metric]
		if w, ok2 := of[p.Step.Block]; ok && ok2 {
			xs, ys = append(xs, v), append(ys, w)
		}
	}
	effect, err := stats.Pair(xs, ys)
	if err != nil {
		return record.Clustering{}, false
	}
	r := effect.Ratio()
	return record.Clustering{
		Metric: string(metric), Scenario: scenario, Target: target, Base: base, Blocks: effect.Blocks, Reached: r.Reached,
		Ratio: record.Span{Value: r.Value, Lo: r.Lo, Hi: r.Hi}, Shared: (a.Shared || b.Shared) && (metric == findings.Rate || metric == findings.P99), // CPU time and memory are the servers' own
	}, true
}

// capacityTimes are those of the findings, of closed loops whose servers were the
// limit on both sides; elsewhere 1 / rate says nothing of the server.
func (m *matter) capacityTimes() []record.CapacityTime {
	var all []record.CapacityTime
	for _, f := range findings.CapacityTimes(m.s, m.e) {
		a, ok := m.e.Cell(f.Target, f.Scenario)
		b, ok2 := m.e.Cell(f.Base, f.Scenario)
		if !ok || !ok2 || !a.ServerBound() || !b.ServerBound() || !m.decides(f.Target, f.Base) {
			continue
		}
		c := record.CapacityTime{Scenario: f.Scenario, Target: f.Target, Base: f.Base, TargetTime: f.Time.Median, BaseTime: f.BaseTime.Median,
			Saved: f.Saved.Median, SavedMin: f.Saved.Min, SavedMax: f.Saved.Max, Blocks: f.Saved.N}
		for _, share := range f.Shares {
			c.OwnWork, c.Shares = append(c.OwnWork, share.Work), append(c.Shares, share.Ratio)
		}
		all = append(all, c)
	}
	return all
}

// decides tells whether the rule asks about these two; a twin it does not.
func (m *matter) decides(target, base string) bool {
	return slices.ContainsFunc(m.rules.Pairs, func(p record.DecisionPair) bool { return p.Target == target && p.Base == base })
}
