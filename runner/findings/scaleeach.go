package findings

import (
	"maps"
	"slices"

	"gonogo/runner/stats"
)

// each fits the line of memory.
func (a *arm) each() *EachCosts {
	rules := a.s.Plan.Rules.Scale
	type level struct{ xs, ys []float64 }
	blocks := map[int]*level{}
	var whole level
	for i, r := range a.Rows {
		if r.PSS == nil {
			continue
		}
		whole.xs, whole.ys = append(whole.xs, r.Level), append(whole.ys, r.PSS.Value)
		for _, p := range a.held[i].Processes {
			v, ok := p.Values[LoadEndPSS]
			if !ok {
				continue
			}
			if blocks[p.Step.Block] == nil {
				blocks[p.Step.Block] = &level{}
			}
			b := blocks[p.Step.Block]
			b.xs, b.ys = append(b.xs, r.Level), append(b.ys, v)
		}
	}
	line, ok := stats.FitLine(whole.xs, whole.ys)
	if !ok || len(whole.xs) < rules.LinePoints {
		return nil
	}
	var slopes []float64
	for _, b := range slices.Sorted(maps.Keys(blocks)) { // and not up to Plan.Blocks, which somebody else may have written
		if at := blocks[b]; len(at.xs) == len(whole.xs) { // a slope without the largest level is another estimate
			if l, ok := stats.FitLine(at.xs, at.ys); ok {
				slopes = append(slopes, l.Slope)
			}
		}
	}
	i := intervalOf(slopes)
	if i == nil {
		return nil
	}
	c := &EachCosts{Bytes: *i, At0: line.At0, Blocks: len(slopes), Levels: len(whole.xs)}
	rise := line.Slope * (slices.Max(whole.xs) - slices.Min(whole.xs))
	farthest := 0.0
	for j, x := range whole.xs {
		farthest = max(farthest, whole.ys[j]-line.At(x), line.At(x)-whole.ys[j])
	}
	if rise > 0 {
		c.Bend = farthest / rise
		c.Straight = c.Bend <= rules.BendMax
	}
	return c
}

// added pairs each level with the one below it, block by block.
func (a *arm) added() []Added {
	var all []Added
	for i := 1; i < len(a.Rows); i++ {
		lower, upper := a.Rows[i-1], a.Rows[i]
		if !lower.Counts || !upper.Counts || lower.Level <= 0 {
			continue
		}
		r := intervalOf(byBlock(a.load[i], a.load[i-1], Rate))
		if r == nil {
			continue
		}
		all = append(all, Added{lower.Level, upper.Level, *r, r.Value / (upper.Level / lower.Level)})
	}
	return all
}
