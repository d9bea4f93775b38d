package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHolm(t *testing.T) {
	// R: p.adjust(c(.01,.04,.03,.005,.5), "holm")
	ps := []float64{0.01, 0.04, 0.03, 0.005, 0.5}
	given := slices.Clone(ps)
	want := []float64{0.040, 0.090, 0.090, 0.025, 0.500}
	for i, p := range Holm(ps) {
		near(t, "Holm", p, want[i], 1e-12)
	}
	if !slices.Equal(ps, given) {
		t.Error("the caller's slice was changed")
	}
	if p := Holm([]float64{0.6, 0.7})[0]; p != 1 {
		t.Errorf("adjusted p = %g, want at most 1", p)
	}
}

func TestStepDownByHand(t *testing.T) {
	// One metric, 3 blocks, d = 1, 2, 3: flips with the first sign fixed give |sums| 6,
	// 2, 0, 4; one of four reaches 6, so p = 1/4 = 2/2^3.
	one, ok := StepDown([][]float64{{1, 2, 3}})
	if !ok || one[0] != 0.25 {
		t.Errorf("%v, want 0.25", one)
	}
	// A second metric 1, -1, 1 (unit length: u = |sum|/sqrt 3; first: |sum|/sqrt 14).
	//   flip     first          second         larger
	//   + + +    6/3.742=1.604  1/1.732=0.577  1.604
	//   + - +    2/3.742=0.535  3/1.732=1.732  1.732
	//   + + -    0              1/1.732=0.577  0.577
	//   + - -    4/3.742=1.069  1/1.732=0.577  1.069
	// First: 2 of 4 reach 1.604. Second, alone: 4 of 4 reach 0.577.
	two, _ := StepDown([][]float64{{1, 2, 3}, {1, -1, 1}})
	if two[0] != 0.5 || two[1] != 1 {
		t.Errorf("%v, want 0.5 and 1", two)
	}
	if all, _ := StepDown([][]float64{{0, 0, 0}}); all[0] != 1 {
		t.Errorf("nothing differs, p = %v, want 1", all)
	}
	if _, ok := StepDown([][]float64{{1, 2}, {1}}); ok {
		t.Error("rows of unequal length were taken")
	}
}

// familyRates returns the share of all-null sessions of 8 metrics in which each
// procedure calls at least one of them different, and the share in which it finds
// a planted effect of 10 % in the first metric when the other seven are null. Block
// noise is 3 % and half of it is common to all metrics of a block.
func familyRates(sims, blocks int, effect float64) (none, holm, joint float64) {
	r := rand.New(rand.NewPCG(6, uint64(blocks)))
	for range sims {
		metrics := make([][]float64, 8)
		common := make([]float64, blocks)
		for b := range common {
			common[b] = r.NormFloat64()
		}
		ps := make([]float64, len(metrics))
		for i := range metrics {
			for _, c := range common {
				metrics[i] = append(metrics[i], 0.03*(c+r.NormFloat64())/math.Sqrt2)
			}
			if i == 0 {
				for b := range metrics[i] {
					metrics[i][b] += effect
				}
			}
			s, _ := WilcoxonSignedRank(metrics[i])
			ps[i] = s.P
		}
		if effect != 0 { // only the first counts as found
			adjusted, _ := StepDown(metrics)
			none += is(ps[0] < 0.05)
			holm += is(Holm(ps)[0] < 0.05)
			joint += is(adjusted[0] < 0.05)
			continue
		}
		adjusted, _ := StepDown(metrics)
		none += is(slices.Min(ps) < 0.05)
		holm += is(slices.Min(Holm(ps)) < 0.05)
		joint += is(slices.Min(adjusted) < 0.05)
	}
	n := float64(sims)
	return none / n, holm / n, joint / n
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestFamilyFalseAlarms(t *testing.T) {
	// At most 5 % of all-null sessions; 1000 simulations add 3 * 0.0069 = 0.021.
	none, holm, joint := familyRates(1000, 10, 0)
	if holm > 0.071 || joint > 0.071 {
		t.Errorf("false alarms: Holm %.3f, step-down %.3f; want at most 0.05", holm, joint)
	}
	// Known-bad: eight tests at 5 % each, here less than 1 - .95^8 = 0.34 as they correlate.
	if none < 0.15 {
		t.Errorf("unadjusted false alarms %.3f; the test has no power", none)
	}
}

func TestHolmStarvesAtSixBlocks(t *testing.T) {
	// The effect is 10 % against a noise of 3 %: nobody would miss it by eye. Holm over
	// exact rank tests cannot see it at 6 blocks (8 * 2/64 = 0.25), at any size.
	_, holm, joint := familyRates(300, 6, math.Log(1.10))
	if holm != 0 {
		t.Errorf("Holm finds it in %.3f; it should not be able to", holm)
	}
	if joint < 0.80 {
		t.Errorf("step-down finds it in %.3f, want at least 0.80", joint)
	}
}

func TestStepDownSampledAgreesWithEnumeration(t *testing.T) {
	// 21 blocks are sampled. Twenty equal differences of either sign and one zero:
	// the zero changes nothing, so the enumerated p of 20 blocks is the truth. The
	// standard error of p = 0.115 from 65 536 flips is 0.0012.
	d := append(slices.Repeat([]float64{1}, 14), slices.Repeat([]float64{-1}, 6)...)
	exact, _ := StepDown([][]float64{d})
	sampled, _ := StepDown([][]float64{append(d, 0)})
	near(t, "exact, 2 P(X >= 14), X ~ binomial(20, 1/2)", exact[0], 0.1153182983, 1e-9) // R: 2*pbinom(13,20,.5,lower=FALSE)
	near(t, "sampled", sampled[0], exact[0], 0.004)
}
