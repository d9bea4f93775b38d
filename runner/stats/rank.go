package stats

import "math"

// NearestRank returns the q-quantile, 0 <= q <= 1: the smallest value x such that
// at least a share q of the values is <= x. It is always one of the values;
// interpolating definitions invent a latency that no request had. q = 0 is the
// minimum and q = 1 the maximum. xs need not be sorted, and is not copied if it is.
//
// A quantile of quantiles is no quantile: to join processes merge their values
// (or histograms) first, or take the median over processes and say so.
func NearestRank(xs []float64, q float64) (value float64, ok bool) {
	if !finite(xs) || !(q >= 0 && q <= 1) {
		return 0, false
	}
	return ascending(xs)[nearestRank(len(xs), q)-1], true
}

// nearestRank returns the smallest 1-based rank k with k/n >= q. The comparison is
// made on k/n because q*n rounds upwards for some decimals: 0.07*100 is
// 7.000000000000001, whose ceiling is the wrong rank.
func nearestRank(n int, q float64) int {
	k := max(1, int(math.Ceil(q*float64(n))))
	for k > 1 && float64(k-1)/float64(n) >= q {
		k--
	}
	return min(k, n)
}

// SamplesNeeded returns how many independent values it takes before a two-sided
// interval for the q-quantile, 0 < q < 1, exists at that confidence at all:
// the n from which all n values lie on one side of the quantile with probability
// at most (1-confidence)/2. At 0.95: p50 6, p99 368, p99.9 3688. Requests are
// correlated, so a report should ask for ten times as many before it prints one.
func SamplesNeeded(q, confidence float64) (n int, ok bool) {
	if !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return 0, false
	}
	side := max(q, 1-q)
	return int(math.Ceil(math.Log((1-confidence)/2) / math.Log(side))), true
}
