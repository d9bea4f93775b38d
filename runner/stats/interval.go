package stats

import "math"

// RankInterval is a confidence interval that runs from one of the values to
// another. It assumes nothing about their distribution except independence.
type RankInterval struct {
	Lo, Hi         float64
	LoRank, HiRank int     // 1-based, in ascending order
	Confidence     float64 // exact probability (0..1) of covering the quantile; ties only add to it
	Reached        bool    // Confidence is at least what was asked for
	Needed         int     // values from which the asked confidence can be reached
}

// MedianInterval returns the interval for the median. With too few values it is
// the whole span, Reached is false, Confidence says what the span is worth and
// Needed how many values would do: 3 values give 0.75, 5 give 0.9375, and 0.95
// takes 6.
func MedianInterval(xs []float64, confidence float64) (RankInterval, bool) {
	return QuantileInterval(xs, 0.5, confidence)
}

// QuantileInterval returns the interval for the q-quantile, 0 < q < 1, with at
// most (1-confidence)/2 of error on either side.
//
// The number of n values below the true quantile is binomial(n, q); the ranks
// follow from it exactly, by no normal approximation. Values within one process
// are correlated and cover less than this says (a test shows how much less), so
// no verdict rests on an interval within a process.
func QuantileInterval(xs []float64, q, confidence float64) (RankInterval, bool) {
	needed, ok := SamplesNeeded(q, confidence)
	if !ok || !finite(xs) {
		return RankInterval{}, false
	}
	lo, hi, covered := quantileRanks(len(xs), q, (1-confidence)/2)
	sorted := ascending(xs)
	return RankInterval{
		Lo: sorted[lo-1], Hi: sorted[hi-1], LoRank: lo, HiRank: hi,
		Confidence: covered, Reached: covered >= confidence, Needed: needed,
	}, true
}

// quantileRanks returns the narrowest ranks with at most tail of error on each
// side, or the end of the values where there are too few, and the probability
// that they cover the q-quantile.
//
// Let X ~ binomial(n, q) count the values below the quantile. Value k (1-based) is
// below it if X >= k and above it if X < k.
func quantileRanks(n int, q, tail float64) (lo, hi int, covered float64) {
	tail *= 1 + 1e-9 // a sum of rounded terms must not lose a rank that is exactly at the tail
	atMost := make([]float64, n+1)
	sum := 0.0
	for k := range atMost {
		sum += binomialAt(n, k, q)
		atMost[k] = sum // P(X <= k)
	}
	lo, hi = 1, n
	for lo < n && atMost[lo] <= tail { // the quantile is below value lo+1 with P(X <= lo)
		lo++
	}
	for hi > 1 && 1-atMost[hi-2] <= tail { // and above value hi-1 with P(X > hi-2)
		hi--
	}
	return lo, hi, atMost[hi-1] - atMost[lo-1]
}

// binomialAt returns P(X = k) for X ~ binomial(n, p), through logarithms so that
// n may be large.
func binomialAt(n, k int, p float64) float64 {
	return math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
