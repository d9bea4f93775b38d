package stats

import "math"

// Shape is what a process does over time, after Barrett et al. (OOPSLA 2017).
type Shape string

const (
	Flat          Shape = "flat"            // steady from the first slice
	WarmUp        Shape = "warm-up"         // slower first, then steady
	SlowDown      Shape = "slow-down"       // faster first, then steady or still falling
	NoSteadyState Shape = "no steady state" // neither; the run is kept and its share printed
)

// SteadyRule says when slices are steady.
type SteadyRule struct {
	Slices    int     // the fewest slices that can show it
	CoV       float64 // deviation/mean over the steady part, at most
	Halves    float64 // |median of its first half / median of its second half - 1|, at most
	TrendP    float64 // its Mann-Kendall p, above
	TailShare float64 // the steady part is at least this share of all slices
}

// DefaultSteadyRule returns thresholds for one-second slices. CoV is the looser of
// the two in Georges et al. (OOPSLA 2007), over ten slices.
//
// The deviation is taken over the whole steady part, not over its last ten slices
// alone: a rate that changes every ten seconds has ten quiet slices at its end,
// equal medians in its halves and no trend, and would pass.
func DefaultSteadyRule() SteadyRule {
	return SteadyRule{Slices: 10, CoV: 0.02, Halves: 0.02, TrendP: 0.01, TailShare: 0.5}
}

// Steadiness is what the slices of one process show.
type Steadiness struct {
	Shape  Shape
	Steady bool // a steady part exists; false also for a SlowDown that never ends
	From   int  // its first slice, 0-based; meaningless unless Steady
	// Of the steady part, or of all slices if there is none.
	CoV, Halves, TrendP float64
}

// Steady judges the rates of consecutive slices of equal length, in order; more is
// faster. It takes the longest tail that is steady. False with fewer slices than
// the rule needs or a rate that is not positive.
func Steady(rates []float64, rule SteadyRule) (Steadiness, bool) {
	n := len(rates)
	if n < max(rule.Slices, 4) || !finite(rates) {
		return Steadiness{}, false
	}
	if lo, _, _ := MinMax(rates); lo <= 0 {
		return Steadiness{}, false
	}
	least := max(rule.Slices, int(math.Ceil(rule.TailShare*float64(n))))
	for from := 0; n-from >= least; from++ {
		s := describe(rates[from:])
		if s.CoV > rule.CoV || s.Halves > rule.Halves || s.TrendP <= rule.TrendP {
			continue
		}
		s.Steady, s.From, s.Shape = true, from, Flat
		if from > 0 {
			s.Shape = headShape(rates[:from], rates[from:], rule)
		}
		return s, true
	}
	s := describe(rates)
	s.Shape = NoSteadyState
	if trend, _ := MannKendall(rates); trend.S < 0 && s.TrendP <= rule.TrendP && s.Halves > rule.Halves {
		s.Shape = SlowDown
	}
	return s, true
}

// describe fills in the three figures; it needs four positive rates.
func describe(rates []float64) Steadiness {
	mean, _ := Mean(rates)
	deviation, _ := SampleDeviation(rates)
	first, _ := Median(rates[:len(rates)/2])
	second, _ := Median(rates[len(rates)/2:])
	trend, _ := MannKendall(rates)
	return Steadiness{CoV: deviation / mean, Halves: math.Abs(first/second - 1), TrendP: trend.P}
}

// headShape names what came before the steady part. A head within the rule of the
// tail was noise that failed a test by chance, not a phase of its own.
func headShape(head, tail []float64, rule SteadyRule) Shape {
	before, _ := Median(head)
	after, _ := Median(tail)
	switch ratio := before / after; {
	case ratio < 1-rule.Halves:
		return WarmUp
	case ratio > 1+rule.Halves:
		return SlowDown
	}
	return Flat
}
