package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// USL is Gunther's universal scalability law, X(n) = Rate n / (1 + Contention (n-1) +
// Coherence n (n-1)): what n workers, cores or clients get of what one gets, less what
// they wait for each other and what they tell each other.
type USL struct {
	Rate       float64 // of one
	Contention float64 // alpha, 0 or more
	Coherence  float64 // beta, 0 or more
	// Residual is the standard deviation of (measured / law - 1), with the degrees of
	// freedom of three coefficients.
	Residual float64
}

// At is the law's value at n.
func (u USL) At(n float64) float64 {
	return u.Rate * n / (1 + u.Contention*(n-1) + u.Coherence*n*(n-1))
}

// Peak is the n of the highest value, sqrt((1 - Contention) / Coherence); false if the
// law has none.
func (u USL) Peak() (float64, bool) {
	if !(u.Coherence > 0) || u.Contention >= 1 {
		return 0, false
	}
	return math.Sqrt((1 - u.Contention) / u.Coherence), true
}

// FitUSL fits the law to values at levels, by least squares of relative deviations:
// n / X(n) = (1 + alpha (n-1) + beta n (n-1)) / Rate is linear in 1/Rate, alpha/Rate and
// beta/Rate, and weighted by the measured X/n its deviations are measured / law - 1.
// So there is one solution and no start value, and a level of 100/s counts as much as
// one of 10000/s. Alpha and beta are held at 0 or more by trying each at 0, which for
// two is all there is to try. It takes four levels; false if no law fits at all.
func FitUSL(levels, values []float64) (USL, bool) {
	if len(levels) < 4 || len(levels) != len(values) || !finite(levels) || !finite(values) {
		return USL{}, false
	}
	best, found, least := USL{}, false, math.Inf(1)
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		u, left, ok := solveUSL(levels, values, free)
		if ok && left < least*(1-1e-12) {
			best, least, found = u, left, true
		}
	}
	if !found {
		return USL{}, false
	}
	squares := 0.0
	for i, n := range levels {
		d := values[i]/best.At(n) - 1
		squares += d * d
	}
	best.Residual = math.Sqrt(squares / float64(len(levels)-3))
	return best, true
}

// solveUSL solves for the free coefficients, the others being 0, and gives what is left.
func solveUSL(levels, values []float64, free []int) (USL, float64, bool) {
	var a [3][4]float64 // normal equations
	for i, n := range levels {
		if !(values[i] > 0) || !(n > 0) {
			return USL{}, 0, false
		}
		row := uslRow(n, values[i])
		for j, p := range free {
			for k, q := range free {
				a[j][k] += row[p] * row[q]
			}
			a[j][3] += row[p]
		}
	}
	x, ok := eliminate(a, len(free))
	if !ok {
		return USL{}, 0, false
	}
	var c [3]float64
	for j, p := range free {
		if c[p] = x[j]; x[j] < 0 || p == 0 && x[j] == 0 {
			return USL{}, 0, false
		}
	}
	left := 0.0
	for i, n := range levels {
		row := uslRow(n, values[i])
		d := row[0]*c[0] + row[1]*c[1] + row[2]*c[2] - 1
		left += d * d
	}
	return USL{Rate: 1 / c[0], Contention: c[1] / c[0], Coherence: c[2] / c[0]}, left, true
}

func uslRow(n, x float64) [3]float64 { return [3]float64{x / n, x / n * (n - 1), x / n * n * (n - 1)} }

// eliminate solves n linear equations by Gauss with pivots, after scaling each unknown:
// n (n-1) is ten million times n at 3000.
func eliminate(a [3][4]float64, n int) (x [3]float64, ok bool) {
	var scale [3]float64
	for i := range n {
		scale[i] = math.Sqrt(a[i][i])
		if !(scale[i] > 0) {
			return x, false
		}
	}
	for i := range n {
		for j := range n {
			a[i][j] /= scale[i] * scale[j]
		}
		a[i][3] /= scale[i]
	}
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		if math.Abs(a[p][i]) < 1e-13 {
			return x, false // levels too alike to tell the coefficients apart
		}
		a[i], a[p] = a[p], a[i]
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for k := i; k < 4; k++ {
				a[r][k] -= f * a[i][k]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][3]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	for i := range n {
		x[i] /= scale[i]
	}
	return x, true
}

// USLIntervals are 95 % percentile intervals over resampled processes. A resample
// whose law has no peak counts as one at infinity.
type USLIntervals struct{ Rate, Contention, Coherence, Peak [2]float64 }

// BootstrapUSL resamples the processes within each level, takes their medians and fits
// again. values[i] are those at levels[i]; a resample without a fit is drawn again, and
// false is returned if a tenth of them have none.
func BootstrapUSL(levels []float64, values [][]float64, resamples int, seed uint64) (USLIntervals, bool) {
	if len(levels) != len(values) || resamples < 1 || len(levels) == 0 {
		return USLIntervals{}, false
	}
	r := rand.New(rand.NewPCG(seed, 0x75736c)) // "usl": a stream of its own
	var rate, alpha, beta, peak []float64
	medians := make([]float64, len(levels))
	for failed := 0; len(rate) < resamples; {
		for i, xs := range values {
			drawn := make([]float64, len(xs))
			for j := range drawn {
				drawn[j] = xs[r.IntN(len(xs))]
			}
			medians[i], _ = Median(drawn)
		}
		u, ok := FitUSL(levels, medians)
		if !ok {
			if failed++; failed > resamples/10 {
				return USLIntervals{}, false
			}
			continue
		}
		rate, alpha, beta = append(rate, u.Rate), append(alpha, u.Contention), append(beta, u.Coherence)
		p, ok := u.Peak()
		if !ok {
			p = math.Inf(1)
		}
		peak = append(peak, p)
	}
	ends := func(xs []float64) [2]float64 {
		slices.Sort(xs)
		return [2]float64{xs[nearestRank(len(xs), 0.025)-1], xs[nearestRank(len(xs), 0.975)-1]}
	}
	return USLIntervals{ends(rate), ends(alpha), ends(beta), ends(peak)}, true
}
