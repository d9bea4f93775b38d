package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Permeability constants of the human chorioamnion, Hollander & Wolfe (1973), p. 69,
// example of R's wilcox.test.
var (
	atTerm = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early  = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

func TestUnpairedPublished(t *testing.T) {
	// R: wilcox.test(a, b, conf.int=TRUE)  W = 35, p = 0.2544, (-0.15, 0.76), 0.305
	//    conf.level=.9  (-0.08, 0.72);  t.test(a, b)  t = 2.0414, df = 12.971, p = 0.0621
	m, _ := WilcoxonRankSum(atTerm, early)
	near(t, "U", m.U, 35, 0)
	near(t, "p", m.P, 0.2544, 5e-5)
	e, _ := Shift(atTerm, early, 0.95)
	near(t, "shift", e.Value, 0.305, 1e-9)
	near(t, "lo", e.Lo, -0.15, 1e-9)
	near(t, "hi", e.Hi, 0.76, 1e-9)
	e, _ = Shift(atTerm, early, 0.90)
	near(t, "lo 90", e.Lo, -0.08, 1e-9)
	near(t, "hi 90", e.Hi, 0.72, 1e-9)
	w, _ := WelchTest(atTerm, early)
	near(t, "t", w.T, 2.0414, 5e-5)
	near(t, "df", w.DF, 12.971, 5e-4)
	near(t, "p Welch", w.P, 0.0621, 5e-5)
}

func TestUnpairedSmallestSizes(t *testing.T) {
	// Smallest two-sided p is 2/choose(2n, n): 2/20 = 0.10 for 3 a side, 2/70 = 0.029
	// for 4, so 4 a side is the least for a 95 % interval.
	m, _ := WilcoxonRankSum([]float64{1, 2, 3}, []float64{4, 5, 6})
	near(t, "p, 3 a side", m.P, 0.10, 1e-12)
	e, _ := Shift([]float64{1, 2, 3}, []float64{4, 5, 6}, 0.95)
	if e.Reached || e.Needed != 4 || math.Abs(e.Confidence-0.9) > 1e-12 {
		t.Errorf("%+v, want confidence 0.9, 4 needed", e)
	}
	if _, ok := WelchTest([]float64{1, 1}, []float64{2, 2}); ok {
		t.Error("Welch gave an answer without any variance")
	}
}

func TestRankSumTiesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []float64 {
			var xs []float64
			for _, x := range rapid.SliceOfN(rapid.IntRange(0, 4), 1, 5).Draw(t, name) {
				xs = append(xs, float64(x))
			}
			return xs
		}
		a, b := draw("a"), draw("b")
		all := slices.Concat(a, b)
		u := func(in uint) (twice int) { // 2U from the definition, over pairs
			for i, x := range all {
				for j, y := range all {
					if in>>i&1 == 1 && in>>j&1 == 0 {
						if x > y {
							twice += 2
						}
						if x == y {
							twice++
						}
					}
				}
			}
			return twice
		}
		observed := u(1<<len(a) - 1)
		low, high, choices := 0, 0, 0
		for mask := range uint(1) << len(all) {
			if bits.OnesCount(mask) != len(a) {
				continue
			}
			choices++
			if v := u(mask); v <= observed {
				low++
			}
			if v := u(mask); v >= observed {
				high++
			}
		}
		want := min(1, 2*float64(min(low, high))/float64(choices))
		m, _ := WilcoxonRankSum(a, b)
		if math.Abs(m.P-want) > 1e-12 || m.U != float64(observed)/2 {
			t.Fatalf("%+v, all choices give p = %g, U = %g", m, want, float64(observed)/2)
		}
	})
}

func TestEqualVarianceTIsWrongForUnequalGroups(t *testing.T) {
	// 5 runs with deviation 4 against 20 with deviation 1, equal means: the equal
	// variance t test rejects far too often, Welch's about 5 %. 2000 simulations:
	// standard error 0.005.
	const sims = 2000
	r := rand.New(rand.NewPCG(5, 0))
	welch, pooled := 0, 0
	a, b := make([]float64, 5), make([]float64, 20)
	for range sims {
		for i := range a {
			a[i] = 4 * r.NormFloat64()
		}
		for i := range b {
			b[i] = r.NormFloat64()
		}
		w, _ := WelchTest(a, b)
		if w.P < 0.05 {
			welch++
		}
		sa, _ := SampleDeviation(a)
		sb, _ := SampleDeviation(b)
		v := (4*sa*sa + 19*sb*sb) / 23
		if studentAbove(w.Difference/math.Sqrt(v*(1.0/5+1.0/20)), 23) < 0.05 {
			pooled++
		}
	}
	near(t, "Welch false alarms", float64(welch)/sims, 0.05, 0.02)
	if share := float64(pooled) / sims; share < 0.15 {
		t.Errorf("equal-variance t false alarms %.3f; the test has no power", share)
	}
}
