package stats

import (
	"math"
	"math/rand/v2"
)

// NoiseModel is how a machine makes equal things measure unequal. Everything is on
// the logarithmic scale: 0.03 is 3 %.
type NoiseModel struct {
	Process    float64 // deviation between fresh processes of one target
	Drift      float64 // change of the whole machine from one run to the next
	StepChance float64 // per run, that the machine jumps to another level and stays
	StepSize   float64 // deviation of such a jump
	WildChance float64 // per run, that it alone is far off
	WildSize   float64 // deviation of such a run
}

// Design is the session that is simulated.
type Design struct {
	Blocks int
	// Rounds are in how many of the blocks each primary test runs, spread evenly; each
	// is a target, its base and the base's twin.
	Rounds []int
	Margin float64 // relative
	Effect float64 // relative difference that has to be found, such as 0.10
}

// Calibration says how often the verdicts of a design are right on a machine.
type Calibration struct {
	Noise  NoiseModel
	Design Design
	// Of sessions in which nothing differs: any BETTER or WORSE, and void by the twin.
	FalseDifference, Void Rate
	// Of tests in which nothing differs: EQUIVALENT.
	Confirmed Rate
	// Of sessions in which one test differs by Effect: that test BETTER.
	Found Rate
	// Of sessions in which one test differs by exactly the margin: that test EQUIVALENT.
	FalseEquivalent Rate
}

// Calibrate simulates sessions by the same blocks, twins and verdicts as the product
// and counts what the verdicts say. The same seed gives the same table.
func Calibrate(noise NoiseModel, design Design, sims int, seed uint64) Calibration {
	c := Calibration{Noise: noise, Design: design}
	r := rand.New(rand.NewPCG(seed, 0))
	different, void, confirmed, found, falseEqual := 0, 0, 0, 0, 0
	for range sims {
		equal := Verdicts(simulate(r, noise, design, 0))
		different += count(equal, Better, Worse)
		void += count(equal, Invalid)
		for _, v := range equal {
			confirmed += count([]Verdict{v}, Equivalent)
		}
		found += count(Verdicts(simulate(r, noise, design, design.Effect))[:1], Better)
		falseEqual += count(Verdicts(simulate(r, noise, design, design.Margin))[:1], Equivalent)
	}
	c.FalseDifference, c.Void = NewRate(different, sims), NewRate(void, sims)
	c.Confirmed = NewRate(confirmed, sims*len(design.Rounds))
	c.Found, c.FalseEquivalent = NewRate(found, sims), NewRate(falseEqual, sims)
	return c
}

// count returns 1 if any verdict is one of the words.
func count(verdicts []Verdict, words ...Word) int {
	for _, v := range verdicts {
		for _, w := range words {
			if v.Word == w {
				return 1
			}
		}
	}
	return 0
}

// simulate makes one session. A block has the tests in random order and within each
// its arms in random order, side by side: what the machine does between two tests
// falls on neither, as in the product. The target of the first test differs by
// effect, nothing else does.
func simulate(r *rand.Rand, noise NoiseModel, design Design, effect float64) []Test {
	const target, base, twin, arms = 0, 1, 2, 3
	family := len(design.Rounds)
	values := make([][arms][]float64, family)
	in := make([][]int, family) // the blocks of each test
	machine := 0.0
	for b := 1; b <= design.Blocks; b++ {
		for i := range in {
			if design.runs(i, b) {
				in[i] = append(in[i], b)
			}
		}
		for _, run := range blockOrder(r, family, arms) {
			if !design.runs(run/arms, b) {
				continue
			}
			machine += noise.Drift
			if r.Float64() < noise.StepChance {
				machine += noise.StepSize * r.NormFloat64()
			}
			log := machine + noise.Process*r.NormFloat64()
			if r.Float64() < noise.WildChance {
				log += noise.WildSize * r.NormFloat64()
			}
			test, arm := run/arms, run%arms
			if test == 0 && arm == target {
				log += math.Log1p(effect)
			}
			values[test][arm] = append(values[test][arm], 1000*math.Exp(log))
		}
	}
	tests := make([]Test, family)
	for i, v := range values {
		tests[i].Question = Question{Direction: HigherIsBetter, Margin: design.Margin}
		e, err := Pair(v[target], v[base])
		if err != nil { // a model that overflows is no session
			tests[i].Failed = []string{err.Error()}
			continue
		}
		e.In = in[i]
		tests[i].Effect = e
		if a, err := Pair(v[twin], v[base]); err == nil {
			a.In = in[i]
			tests[i].Twin = &a
		}
	}
	return tests
}

// runs reports whether a test is in a block (1-based).
func (d Design) runs(test, block int) bool {
	return block*d.Rounds[test]/d.Blocks > (block-1)*d.Rounds[test]/d.Blocks
}

// blockOrder is the order of a block: run i is arm i%arms of test i/arms.
func blockOrder(r *rand.Rand, family, arms int) []int {
	runs := make([]int, 0, family*arms)
	for _, test := range r.Perm(family) {
		for _, arm := range r.Perm(arms) {
			runs = append(runs, test*arms+arm)
		}
	}
	return runs
}

// MeasureNoise estimates the model from values of one target in the order they were
// measured, such as the base and its twin over a session; it needs 8.
//
// Drift is the Theil-Sen slope. Process comes from the differences of neighbours by
// their median distance, which neither drift nor a few jumps move. A difference
// beyond 4 of its deviations is a jump; two in a row of opposite sign are one wild
// run between them.
func MeasureNoise(values []float64) (NoiseModel, bool) {
	logs, err := logarithms("runs", values)
	if err != nil || len(logs) < 8 {
		return NoiseModel{}, false
	}
	steps := make([]float64, len(logs)-1)
	for i := range steps {
		steps[i] = logs[i+1] - logs[i]
	}
	typical, _ := Median(steps)
	distances := make([]float64, len(steps))
	for i, s := range steps {
		distances[i] = math.Abs(s - typical)
	}
	median, _ := Median(distances)
	scale := 1.4826 * median // of a normal deviation
	m := NoiseModel{Process: scale / math.Sqrt2}
	order := make([]float64, len(logs))
	for i := range order {
		order[i] = float64(i)
	}
	m.Drift, _ = TheilSen(order, logs)
	jumps, wild := outlying(steps, 4*scale)
	m.StepChance, m.StepSize = share(jumps, len(logs))
	m.WildChance, m.WildSize = share(wild, len(logs))
	return m, true
}

// outlying splits the differences beyond the limit into jumps and wild runs.
func outlying(steps []float64, limit float64) (jumps, wild []float64) {
	for i := 0; i < len(steps); i++ {
		if math.Abs(steps[i]) <= limit {
			continue
		}
		if i+1 < len(steps) && math.Abs(steps[i+1]) > limit && steps[i]*steps[i+1] < 0 {
			wild = append(wild, steps[i])
			i++
			continue
		}
		jumps = append(jumps, steps[i])
	}
	return jumps, wild
}

// share returns how many of n the values are and their root mean square.
func share(xs []float64, n int) (chance, size float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	return float64(len(xs)) / float64(n), math.Sqrt(dot(xs, xs) / float64(len(xs)))
}
