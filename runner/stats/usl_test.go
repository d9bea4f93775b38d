package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Noise-free values by hand: X(n) = 1000 n / (1 + 0.02 (n-1) + 0.0005 n (n-1)) at 1: 1000;
// at 2: 2000/1.021; at 16: 16000/1.42; at 64: 64000/(1+1.26+2.016) = 64000/4.276.
func TestFitUSLIsExactWithoutNoise(t *testing.T) {
	for _, truth := range []USL{{1000, 0.02, 0.0005, 0}, {1000, 0.02, 0, 0}, {500, 0, 0.001, 0}, {7, 0, 0, 0}} {
		levels := []float64{1, 2, 4, 8, 16, 32, 64, 3000}
		var values []float64
		for _, n := range levels {
			values = append(values, truth.At(n))
		}
		u, ok := FitUSL(levels, values)
		if !ok || math.Abs(u.Rate/truth.Rate-1) > 1e-6 || math.Abs(u.Contention-truth.Contention) > 1e-8 || math.Abs(u.Coherence-truth.Coherence) > 1e-10 || u.Residual > 1e-6 {
			t.Errorf("%+v: fitted %+v", truth, u)
		}
	}
	at := USL{1000, 0.02, 0.0005, 0}
	for n, want := range map[float64]float64{1: 1000, 2: 2000 / 1.021, 16: 16000 / 1.42, 64: 64000 / 4.276} {
		if got := at.At(n); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %g: %g, want %g", n, got, want)
		}
	}
	if p, ok := at.Peak(); !ok || math.Abs(p-44.2719) > 1e-4 {
		t.Errorf("peak %g, want sqrt(0.98/0.0005) = 44.2719", p)
	}
}

// The solver of the linear form, held against exact arithmetic. In Python:
//
//	from fractions import Fraction as F
//	R = [[F(x, n), F(x, n)*(n-1), F(x)*(n-1)] for n, x in zip([1,2,4,8,16,32], [955,1880,3529,6290,9530,11700])]
//	A = [[sum(r[i]*r[j] for r in R) for j in range(3)] + [sum(r[i] for r in R)] for i in range(3)]
//	for i in range(3):
//	  for r in range(3):
//	    if r != i: A[r] = [a - A[r][i]/A[i][i]*b for a, b in zip(A[r], A[i])]
//	c = [A[i][3]/A[i][i] for i in range(3)]; print(float(1/c[0]), float(c[1]/c[0]), float(c[2]/c[0]))
func TestFitUSLAgainstFractions(t *testing.T) {
	u, ok := FitUSL([]float64{1, 2, 4, 8, 16, 32}, []float64{955, 1880, 3529, 6290, 9530, 11700})
	want := USL{Rate: 962.3551088946913, Contention: 0.02716599371043339, Coherence: 0.0008032664053336692}
	if !ok || math.Abs(u.Rate/want.Rate-1) > 1e-9 || math.Abs(u.Contention/want.Contention-1) > 1e-7 || math.Abs(u.Coherence/want.Coherence-1) > 1e-7 {
		t.Errorf("fitted %.12g %.12g %.12g, want %+v", u.Rate, u.Contention, u.Coherence, want)
	}
}

// Method P4: sigma 0.02, kappa 0.0005 and 1 % of noise give a peak within a tenth of
// 44.3, and data without coherence give none inside the levels. That the plain
// algorithm can fail is shown by 30 % of noise.
func TestFitUSLFindsThePeak(t *testing.T) {
	levels := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	rng := rand.New(rand.NewPCG(1, 1))
	count := func(truth USL, noise float64) (near, inside int) {
		for range 500 {
			var values []float64
			for _, n := range levels {
				values = append(values, truth.At(n)*(1+noise*rng.NormFloat64()))
			}
			u, ok := FitUSL(levels, values)
			if !ok {
				continue
			}
			if p, ok := u.Peak(); ok && p <= 128 {
				inside++
				if math.Abs(p/44.27-1) <= 0.1 {
					near++
				}
			}
		}
		return near, inside
	}
	if near, _ := count(USL{1000, 0.02, 0.0005, 0}, 0.01); near < 490 {
		t.Errorf("%d of 500 peaks within a tenth of 44.27, want 490", near)
	}
	if near, _ := count(USL{1000, 0.02, 0.0005, 0}, 0.30); near > 400 {
		t.Errorf("%d of 500 at 30 %% of noise: the test would not see a fit that ignores the data", near)
	}
	if _, inside := count(USL{1000, 0.02, 0, 0}, 0.01); inside > 5 {
		t.Errorf("%d of 500 laws without coherence have a peak inside the levels", inside)
	}
}

// The interval is over processes: it covers the truth about as often as it says.
func TestBootstrapUSLCovers(t *testing.T) {
	levels := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	truth := USL{1000, 0.02, 0.0005, 0}
	rng := rand.New(rand.NewPCG(2, 1))
	covered := 0
	const sims = 60
	for i := range sims {
		values := make([][]float64, len(levels))
		for j, n := range levels {
			for range 10 {
				values[j] = append(values[j], truth.At(n)*(1+0.03*rng.NormFloat64()))
			}
		}
		b, ok := BootstrapUSL(levels, values, 200, uint64(i))
		if !ok {
			t.Fatal("no interval")
		}
		if b.Coherence[0] <= truth.Coherence && truth.Coherence <= b.Coherence[1] {
			covered++
		}
		if b.Coherence[0] >= b.Coherence[1] {
			t.Fatalf("interval %v", b.Coherence)
		}
	}
	if covered < 48 { // 0.8 of 60; 95 % less what ten processes and 60 simulations may lack
		t.Errorf("%d of %d intervals cover the truth", covered, sims)
	}
}

func TestFitUSLRefuses(t *testing.T) {
	for name, c := range map[string][2][]float64{
		"three levels": {{1, 2, 3}, {1, 2, 3}}, "a rate of 0": {{1, 2, 4, 8}, {1, 0, 3, 4}}, "a level of 0": {{0, 1, 2, 4}, {1, 2, 3, 4}},
		"not as many": {{1, 2, 3, 4}, {1}}, "no number": {{1, 2, 3, 4}, {1, 2, math.NaN(), 4}},
	} {
		if u, ok := FitUSL(c[0], c[1]); ok {
			t.Errorf("%s: fitted %+v", name, u)
		}
	}
}

// By hand: x 1 2 3 4, y 2 4 5 4 has means 2.5 and 3.75, sums of squares 5 and of
// products (-1.5)(-1.75) + (-0.5)(0.25) + 0.5*1.25 + 1.5*0.25 = 3.5.
func TestFitLine(t *testing.T) {
	l, ok := FitLine([]float64{1, 2, 3, 4}, []float64{2, 4, 5, 4})
	if !ok || math.Abs(l.Slope-0.7) > 1e-12 || math.Abs(l.At0-2) > 1e-12 || math.Abs(l.At(10)-9) > 1e-12 {
		t.Errorf("%+v, want 2 + 0.7 x", l)
	}
	for _, c := range [][2][]float64{{{1}, {1}}, {{2, 2}, {1, 3}}, {{1, 2}, {1}}, {{1, math.Inf(1)}, {1, 2}}} {
		if l, ok := FitLine(c[0], c[1]); ok {
			t.Errorf("%v: %+v", c, l)
		}
	}
}
