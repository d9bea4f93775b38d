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
