package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestCalibrate(t *testing.T) {
	// A restless machine: 2.5 % between processes, drift, a jump of about 8 % in one run
	// of fifty, one run in fifty wild. 10 blocks, 8 tests. 200 simulations: three
	// standard errors are 0.046 at 5 %, 0.021 at 1 %.
	noise := NoiseModel{Process: 0.025, Drift: 0.0005, StepChance: 0.02, StepSize: 0.08, WildChance: 0.02, WildSize: 0.15}
	c := Calibrate(noise, Design{Blocks: 10, Rounds: eight(10), Margin: 0.05, Effect: 0.10}, 200, 27)
	if c.FalseDifference.Share > 0.05+0.046 || c.Void.Share > 0.01+0.021 {
		t.Errorf("nothing differs: BETTER or WORSE in %v, void in %v", c.FalseDifference, c.Void)
	}
	if c.FalseEquivalent.Share > 0.05+0.046 {
		t.Errorf("at the margin: EQUIVALENT in %v", c.FalseEquivalent)
	}
	if c.Found.Trials != 200 || c.Confirmed.Trials != 200*8 {
		t.Errorf("%d and %d trials", c.Found.Trials, c.Confirmed.Trials)
	}
	again := Calibrate(noise, Design{Blocks: 10, Rounds: eight(10), Margin: 0.05, Effect: 0.10}, 20, 27)
	if !reflect.DeepEqual(again, Calibrate(noise, Design{Blocks: 10, Rounds: eight(10), Margin: 0.05, Effect: 0.10}, 20, 27)) {
		t.Error("the same seed gave another table")
	}
}

// eight tests in every block.
func eight(blocks int) []int { return slices.Repeat([]int{blocks}, 8) }

// Rounds decide the power of a test: 16 of 16 blocks find what 6 of 16 do not, and the
// tests that skip blocks still keep the family's level.
func TestCalibrateCountsRounds(t *testing.T) {
	noise := NoiseModel{Process: 0.05}
	many := Calibrate(noise, Design{Blocks: 12, Rounds: []int{12, 6, 6, 6}, Margin: 0.05, Effect: 0.10}, 200, 34)
	few := Calibrate(noise, Design{Blocks: 12, Rounds: []int{6, 6, 12, 12}, Margin: 0.05, Effect: 0.10}, 200, 34)
	// A pair deviates by 7.1 %: 12 pairs find 0.93 of that and more, which is 6.8 %; 6
	// pairs 1.8, 13.6 %.
	if many.Found.Share < 0.7 || few.Found.Share > 0.5 || many.FalseDifference.Share > 0.05+0.046 || few.FalseDifference.Share > 0.05+0.046 {
		t.Errorf("12 pairs: %+v; 6 pairs: %+v", many, few)
	}
	d := Design{Blocks: 16, Rounds: []int{16, 12, 6}}
	for i, want := range d.Rounds {
		n := 0
		for b := 1; b <= d.Blocks; b++ {
			if d.runs(i, b) {
				n++
			}
		}
		if n != want {
			t.Errorf("test %d runs in %d of 16 blocks, want %d", i, n, want)
		}
	}
}

func TestCalibrateFindsOnAQuietMachineOnly(t *testing.T) {
	design := Design{Blocks: 8, Rounds: eight(8), Margin: 0.05, Effect: 0.10}
	quiet := Calibrate(NoiseModel{Process: 0.02}, design, 200, 28)
	if quiet.Found.Share < 0.80 {
		t.Errorf("2 %% noise: +10 %% found in %v", quiet.Found)
	}
	// The table can fail, by each member of the model alone: where neighbours differ by
	// 10 % and more nobody finds 10 % in 8 blocks.
	for name, noise := range map[string]NoiseModel{
		"process": {Process: 0.12},
		"drift":   {Process: 0.02, Drift: 0.10},
		"steps":   {Process: 0.02, StepChance: 0.5, StepSize: 0.3},
		"wild":    {Process: 0.02, WildChance: 0.5, WildSize: 0.5},
	} {
		loud := Calibrate(noise, design, 60, 29)
		if loud.Found.Share > 0.4 || loud.Confirmed.Share > 0.1 {
			t.Errorf("%s: found %v, confirmed %v", name, loud.Found, loud.Confirmed)
		}
	}
}

func TestMeasureNoise(t *testing.T) {
	// Truth: 3 % between processes, 0.1 % drift a run, two jumps of 0.3, one wild run.
	// 400 values: the standard error of the median distance is about 4 % of the scale.
	r := rand.New(rand.NewPCG(30, 0))
	values := make([]float64, 400)
	for i := range values {
		log := 0.001*float64(i) + 0.03*r.NormFloat64()
		if i >= 120 && i < 280 {
			log += 0.3
		}
		if i == 200 {
			log += 0.9
		}
		values[i] = math.Exp(log)
	}
	m, ok := MeasureNoise(values)
	if !ok {
		t.Fatal("no model")
	}
	near(t, "process", m.Process, 0.03, 0.004)
	near(t, "drift", m.Drift, 0.001, 0.0006)
	near(t, "chance of a jump", m.StepChance, 2.0/400, 1e-12)
	near(t, "size of a jump", m.StepSize, 0.3, 0.08)
	near(t, "chance of a wild run", m.WildChance, 1.0/400, 1e-12)
	near(t, "size of a wild run", m.WildSize, 0.9, 0.1)
	// Known-bad: the plain deviation calls drift and jumps noise between processes.
	logs, _ := logarithms("runs", values)
	if s, _ := SampleDeviation(logs); s < 3*0.03 {
		t.Errorf("plain deviation %g; the test has no power", s)
	}
	if _, ok := MeasureNoise(values[:7]); ok {
		t.Error("seven values made a model")
	}
}

// The arms of a test stand side by side, as in the product: a jump of the machine
// between two tests falls on neither. One flat shuffle leaves most of a block
// between target and base, and half of the blocks with a jump between them.
func TestSimulatedBlocksKeepPairsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 0))
	tests, first := map[int]bool{}, map[int]bool{}
	for range 100 {
		seen := map[int]bool{}
		order := blockOrder(r, 7, 3)
		for i, run := range order {
			seen[run] = true
			if run/3 != order[i-i%3]/3 {
				t.Fatalf("%v: run %d is not beside its test's others", order, run)
			}
		}
		if len(order) != 21 || len(seen) != 21 {
			t.Fatalf("%v: want 21 runs, each once", order)
		}
		tests[order[0]/3], first[order[0]%3] = true, true
	}
	if len(tests) != 7 || len(first) != 3 {
		t.Errorf("tests %v and arms %v came first in 100 blocks; want all", tests, first)
	}
	noise := NoiseModel{Process: 0.02, StepChance: 0.05, StepSize: 0.2}
	c := Calibrate(noise, Design{Blocks: 8, Rounds: eight(8)[:7], Margin: 0.05, Effect: 0.10}, 200, 32)
	// By hand: a jump falls between two arms that stand 1 or 2 runs apart (4/3 on the
	// average) with 0.065 a block, so 4 sessions in 10 have a spoilt pair; flat, they
	// stand 7 apart, 0.31 a block, and 95 in 100 have one.
	if c.Found.Share < 0.5 {
		t.Errorf("found %v", c.Found)
	}
}
