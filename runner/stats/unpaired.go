package stats

import (
	"math"
	"slices"
)

// MannWhitney is the rank-sum test of two independent groups, exact, with or
// without ties. It compares distributions, not means: with unequal shapes it may
// reject although the medians agree, so only the shift estimate should be quoted.
type MannWhitney struct {
	U float64 // pairs with the first group's value larger; a tie counts 1/2
	P float64 // two-sided
}

// WilcoxonRankSum tests a against b.
func WilcoxonRankSum(a, b []float64) (MannWhitney, bool) {
	if !finite(a) || !finite(b) {
		return MannWhitney{}, false
	}
	ranks, inA := pooledRanks(a, b)
	null := rankSums(ranks, len(a))
	low, high := 0.0, 0.0
	for s, p := range null {
		if s <= inA {
			low += p
		}
		if s >= inA {
			high += p
		}
	}
	n := float64(len(a))
	return MannWhitney{U: float64(inA)/2 - n*(n+1)/2, P: min(1, 2*min(low, high))}, true
}

// pooledRanks returns twice the mid-ranks of both groups together, and the sum of
// those that belong to a.
func pooledRanks(a, b []float64) (ranks []int, inA int) {
	type value struct {
		x     float64
		fromA bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, x := range a {
		all = append(all, value{x, true})
	}
	for _, x := range b {
		all = append(all, value{x, false})
	}
	slices.SortFunc(all, func(p, q value) int {
		if p.x < q.x {
			return -1
		}
		if p.x > q.x {
			return 1
		}
		return 0
	})
	ranks = make([]int, len(all))
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + 1 + j
			if all[k].fromA {
				inA += ranks[k]
			}
		}
		i = j
	}
	return ranks, inA
}

// rankSums returns the exact distribution of the sum of n of the ranks when every
// choice of n is equally likely: index = sum, value = probability.
func rankSums(ranks []int, n int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, n+1) // ways[j][s]: choices of j ranks that sum to s
	for j := range ways {
		ways[j] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for j := min(i+1, n); j >= 1; j-- {
			for s := total; s >= r; s-- {
				ways[j][s] += ways[j-1][s-r]
			}
		}
	}
	all := sum(ways[n])
	for s := range ways[n] {
		ways[n][s] /= all
	}
	return ways[n]
}

// Shift returns the median of all differences a-b and the interval that inverts
// the exact rank-sum test.
func Shift(a, b []float64, confidence float64) (Estimate, bool) {
	if !finite(a) || !finite(b) || !(confidence > 0 && confidence < 1) {
		return Estimate{}, false
	}
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, x-y)
		}
	}
	slices.Sort(differences)
	k, covered := tailRank(mannWhitneyNull(len(a), len(b)), (1-confidence)/2)
	k = min(k, (len(differences)+1)/2)
	return Estimate{
		Value: middle(differences), Lo: differences[k-1], Hi: differences[len(differences)-k],
		Confidence: covered, Reached: covered >= confidence, Needed: balancedNeeded((1 - confidence) / 2),
	}, true
}

// mannWhitneyNull returns the distribution of U for untied groups of n and m.
func mannWhitneyNull(n, m int) []float64 {
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return rankSums(ranks, n)[n*(n+1)/2:][:n*m+1]
}

// balancedNeeded returns the group size from which P(U = 0) <= tail for two groups
// of that size.
func balancedNeeded(tail float64) int {
	n := 1
	for math.Exp(-logChoose(2*n, n)) > tail {
		n++
	}
	return n
}

// Welch is the t test of two groups of unequal variance.
type Welch struct {
	Difference float64 // mean(a) - mean(b)
	T, DF      float64
	P          float64 // two-sided
}

// WelchTest tests a against b; each needs two values, and not all may be equal.
// The library's TTest assumes equal variances, which a fast and a slow server do
// not have.
func WelchTest(a, b []float64) (Welch, bool) {
	sa, okA := SampleDeviation(a)
	sb, okB := SampleDeviation(b)
	if !okA || !okB || sa == 0 && sb == 0 {
		return Welch{}, false
	}
	ma, _ := Mean(a)
	mb, _ := Mean(b)
	va, vb := sa*sa/float64(len(a)), sb*sb/float64(len(b))
	w := Welch{Difference: ma - mb, T: (ma - mb) / math.Sqrt(va+vb)}
	w.DF = (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	w.P = studentAbove(w.T, w.DF)
	return w, true
}
