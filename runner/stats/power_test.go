package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// normals returns n values of N(shift, 1).
func normals(r *rand.Rand, n int, shift float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = shift + r.NormFloat64()
	}
	return xs
}

// found returns how often the exact test sees a shift, in deviations.
func found(r *rand.Rand, sims, n int, shift float64) float64 {
	hits := 0.0
	for range sims {
		s, _ := WilcoxonSignedRank(normals(r, n, shift))
		hits += is(s.P < Alpha)
	}
	return hits / float64(sims)
}

func TestDetectableIsDetected(t *testing.T) {
	// 0.80 of 2000 simulations, standard error 0.009: within 0.03 is more than three.
	const sims = 2000
	r := rand.New(rand.NewPCG(7, 0))
	for _, n := range []int{6, 7, 10, 15, 20, 40} {
		ratio, ok := MinimumDetectable(1, n, 1)
		if !ok {
			t.Fatalf("%d blocks detect nothing", n)
		}
		near(t, "power", found(r, sims, n, math.Log(ratio)), 0.80, 0.03)
	}
	for _, n := range []int{0, 3, 5} {
		if ratio, ok := MinimumDetectable(0.01, n, 1); ok {
			t.Errorf("%d blocks are said to detect %g; their smallest p is above 0.05", n, ratio)
		}
	}
}

func TestTableForTheTTestOverpromises(t *testing.T) {
	// Known-bad: multipliers of the paired t test (R: power.t.test(n, power=.8,
	// type="one.sample", strict=TRUE)$delta), which the exact test does not keep.
	r := rand.New(rand.NewPCG(8, 0))
	for _, c := range []struct {
		n          int
		deltaT, at float64 // power of the exact test at deltaT is at most this
	}{{3, 3.2640, 0}, {5, 1.6820, 0}, {6, 1.4345, 0.70}} {
		if power := found(r, 1000, c.n, c.deltaT); power > c.at {
			t.Errorf("%d blocks: power %.3f, expected at most %.2f", c.n, power, c.at)
		}
	}
	// From 10 blocks on the two agree within 4 %.
	for n, deltaT := range map[int]float64{10: 0.9960, 12: 0.8887, 15: 0.7780, 20: 0.6604, 30: 0.5292} {
		near(t, "detectable", detectable(n, 1), deltaT, 0.05*deltaT)
	}
}

func TestDetectableInAFamily(t *testing.T) {
	// R: power.t.test(n, power=.8, sig.level=.05/8, type="one.sample", strict=TRUE)$delta
	for n, want := range map[int]float64{8: 1.7362, 10: 1.4344, 12: 1.2483, 15: 1.0683, 20: 0.8882, 30: 0.6983} {
		near(t, "detectable", detectable(n, 8), want, 0.04*want)
	}
	// And the step-down procedure does find it, beside seven metrics without effect.
	// Standard error of 400 simulations 0.02.
	r := rand.New(rand.NewPCG(9, 0))
	for _, n := range []int{6, 10} {
		const sims = 400
		hits := 0.0
		for range sims {
			metrics := [][]float64{normals(r, n, detectable(n, 8))}
			for range 7 {
				metrics = append(metrics, normals(r, n, 0))
			}
			adjusted, _ := StepDown(metrics)
			hits += is(adjusted[0] < Alpha)
		}
		near(t, "power", hits/sims, 0.80, 0.06)
	}
}

func TestMarginIsConfirmed(t *testing.T) {
	// When nothing differs the 90 % interval lies inside the margin in 0.80 of cases;
	// 2000 simulations, standard error 0.009. At the edge of the margin it does in at
	// most 0.05 (plus 0.015).
	const sims = 2000
	r := rand.New(rand.NewPCG(10, 0))
	for _, n := range []int{5, 6, 10, 31} {
		margin, ok := SmallestMargin(1, n)
		if !ok {
			t.Fatalf("%d blocks confirm nothing", n)
		}
		bound := math.Log1p(margin)
		equal, edge := 0.0, 0.0
		for range sims {
			xs := normals(r, n, 0)
			e, _ := HodgesLehmann(xs, 0.90)
			equal += is(e.inside(bound))
			for i := range xs {
				xs[i] += bound
			}
			e, _ = HodgesLehmann(xs, 0.90)
			edge += is(e.inside(bound))
		}
		near(t, "confirmed", equal/sims, 0.80, 0.03)
		if edge/sims > 0.065 {
			t.Errorf("%d blocks: confirmed at the very margin in %.3f", n, edge/sims)
		}
	}
}

func TestBlocks(t *testing.T) {
	// Equivalence at 5 %: bound ln 1.05 = 0.04879; multiplier at most 2.44 for a
	// deviation of 2 % (5 blocks: 2.015), 1.63 for 3 % (6: 1.458), 0.976 for 5 % (12:
	// 0.938; 11 has 1.010), 0.488 for 10 % (about (2.926*1.0233/.488)^2 + 1.35 = 39).
	for deviation, want := range map[float64]int{0.02: 5, 0.03: 6, 0.05: 12, 0.10: 40} {
		n, ok := BlocksToConfirm(deviation, 0.05)
		if !ok || n < want-1 || n > want {
			t.Errorf("deviation %g: %d blocks, want %d", deviation, n, want)
		}
	}
	// +10 %: ln 1.1 = 0.0953; deviation 5 %: multiplier at most 1.906 -> 6 alone (1.799);
	// in a family of 8: 8 (1.74; 7 has 2.02).
	for family, want := range map[int]int{1: 6, 8: 8} {
		if n, ok := BlocksToDetect(0.05, 1.10, family); !ok || n != want {
			t.Errorf("family of %d: %d blocks, want %d", family, n, want)
		}
		if n, ok := BlocksToDetect(0.05, 1/1.10, family); !ok || n != want {
			t.Errorf("family of %d, slower: %d blocks, want %d", family, n, want)
		}
	}
	if n, ok := BlocksToDetect(0.5, 1.001, 1); ok {
		t.Errorf("%d blocks settle 0.1 %% against a noise of 50 %%", n)
	}
	// More blocks never need a larger effect, through the seam at 30 as well.
	var multipliers []float64
	for n := 60; n >= 6; n-- {
		multipliers = append(multipliers, detectable(n, 1))
	}
	if !slices.IsSorted(multipliers) {
		t.Errorf("multipliers are not monotone: %v", multipliers)
	}
}
