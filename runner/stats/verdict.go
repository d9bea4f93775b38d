package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Word is a verdict. There are five, and "no significant difference" is none.
type Word string

const (
	Invalid      Word = "INVALID"
	Equivalent   Word = "EQUIVALENT"
	Better       Word = "BETTER"
	Worse        Word = "WORSE"
	Inconclusive Word = "INCONCLUSIVE"
)

// Direction says which way a metric is good. Its zero value is neither, so that it
// cannot be forgotten.
type Direction string

const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
)

// Question is what a test asks. It is fixed before the first run.
type Question struct {
	Direction Direction
	Margin    float64 // relative, > 0: ratios within 1/(1+Margin)..1+Margin do not matter
	Floor     float64 // in the metric's unit, >= 0: differences below it do not matter whatever the ratio; 0 for none
}

func (q Question) validate() error {
	if q.Direction != HigherIsBetter && q.Direction != LowerIsBetter {
		return fmt.Errorf("direction %q is neither higher nor lower", q.Direction)
	}
	if !(q.Margin > 0) || math.IsInf(q.Margin, 1) || !(q.Floor >= 0) {
		return errors.New("the margin must be above 0 and the floor at least 0")
	}
	return nil
}

// Test is one member of the primary family.
type Test struct {
	Question Question
	Effect   Effect
	Twin     *Effect  // A/A effect in the same metric and blocks; nil if there was none
	Failed   []string // checks that void the test whatever it measured
}

// Verdict answers one test.
type Verdict struct {
	Word        Word
	Why         string   // one sentence, no full stop
	Ratio       Estimate // target/base, 95 %; its near end is what may be promised
	Equivalence Estimate // target/base, 90 %
	P, Adjusted float64  // alone, and over the family
	Blocks      int
	NoiseFloor  *float64 // ratio - 1 that the twin allows; nil without one
	// BlocksNeeded is set for INCONCLUSIVE only, when some number up to 500 would
	// settle it if the estimate and the noise stay as they are.
	BlocksNeeded *int
}

// Verdicts judges a whole session: it adjusts for the size of the family, voids
// everything when twins differ, and judges each test.
func Verdicts(tests []Test) []Verdict {
	effects := make([]Effect, len(tests))
	var twins []Effect
	seen := map[*Effect]bool{}
	for i, t := range tests {
		effects[i] = t.Effect
		if t.Twin != nil && !seen[t.Twin] {
			seen[t.Twin] = true
			twins = append(twins, *t.Twin)
		}
	}
	differ := TwinsDiffer(twins)
	verdicts := make([]Verdict, len(tests))
	for i, p := range Adjust(effects) {
		t := tests[i]
		if differ {
			t.Failed = append(slices.Clone(t.Failed), fmt.Sprintf("the A/A twin differs from itself at p < %g", VoidAlpha))
		}
		verdicts[i] = Judge(t, p, len(tests))
	}
	return verdicts
}

// Judge gives the verdict of one test from its family-wise adjusted p-value and the
// size of the family. The first that applies wins: INVALID if a check failed;
// EQUIVALENT if the 90 % interval lies inside the margin or the floor, be the
// difference significant or not; BETTER or WORSE if the adjusted p is below Alpha
// and the estimate is beyond margin, floor and noise; else INCONCLUSIVE.
func Judge(t Test, adjusted float64, family int) Verdict {
	e := t.Effect
	v := Verdict{
		Ratio: e.Log.exp(), Equivalence: e.Log90.exp(), P: e.P, Adjusted: adjusted, Blocks: e.Blocks,
	}
	floor := 0.0
	if t.Twin != nil {
		if noise, ok := NoiseOf(*t.Twin); ok {
			floor = noise.Floor
			ratio := math.Expm1(floor)
			v.NoiseFloor = &ratio
		}
	}
	failed := t.Failed
	if err := t.Question.validate(); err != nil {
		failed = append(slices.Clone(failed), err.Error())
	}
	doubts := t.doubts(adjusted, floor)
	switch {
	case len(failed) > 0:
		v.Word, v.Why = Invalid, strings.Join(failed, "; ")
	case e.Log90.inside(t.Question.bound()):
		v.Word, v.Why = Equivalent, "the 90 % interval lies inside the margin"
	case e.Difference.inside(t.Question.Floor):
		v.Word, v.Why = Equivalent, "the 90 % interval of the difference lies below the floor that matters"
	case len(doubts) > 0:
		v.Word, v.Why = Inconclusive, strings.Join(doubts, "; ")
		v.BlocksNeeded = t.blocksNeeded(floor, family)
	default:
		v.Word, v.Why = t.Question.side(e.Log.Value), "significant over the family and beyond the margin"
	}
	if v.Word == Equivalent && adjusted < Alpha {
		v.Why += "; the difference is real but immaterial"
	}
	return v
}

// bound is the margin on the logarithmic scale, the same in both directions.
func (q Question) bound() float64 { return math.Log1p(q.Margin) }

// side says whether a log-ratio that matters is good or bad for the target.
func (q Question) side(log float64) Word {
	if (log > 0) == (q.Direction == HigherIsBetter) {
		return Better
	}
	return Worse
}

// doubts lists what stands against BETTER or WORSE.
func (t Test) doubts(adjusted, noiseFloor float64) []string {
	var doubts []string
	e := t.Effect
	size := math.Abs(e.Log.Value)
	if !e.Log.Reached {
		doubts = append(doubts, fmt.Sprintf("%d blocks cannot carry a 95 %% interval, which takes %d", e.Blocks, e.Log.Needed))
	}
	if e.Disputed() {
		doubts = append(doubts, fmt.Sprintf("rank-sum p = %.3g and Welch p = %.3g disagree", e.P, *e.WelchP))
	}
	if !(adjusted < Alpha) {
		doubts = append(doubts, fmt.Sprintf("not significant over the family (p = %.3g)", adjusted))
	}
	if size <= t.Question.bound() {
		doubts = append(doubts, "the estimate is inside the margin but its interval is not")
	} else if math.Abs(e.Difference.Value) <= t.Question.Floor {
		doubts = append(doubts, "the estimate is below the floor but its interval is not")
	}
	if size <= noiseFloor {
		doubts = append(doubts, "the estimate is below the noise floor of the A/A twin")
	}
	return doubts
}

// blocksNeeded returns the blocks that would settle the test if estimate and
// deviation stay: to confirm equivalence if the estimate is inside the margin or
// the floor, else to detect it.
func (t Test) blocksNeeded(noiseFloor float64, family int) *int {
	e := t.Effect
	if e.Deviation == nil {
		return nil
	}
	size := math.Abs(e.Log.Value)
	var counts []int
	add := func(n int, ok bool) {
		if ok {
			counts = append(counts, n)
		}
	}
	add(blocksFor(t.Question.bound()-size, *e.Deviation, confirmable))
	add(blocksFor(t.Question.Floor-math.Abs(e.Difference.Value), *e.DifferenceDeviation, confirmable))
	if len(counts) == 0 && size > t.Question.bound() {
		n, ok := blocksFor(size, *e.Deviation, func(n int) float64 { return detectable(n, family) })
		if noiseFloor > size { // the twin's bound shrinks with the square root of the blocks
			n = max(n, int(math.Ceil(float64(e.Blocks)*noiseFloor*noiseFloor/(size*size))))
		}
		add(n, ok && n <= blocksMax)
	}
	if len(counts) == 0 {
		return nil
	}
	n := max(slices.Min(counts), e.Blocks+1)
	return &n
}
