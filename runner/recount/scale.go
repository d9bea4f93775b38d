package recount

import (
	"fmt"
	"math"
	"slices"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// scale holds the numbers of a sweep against the raw records: the medians of each
// level, the slope of memory by another formula, and of the law that what it leaves is
// what it says, and that no law near it leaves less.
func (c *checker) scale(s *findings.Scale) {
	sweep := c.s.Plan.Scale
	if s == nil || sweep == nil {
		if (s == nil) != (c.s.Plan.Kind != record.Scaling) {
			c.add("the sweep", "whether there is one", fmt.Sprint(s != nil), fmt.Sprint(sweep != nil))
		}
		return
	}
	for _, a := range s.Arms {
		for _, r := range a.Rows {
			where := fmt.Sprintf("%s at %s %g", a.Arm, s.Factor, r.Level)
			for _, x := range []struct {
				name, scenario string
				says           *findings.Interval
			}{{"rate_per_sec", r.Load, r.Rate}, {"server_cpu_ns_per_request", r.Load, r.CPU}, {"p99_ns", r.Load, r.P99}, {"load_end_pss_bytes", r.Memory, r.PSS}} {
				xs := c.valuesAt(r.Target, x.scenario, x.name)
				if x.says == nil { // a percentile that some process does not know is not shown
					if len(xs) > 0 && x.name != "p99_ns" {
						c.add(where, x.name, nothing, fmt.Sprintf("%d values", len(xs)))
					}
					continue
				}
				if len(xs) == 0 {
					c.add(where, x.name, orNothing(&x.says.Value), nothing)
					continue
				}
				mid := median(xs)
				c.value(where, x.name+" median", &x.says.Value, &mid)
				c.ends(where, x.name, *x.says, xs)
			}
		}
		c.each(a)
		c.law(a)
	}
}

// ends of an interval: by rank from six values on, before that of all.
func (c *checker) ends(where, what string, says findings.Interval, xs []float64) {
	xs = slices.Sorted(slices.Values(xs))
	cut := 0
	if len(xs) >= 6 {
		// Drop as many at each end as chance has below the median with 2.5 % or less.
		p, sum := math.Pow(0.5, float64(len(xs))), 0.0
		for sum+p <= 0.025*(1+1e-9) {
			sum += p
			p *= float64(len(xs)-cut) / float64(cut+1)
			cut++
		}
		cut--
	}
	c.value(where, what+" interval from", &says.Lo, &xs[cut])
	c.value(where, what+" interval to", &says.Hi, &xs[len(xs)-1-cut])
}

// valuesAt are a metric's values of a cell, of the runs that count.
func (c *checker) valuesAt(target, scenario, name string) []float64 {
	var xs []float64
	for _, r := range c.countedAt(target, scenario) {
		if v, _ := c.of(r); v != nil {
			if x, ok := v[name]; ok {
				xs = append(xs, x)
			}
		}
	}
	return xs
}

func (c *checker) countedAt(target, scenario string) []*record.Run {
	var all []*record.Run
	for i := range c.s.Runs {
		if r := &c.s.Runs[i]; r.Step.Target == target && r.Step.Scenario == scenario && c.counts(r) {
			all = append(all, r)
		}
	}
	return all
}

// each: the slope of least squares is the mean of the slopes of all pairs of levels,
// each weighted by the square of their distance.
func (c *checker) each(a findings.ScaleArm) {
	if a.Each == nil {
		return
	}
	blocks := map[int]map[float64]float64{}
	levels := map[float64]bool{}
	for _, r := range a.Rows {
		for _, run := range c.countedAt(r.Target, r.Memory) {
			v, _ := c.of(run)
			if pss, ok := v["load_end_pss_bytes"]; ok {
				if blocks[run.Step.Block] == nil {
					blocks[run.Step.Block] = map[float64]float64{}
				}
				blocks[run.Step.Block][r.Level], levels[r.Level] = pss, true
			}
		}
	}
	var slopes []float64
	for _, at := range blocks {
		if len(at) != len(levels) {
			continue
		}
		var up, weights float64
		for x, y := range at {
			for x2, y2 := range at {
				up += (x2 - x) * (y2 - y)
				weights += (x2 - x) * (x2 - x)
			}
		}
		slopes = append(slopes, up/weights)
	}
	if len(slopes) == 0 {
		c.add(a.Arm, "memory of one more", orNothing(&a.Each.Bytes.Value), nothing)
		return
	}
	slope, n, said := median(slopes), float64(len(slopes)), float64(a.Each.Blocks)
	c.near(a.Arm, "memory of one more", a.Each.Bytes.Value, slope)
	c.value(a.Arm, "blocks of the line of memory", &said, &n)
}

// near is for sums in another order, of differences.
func (c *checker) near(where, what string, says, gives float64) {
	if math.Abs(says-gives) > 1e-6*math.Max(math.Abs(says), math.Abs(gives)) {
		c.add(where, what, orNothing(&says), orNothing(&gives))
	}
}

// law: the residual is recounted, and the coefficients must be a minimum: none of them,
// moved by a thousandth, leaves less.
func (c *checker) law(a findings.ScaleArm) {
	l := a.Law
	if l == nil {
		return
	}
	var levels, rates []float64
	for _, r := range a.Rows {
		if slices.Contains(l.Levels, r.Level) {
			levels, rates = append(levels, r.Level), append(rates, median(c.valuesAt(r.Target, r.Load, "rate_per_sec")))
		}
	}
	at := func(g, s, k, n float64) float64 { return g * n / (1 + s*(n-1) + k*n*(n-1)) }
	left := func(g, s, k float64) (sum float64) {
		for i, n := range levels {
			d := rates[i]/at(g, s, k, n) - 1
			sum += d * d
		}
		return sum
	}
	g, s, k := l.Rate.Value, l.Contention.Value, l.Coherence.Value
	least := left(g, s, k)
	within := least * (1 - 1e-9)
	c.near(a.Arm, "residual of the law", l.Residual, math.Sqrt(least/float64(len(levels)-3)))
	for _, f := range []float64{0.999, 1.001} {
		if left(g*f, s, k) < within || left(g, s*f, k) < within || left(g, s, k*f) < within {
			c.add(a.Arm, "law of least squares", "nothing near it fits better", "a law within a thousandth does")
			return
		}
	}
}
