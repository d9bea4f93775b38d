package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func mean(xs []float64) float64 { return sum(xs) / float64(len(xs)) }

func TestBootstrapRatio(t *testing.T) {
	// No variance: the interval is the ratio.
	two, one := [][]float64{{2, 2}, {2}}, [][]float64{{1}, {1, 1}}
	e, ok := BootstrapRatio(two, one, mean, 0.95, 100, 1)
	if !ok || e.Value != 2 || e.Lo != 2 || e.Hi != 2 || e.Reached || e.Needed != 10 {
		t.Errorf("%+v, want 2 exactly, not reached with 2 blocks", e)
	}
	again, _ := BootstrapRatio(two, one, mean, 0.95, 100, 1)
	if again != e {
		t.Error("the same seed gave another interval")
	}
	if _, ok := BootstrapRatio(two, one[:1], mean, 0.95, 100, 1); ok {
		t.Error("unequal numbers of blocks were taken")
	}
	if _, ok := BootstrapRatio(two, [][]float64{{0}, {0}}, mean, 0.95, 100, 1); ok {
		t.Error("a ratio to zero was given")
	}
}

func TestBootstrapFleetQuantile(t *testing.T) {
	// Slices are lists of latencies; the statistic joins them. One process in ten is
	// slow, so the fleet's p99 is slow although each side's median process is not.
	fast, slow := []float64{1, 1, 1, 1}, []float64{9, 9, 9, 9}
	target, base := [][][]float64{}, [][][]float64{}
	for i := range 10 {
		base = append(base, [][]float64{fast, fast})
		if i == 4 {
			target = append(target, [][]float64{slow, slow})
		} else {
			target = append(target, [][]float64{fast, fast})
		}
	}
	fleet := func(parts [][]float64) float64 {
		p, _ := NearestRank(slices.Concat(parts...), 0.99)
		return p
	}
	e, ok := BootstrapRatio(target, base, fleet, 0.95, 500, 2)
	// The slow block is left out of (9/10)^10 = 35 % of resamples: the interval is 1..9.
	if !ok || e.Value != 9 || e.Lo != 1 || e.Hi != 9 || !e.Reached {
		t.Errorf("%+v, want 9 in 1..9", e)
	}
}

func TestBootstrapCovers(t *testing.T) {
	// Two equal sides of 20 processes, 15 slices, deviation 2 between and 4 within.
	// The resampled variance is (5.07*19/20 + 16/15*14/15)/20 against the true 5.07/20,
	// so it covers about 96 %, less 1 % for only 100 resamples. 200 simulations: standard error 0.015,
	// and 0.033 of the pooled.
	const sims = 200
	r := rand.New(rand.NewPCG(22, 0))
	hierarchical, pooled := 0.0, 0.0
	for i := range sims {
		a, b := nested(r, 20, 15), nested(r, 20, 15)
		e, _ := BootstrapRatio(a, b, mean, 0.95, 100, uint64(i))
		hierarchical += is(e.Lo <= 1 && 1 <= e.Hi) / sims
		// Known-bad: all 300 slices of a side as if independent, here as one "block".
		flat, _ := BootstrapRatio([][]float64{slices.Concat(a...)}, [][]float64{slices.Concat(b...)}, mean, 0.95, 100, uint64(i))
		pooled += is(flat.Lo <= 1 && 1 <= flat.Hi) / sims
	}
	near(t, "coverage", hierarchical, 0.95, 0.047)
	near(t, "coverage of pooled slices", pooled, 0.69, 0.10)
}
