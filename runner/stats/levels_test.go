package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// nested returns slices of processes: 100 + N(0,2) per process + N(0,4) per slice.
func nested(r *rand.Rand, processes, perProcess int) [][]float64 {
	ys := make([][]float64, processes)
	for i := range ys {
		mean := 100 + 2*r.NormFloat64()
		for range perProcess {
			ys[i] = append(ys[i], mean+4*r.NormFloat64())
		}
	}
	return ys
}

func TestVarianceComponentsByHand(t *testing.T) {
	// Means 2 and 8; variances 2 and 2; S1^2 = 2, S2^2 = 18, T2^2 = 18 - 2/2 = 17.
	l, ok := VarianceComponents([][]float64{{1, 3}, {7, 9}})
	if !ok {
		t.Fatal("no estimate")
	}
	near(t, "within", l.Within, 2, 1e-12)
	near(t, "between", l.Between, 17, 1e-12)
	near(t, "mean", l.Mean, 5, 1e-12)
	// t(.975, 1) = 12.7062 (R: qt(.975,1)); half-width 12.7062 * sqrt(18/2) = 38.1186.
	near(t, "hi", l.Interval(0.95).Hi, 5+38.1186, 1e-3)
	// Equal means: between is 0, not negative, and no number of slices is enough.
	l, _ = VarianceComponents([][]float64{{1, 3}, {1, 3}})
	if _, ok := l.OptimalSlices(12, 1); ok || l.Between != 0 {
		t.Errorf("%+v: between should be 0 and slices unbounded", l)
	}
	if _, ok := VarianceComponents([][]float64{{1, 2}}); ok {
		t.Error("one process has a variance between processes")
	}
}

func TestVarianceComponentsOfKnownTruth(t *testing.T) {
	// Truth 4 and 16; 400 processes of 30 slices. Standard errors: between about
	// (4+16/30)*sqrt(2/400) = 0.32, so 1 is three; within 16*sqrt(2/11600) = 0.21.
	l, _ := VarianceComponents(nested(rand.New(rand.NewPCG(20, 0)), 400, 30))
	near(t, "between", l.Between, 4, 1)
	near(t, "within", l.Within, 16, 0.65)
	// sqrt(12/1 * 16/4) = 6.93 -> 7 slices for a process that costs 12 s to start.
	exact := Levels{Within: 16, Between: 4}
	if n, ok := exact.OptimalSlices(12, 1); !ok || n != 7 {
		t.Errorf("%d slices, want 7", n)
	}
}

func TestSlicesAreNotIndependentEvidence(t *testing.T) {
	// 20 processes of 15 slices; 1000 simulations, standard error 0.007 at 0.95 and
	// 0.015 at 0.69. The true deviation of the mean is sqrt((4+16/15)/20) = 0.503;
	// pooled, one believes sqrt(20/300) = 0.258, so 1.96*0.258/0.503 = 1.006 sigma: 0.69.
	const sims = 1000
	r := rand.New(rand.NewPCG(21, 0))
	right, pooled := 0.0, 0.0
	for range sims {
		ys := nested(r, 20, 15)
		l, _ := VarianceComponents(ys)
		iv := l.Interval(0.95)
		right += is(iv.Lo <= 100 && 100 <= iv.Hi) / sims
		all := slices.Concat(ys...)
		mean, _ := Mean(all)
		s, _ := SampleDeviation(all)
		h := 1.96 * s / 17.3205 // sqrt(300)
		pooled += is(mean-h <= 100 && 100 <= mean+h) / sims
	}
	near(t, "coverage from process means", right, 0.95, 0.021)
	near(t, "coverage of pooled slices", pooled, 0.69, 0.045)
}
