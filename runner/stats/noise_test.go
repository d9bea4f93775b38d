package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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
	// Unequal numbers of blocks, 1 to 6 and 1 to 5: joint flips too, each at its own
	// smallest p.
	unequal := Adjust([]Effect{strong, shorter})
	near(t, "six of six", unequal[0], 2.0/64, 1e-15)
	near(t, "five of six", unequal[1], 2.0/32, 1e-15)
	// Unpaired: Holm, 2 * 2/64 and 2/32.
	shorter.Paired = false
	holm := Adjust([]Effect{strong, shorter})
	near(t, "Holm", holm[0], 4.0/64, 1e-15)
	near(t, "Holm, last", holm[1], 2.0/32, 1e-15)
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

// Two effects in different blocks: {1, 1, 1} in 1, 2, 3 and {1, 1, 1} in 2, 3, 4 share
// two blocks. Of the 8 flips with the first sign fixed, the maximum of both sums
// reaches 3 when blocks 1 to 3 agree (2 flips) or 2 to 4 do (2 flips), of which one is
// both: 3 of 8.
func TestAFamilyOverBlocksThatDiffer(t *testing.T) {
	three := Effect{Paired: true, Blocks: 3, P: 0.25, Logs: []float64{1, 1, 1}, In: []int{1, 2, 3}}
	later := three
	later.In = []int{2, 3, 4}
	for _, p := range Adjust([]Effect{three, later}) {
		near(t, "p", p, 3.0/8, 1e-15)
	}
	// The same blocks flip together: 1 of 4.
	for _, p := range Adjust([]Effect{three, three}) {
		near(t, "p in the same blocks", p, 1.0/4, 1e-15)
	}
}

// Six nulls that a block moves together, three of which skip every other block.
func TestARaggedFamilyKeepsItsLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 0))
	const sims = 1000
	wrong := 0
	for range sims {
		var family []Effect
		shared := make([]float64, 12)
		for b := range shared {
			shared[b] = r.NormFloat64()
		}
		for i := range 6 {
			var e Effect
			for b := range 12 {
				if i%2 == 0 || b%2 == 0 {
					e.Logs, e.In = append(e.Logs, 0.8*shared[b]+r.NormFloat64()), append(e.In, b+1)
				}
			}
			s, _ := WilcoxonSignedRank(e.Logs)
			e.Paired, e.Blocks, e.P = true, len(e.Logs), s.P
			family = append(family, e)
		}
		if slices.Min(Adjust(family)) < Alpha {
			wrong++
		}
	}
	// 5 % plus three standard errors of 1000 simulations, 0.021; Holm's or no
	// adjustment's share would be far above: six tests alone give up to 1 - 0.95^6 = 0.26.
	if share := float64(wrong) / sims; share > 0.071 || share == 0 {
		t.Errorf("false alarms in %.3f of families", share)
	}
}
