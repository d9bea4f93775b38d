package stats

import (
	"math"
	"slices"
)

// exactTrend is the largest n for which the trend test counts permutations; beyond
// it the normal approximation is within 0.001 wherever that decides.
const exactTrend = 60

// Trend is Mann and Kendall's test of "the order does not matter".
type Trend struct {
	S int     // rising pairs minus falling pairs
	P float64 // two-sided; exact up to 60 values without ties, else normal with tie and continuity corrections
}

// MannKendall tests values in the order they were measured; it needs two.
func MannKendall(xs []float64) (Trend, bool) {
	if len(xs) < 2 || !finite(xs) {
		return Trend{}, false
	}
	t := Trend{}
	for i, a := range xs {
		for _, b := range xs[i+1:] {
			if b > a {
				t.S++
			} else if b < a {
				t.S--
			}
		}
	}
	n := len(xs)
	ties := tieCounts(xs)
	if len(ties) == 0 && n <= exactTrend {
		// With no ties S = pairs - 2 * inversions; the smaller tail is symmetric.
		inversions := (n*(n-1)/2 - abs(t.S)) / 2
		t.P = min(1, 2*sum(inversionNull(n)[:inversions+1]))
		return t, true
	}
	variance := kendallTerm(n)
	for _, c := range ties {
		variance -= kendallTerm(c)
	}
	t.P = 1
	if t.S != 0 && variance > 0 {
		t.P = math.Erfc(float64(abs(t.S)-1) / math.Sqrt(variance) / math.Sqrt2)
	}
	return t, true
}

func kendallTerm(n int) float64 { return float64(n*(n-1)*(2*n+5)) / 18 }

// inversionNull returns the distribution of the number of inversions of a random
// permutation: index = inversions, value = probability.
func inversionNull(n int) []float64 {
	p := []float64{1}
	for i := 2; i <= n; i++ { // the i-th value passes 0..i-1 of the earlier ones
		next := make([]float64, len(p)+i-1)
		window := 0.0 // sum of p[s-i+1..s]
		for s := range next {
			if s < len(p) {
				window += p[s]
			}
			if s >= i {
				window -= p[s-i]
			}
			next[s] = window / float64(i)
		}
		p = next
	}
	return p
}

// tieCounts returns the sizes of the groups of equal values, of two and more.
func tieCounts(xs []float64) []int {
	sorted := ascending(xs)
	var counts []int
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i > 1 {
			counts = append(counts, j-i)
		}
		i = j
	}
	return counts
}

// TheilSen returns the median of the slopes between all pairs of points whose x
// differ; false if there is none.
func TheilSen(xs, ys []float64) (slope float64, ok bool) {
	if len(xs) != len(ys) || !finite(xs) || !finite(ys) {
		return 0, false
	}
	var slopes []float64
	for i := range xs {
		for j := i + 1; j < len(xs); j++ {
			if xs[i] != xs[j] {
				slopes = append(slopes, (ys[j]-ys[i])/(xs[j]-xs[i]))
			}
		}
	}
	if len(slopes) == 0 {
		return 0, false
	}
	slices.Sort(slopes)
	return middle(slopes), true
}

func abs(x int) int { return max(x, -x) }
