package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rates are base values of ten blocks: a machine that drifts by a third.
var rates = []float64{67e3, 70e3, 72e3, 75e3, 79e3, 81e3, 84e3, 86e3, 88e3, 90e3}

// wobble is a block-to-block noise of 1 % without any tie.
var wobble = []float64{0.004, -0.011, 0.013, -0.006, 0.009, -0.014, 0.002, 0.016, -0.003, -0.008}

// scaled returns the rates times ratio with a wobble of the given size.
func scaled(ratio, size float64) []float64 {
	xs := slices.Clone(rates)
	for i := range xs {
		xs[i] *= ratio * math.Exp(size*wobble[i])
	}
	return xs
}

func pair(t *testing.T, target, base []float64) Effect {
	t.Helper()
	e, err := Pair(target, base)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestJudge(t *testing.T) {
	higher := Question{Direction: HigherIsBetter, Margin: 0.05}
	lower := Question{Direction: LowerIsBetter, Margin: 0.05}
	loud := pair(t, scaled(1, 30), rates) // twin that wanders by 30 %
	for _, c := range []struct {
		name     string
		question Question
		target   []float64
		blocks   int
		twin     *Effect
		failed   []string
		adjusted float64 // 0: the test's own p
		want     Word
		why      string
	}{
		{name: "more is better", question: higher, target: scaled(1.2, 1), want: Better},
		{name: "less is worse", question: higher, target: scaled(1/1.2, 1), want: Worse},
		{name: "more is worse", question: lower, target: scaled(1.2, 1), want: Worse},
		{name: "less is better", question: lower, target: scaled(1/1.2, 1), want: Better},
		{name: "equal", question: higher, target: scaled(1, 1), want: Equivalent},
		{name: "real but immaterial", question: higher, target: scaled(1.03, 1), want: Equivalent, why: "immaterial"},
		{name: "too noisy to call equal", question: higher, target: scaled(1, 10), want: Inconclusive, why: "inside the margin"},
		{name: "significant at the edge", question: higher, target: scaled(1.049, 1), want: Inconclusive, why: "inside the margin"},
		{name: "lost in the family", question: higher, target: scaled(1.2, 1), adjusted: 0.06, want: Inconclusive, why: "family"},
		{name: "below the twin's spread", question: higher, target: scaled(1.2, 1), twin: &loud, want: Inconclusive, why: "A/A"},
		{name: "five blocks", question: higher, target: scaled(1.2, 1), blocks: 5, want: Inconclusive, why: "takes 6"},
		{name: "five blocks and a wrong p", question: higher, target: scaled(1.2, 1), blocks: 5, adjusted: 0.001, want: Inconclusive, why: "takes 6"},
		{name: "below the floor", question: Question{HigherIsBetter, 0.05, 30e3}, target: scaled(1.2, 1), want: Equivalent, why: "floor"},
		{name: "above the floor", question: Question{HigherIsBetter, 0.05, 5e3}, target: scaled(1.2, 1), want: Better},
		{name: "around the floor", question: Question{HigherIsBetter, 0.05, 16e3}, target: scaled(1.2, 1), want: Inconclusive, why: "floor"},
		{name: "check failed, effect or not", question: higher, target: scaled(1.2, 1), failed: []string{"generator-limited"}, want: Invalid, why: "generator-limited"},
		{name: "check failed, equal", question: higher, target: scaled(1, 1), failed: []string{"steal"}, want: Invalid},
		{name: "no direction", question: Question{Margin: 0.05}, target: scaled(1.2, 1), want: Invalid, why: "direction"},
		{name: "no margin", question: Question{Direction: HigherIsBetter}, target: scaled(1, 1), want: Invalid, why: "margin"},
	} {
		n := len(rates)
		if c.blocks > 0 {
			n = c.blocks
		}
		e := pair(t, c.target[:n], rates[:n])
		if c.adjusted == 0 {
			c.adjusted = e.P
		}
		v := Judge(Test{Question: c.question, Effect: e, Twin: c.twin, Failed: c.failed}, c.adjusted, 1)
		if v.Word != c.want || !strings.Contains(v.Why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, v.Word, v.Why, c.want, c.why)
		}
		if v.BlocksNeeded != nil && (v.Word != Inconclusive || *v.BlocksNeeded <= n) {
			t.Errorf("%s: %s needs %d blocks, has %d", c.name, v.Word, *v.BlocksNeeded, n)
		}
	}
}

func TestPairingRemovesTheMachine(t *testing.T) {
	// The same numbers: paired they differ by 4 % without a doubt; unpaired the drift
	// of the machine, a third, hides it.
	paired := pair(t, scaled(1.04, 1), rates)
	unpaired, err := Unpair(scaled(1.04, 1), rates)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ratio", paired.Ratio().Value, 1.04, 0.004)
	if paired.P >= Alpha || unpaired.P < 0.3 {
		t.Errorf("paired p = %g, unpaired p = %g", paired.P, unpaired.P)
	}
	if unpaired.Disputed() || unpaired.Logs != nil || unpaired.Paired {
		t.Errorf("%+v", unpaired)
	}
}

func TestBlocksNeededAgainstTheTwin(t *testing.T) {
	// The effect is ln 1.2 = 0.182, the twin allows f = 0.3 or so at 10 blocks. Its bound
	// shrinks with the square root of the blocks: 10 (f/0.182)^2 of them.
	twin := pair(t, scaled(1, 45), rates)
	noise, _ := NoiseOf(twin)
	v := Judge(Test{Question: Question{HigherIsBetter, 0.05, 0}, Effect: pair(t, scaled(1.2, 1), rates), Twin: &twin}, 0.001, 1)
	size := math.Log(v.Ratio.Value)
	want := int(math.Ceil(10 * noise.Floor * noise.Floor / size / size))
	if v.Word != Inconclusive || v.BlocksNeeded == nil || *v.BlocksNeeded != want || want < 20 {
		t.Errorf("%+v, want INCONCLUSIVE, %d blocks", v, want)
	}
}

func TestPairByHand(t *testing.T) {
	// Blocks 2/1, 4/2, 12/4, 16/8, 20/10: ratios 2, 2, 3, 2, 2; differences 1, 2, 8, 8, 10,
	// of whose 15 pair means (1 1.5 2 4.5 4.5 5 5 5.5 6 8 8 8 9 9 10) the middle is 5.5.
	e := pair(t, []float64{2, 4, 12, 16, 20}, []float64{1, 2, 4, 8, 10})
	near(t, "ratio", e.Ratio().Value, 2, 1e-12)
	near(t, "difference", e.Difference.Value, 5.5, 1e-12)
	near(t, "logs keep the order", e.Logs[2], math.Log(3), 1e-12)
	near(t, "p", e.P, 2.0/32, 1e-12)
	if e.Blocks != 5 || e.Log.Reached || !e.Log90.Reached {
		t.Errorf("%+v, want 5 blocks that reach 90 %% only", e)
	}
}

func TestDisputedIsInconclusive(t *testing.T) {
	// One wild run in eight: ranks see seven of eight above, the means are lost in the
	// variance. Rank-sum p < .05, Welch p > .05.
	base := []float64{100, 101, 102, 103, 104, 105, 106, 107}
	target := []float64{120, 121, 122, 123, 124, 125, 126, 30}
	e, err := Unpair(target, base)
	if err != nil {
		t.Fatal(err)
	}
	if e.P >= Alpha || !e.Disputed() {
		t.Fatalf("p = %g, Welch %g: the example is no example", e.P, *e.WelchP)
	}
	v := Judge(Test{Question: Question{HigherIsBetter, 0.05, 0}, Effect: e}, e.P, 1)
	if v.Word != Inconclusive || !strings.Contains(v.Why, "disagree") {
		t.Errorf("%s: %s", v.Word, v.Why)
	}
}

func TestEffectRefusesWhatHasNoRatio(t *testing.T) {
	for name, c := range map[string][2][]float64{
		"zero":    {{1, 0}, {1, 1}},
		"NaN":     {{1, math.NaN()}, {1, 1}},
		"lengths": {{1, 2, 3}, {1, 2}},
		"nothing": {nil, nil},
	} {
		if _, err := Pair(c[0], c[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Unpair([]float64{1}, nil); err == nil {
		t.Error("an empty group was compared")
	}
}

// words simulates one test of the given true ratio and counts its verdicts.
func words(seed uint64, sims, blocks int, ratio, deviation float64, q Question) map[Word]float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	counts := map[Word]float64{}
	target, base := make([]float64, blocks), make([]float64, blocks)
	for range sims {
		for i := range base {
			base[i] = 1000 * math.Exp(0.15*r.NormFloat64()) // what a block does to both
			target[i] = base[i] * ratio * math.Exp(deviation*r.NormFloat64())
		}
		e, _ := Pair(target, base)
		counts[Judge(Test{Question: q, Effect: e}, e.P, 1).Word] += 1 / float64(sims)
	}
	return counts
}

func TestVerdictRates(t *testing.T) {
	// 10 blocks, deviation 3 %, margin 5 %. 2000 simulations: standard error of 5 % is
	// 0.0049, so 0.065 is three above it.
	q := Question{HigherIsBetter, 0.05, 0}
	equal := words(11, 2000, 10, 1, 0.03, q)
	if equal[Equivalent] < 0.80 || equal[Better]+equal[Worse] > 0.03 {
		t.Errorf("true ratio 1: %v", equal)
	}
	edge := words(12, 2000, 10, 1.05, 0.03, q)
	if edge[Equivalent] > 0.065 {
		t.Errorf("true ratio at the margin: %v", edge)
	}
	large := words(13, 1000, 10, 1.20, 0.03, q)
	if large[Better] < 0.95 || large[Worse] > 0 {
		t.Errorf("true ratio 1.20: %v", large)
	}
	// The floor, 100 of 1000, is its own margin: a true difference of exactly that is
	// called equivalent in at most 5 %, although the block moves both by 15 %.
	floor := words(14, 2000, 10, 1.10, 0.03, Question{HigherIsBetter, 0.02, 100})
	if floor[Equivalent] > 0.065 {
		t.Errorf("true difference at the floor: %v", floor)
	}
	// Known-bad: "no significant difference, hence the same". At the margin, with 6
	// blocks and 5 % noise, that is wrong most of the time.
	r := rand.New(rand.NewPCG(15, 0))
	same := 0.0
	for range 1000 {
		d := normals(r, 6, math.Log(1.05)/0.05)
		s, _ := WilcoxonSignedRank(d)
		same += is(s.P >= Alpha) / 1000
	}
	if same < 0.5 {
		t.Errorf("absence of evidence was wrong in only %.3f; the test has no power", same)
	}
}

func TestVerdictsOverAFamily(t *testing.T) {
	twin := pair(t, scaled(1, 1), rates)
	q := Question{HigherIsBetter, 0.05, 0}
	verdicts := Verdicts([]Test{
		{Question: q, Effect: pair(t, scaled(1.2, 1), rates), Twin: &twin},
		{Question: q, Effect: pair(t, scaled(1, -1), rates), Twin: &twin},
		{Question: q, Effect: pair(t, scaled(1.2, 1), rates), Twin: &twin, Failed: []string{"idle server"}},
	})
	for i, want := range []Word{Better, Equivalent, Invalid} {
		if verdicts[i].Word != want || verdicts[i].NoiseFloor == nil {
			t.Errorf("test %d: %+v, want %s", i, verdicts[i], want)
		}
	}
	// A twin that differs from itself voids them all.
	broken := pair(t, scaled(1.02, 1), rates)
	for i, v := range Verdicts([]Test{
		{Question: q, Effect: pair(t, scaled(1.2, 1), rates), Twin: &twin},
		{Question: q, Effect: pair(t, scaled(1, -1), rates), Twin: &broken},
	}) {
		if v.Word != Invalid || !strings.Contains(v.Why, "A/A") {
			t.Errorf("test %d: %s (%s), want INVALID", i, v.Word, v.Why)
		}
	}
	if len(Verdicts(nil)) != 0 {
		t.Error("a verdict on nothing")
	}
}
