package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNoise(t *testing.T) {
	// Ten twins' log-ratios are the wobble; R, wobble as in verdict_test.go:
	// wilcox.test(w, conf.int=TRUE, conf.level=.9)  (-0.0070, 0.0065), p = 1
	n, ok := NoiseOf(pair(t, scaled(1, 1), rates))
	if !ok || !n.CanVoid {
		t.Fatalf("%+v, %v", n, ok)
	}
	near(t, "lo", n.Log90.Lo, -0.0070, 1e-9)
	near(t, "hi", n.Log90.Hi, 0.0065, 1e-9)
	near(t, "floor", n.Floor, 0.0070, 1e-9)
	near(t, "p", n.P, 1, 1e-9)

	if n, ok := NoiseOf(pair(t, scaled(1.2, 1)[:7], rates[:7])); !ok || n.CanVoid {
		t.Errorf("7 blocks: %+v; their smallest p is 0.016, which voids nothing", n)
	}
	if _, ok := NoiseOf(pair(t, rates[:4], rates[:4])); ok {
		t.Error("4 blocks have a noise floor")
	}
}

// twinsDiffer returns how often a session is void whose twins are the same server
// on a machine that slows by drift a run, 2 runs a block, 10 blocks. The order
// within the block is shuffled, or, the bug, always the same.
func twinsDiffer(sims int, drift float64, shuffled bool) float64 {
	r := rand.New(rand.NewPCG(16, 0))
	void := 0.0
	for range sims {
		var a, b []float64
		for block := range 10 {
			first := math.Exp(-drift*float64(2*block) + 0.01*r.NormFloat64())
			second := math.Exp(-drift*float64(2*block+1) + 0.01*r.NormFloat64())
			if shuffled && r.Uint64()&1 == 1 {
				first, second = second, first
			}
			a, b = append(a, first), append(b, second)
		}
		e, _ := Pair(a, b)
		void += is(TwinsDiffer([]Effect{e})) / float64(sims)
	}
	return void
}

func TestTwinsCatchAPairingBug(t *testing.T) {
	// Shuffled: at most 1 %, plus 0.009 for three standard errors of 1000 simulations.
	if share := twinsDiffer(1000, 0.03, true); share > 0.019 {
		t.Errorf("a sound design is void in %.3f", share)
	}
	// Labels that always take the same place, on a machine that drifts 3 % a run.
	if share := twinsDiffer(300, 0.03, false); share < 0.90 {
		t.Errorf("the pairing bug is caught in %.3f only", share)
	}
}

func TestAdjustChoosesByTheRunsThatExist(t *testing.T) {
	strong := pair(t, scaled(1.2, 1)[:6], rates[:6]) // p = 2/64
	shorter := pair(t, scaled(1.2, 1)[:5], rates[:5])
	// Equal blocks: joint flips, which lose nothing to the size of the family.
	for _, p := range Adjust([]Effect{strong, strong}) {
		near(t, "joint", p, 2.0/64, 1e-15)
	}
	// Unequal: Holm, 2 * 2/64 and 2/32.
	unequal := Adjust([]Effect{strong, shorter})
	near(t, "Holm", unequal[0], 4.0/64, 1e-15)
	near(t, "Holm, last", unequal[1], 2.0/32, 1e-15)
	// What could not be measured is no success and takes nothing from the others.
	gone := Adjust([]Effect{{}, strong, strong})
	if gone[0] != 1 || gone[1] != 2.0/64 {
		t.Errorf("%v, want 1 and 2/64", gone)
	}
	if alone := Adjust([]Effect{{}, strong}); alone[0] != 1 || alone[1] != 2.0/64 {
		t.Errorf("%v, want 1 and 2/64", alone)
	}
	// Joint flips weigh sizes and may reject where the ranks, and so the printed
	// interval, do not. Ranks: the negative one has rank 4 of 8, P(T <= 4) = 7/256, p =
	// 0.0547. Flips: the small four sum to 0.04 or more for 6 of their 16 signs (of 5 4 3 2,
	// negative are none, 5, 4, 3, 2 or 3 and 2), the large four must all agree: 6/128 = 0.0469.
	d := []float64{-0.05, 0.04, 0.03, 0.02, 1, 1.1, 1.2, 1.3}
	s, _ := WilcoxonSignedRank(d)
	near(t, "rank p", s.P, 14.0/256, 1e-12)
	joint, _ := StepDown([][]float64{d})
	near(t, "flip p", joint[0], 6.0/128, 1e-12)
	e := Effect{Paired: true, Blocks: 8, P: s.P, Logs: d}
	for _, p := range Adjust([]Effect{e, e}) {
		near(t, "adjusted p", p, s.P, 1e-12)
	}
}
