// Package stats turns numbers into structs: ranks, intervals, tests, verdicts.
// It is pure: no clock, no files, no random number without a seed.
//
// Three rules hold everywhere. No function changes the slice it is given, so run
// order survives. Values must be finite: an empty slice, a NaN or an infinity
// gives ok == false, never a number that looks like an answer. One value is one
// fresh process: thousands of requests to one process are one value, because what
// differs between processes (layout, address, scheduling) is the same for all of
// them.
package stats

import (
	"math"
	"slices"

	"github.com/montanaflynn/stats"
)

// Median returns the middle value, or the mean of the two middle values.
func Median(xs []float64) (median float64, ok bool) {
	if !finite(xs) {
		return 0, false
	}
	m, err := stats.Median(xs)
	return m, err == nil
}

// Mean returns the arithmetic mean.
func Mean(xs []float64) (mean float64, ok bool) {
	if !finite(xs) {
		return 0, false
	}
	m, err := stats.Mean(xs)
	return m, err == nil
}

// SampleDeviation returns the standard deviation with the n-1 divisor. One value
// has none. The library's StandardDeviation is the population form (divisor n),
// which is 18 % too small at n = 3.
func SampleDeviation(xs []float64) (deviation float64, ok bool) {
	if len(xs) < 2 || !finite(xs) {
		return 0, false
	}
	s, err := stats.StandardDeviationSample(xs)
	return s, err == nil
}

// MinMax returns the smallest and the largest value.
func MinMax(xs []float64) (lo, hi float64, ok bool) {
	if !finite(xs) {
		return 0, 0, false
	}
	return slices.Min(xs), slices.Max(xs), true
}

// finite reports whether there is at least one value and each is a number.
func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return len(xs) > 0
}

// ascending returns the values in order: xs itself if it is, else a sorted copy.
// Read only, as it may be the slice of the caller.
func ascending(xs []float64) []float64 {
	if slices.IsSorted(xs) {
		return xs
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	return sorted
}
