package stats

import (
	"fmt"
	"math"
)

// Alpha is the level of every test that leads to a verdict: the chance of any
// wrong BETTER or WORSE in a session, and of a wrong EQUIVALENT in a test.
const Alpha = 0.05

// Effect is how much a target differs from its base in one metric. Logarithms are
// natural, of target/base, so that twice as fast and half as fast are equally far
// from 0; Ratio turns them back.
type Effect struct {
	Paired     bool
	Blocks     int      // pairs, or the smaller group
	Log        Estimate // 95 %
	Log90      Estimate // 90 %: inside the margin means equivalent at 5 % (two one-sided tests)
	Difference Estimate // 90 %, target - base in the metric's own unit
	P          float64  // two-sided, exact: signed-rank if paired, else rank-sum
	// Deviation is the sample deviation of one log-ratio, or for unpaired groups what
	// a pair drawn from them would have; DifferenceDeviation the same in the metric's
	// unit. Nil below two values.
	Deviation, DifferenceDeviation *float64
	// Logs are the paired log-ratios in block order; nil if unpaired.
	Logs []float64
	// In are the blocks of Logs, ascending; nil stands for 1 to Blocks. A family is
	// adjusted over the blocks that its members share.
	In []int
	// WelchP cross-checks unpaired groups; nil if paired or without variance.
	WelchP *float64
}

// Ratio returns the estimate of target/base.
func (e Effect) Ratio() Estimate { return e.Log.exp() }

func (e Estimate) exp() Estimate {
	e.Value, e.Lo, e.Hi = math.Exp(e.Value), math.Exp(e.Lo), math.Exp(e.Hi)
	return e
}

// inside reports whether the whole interval lies strictly between -bound and bound.
// An interval that never reached its confidence proves nothing.
func (e Estimate) inside(bound float64) bool {
	return e.Reached && -bound < e.Lo && e.Hi < bound
}

// Disputed reports whether two tests of unpaired groups disagree at Alpha.
func (e Effect) Disputed() bool {
	return e.WelchP != nil && (*e.WelchP < Alpha) != (e.P < Alpha)
}

// Pair compares values block by block: target[i] and base[i] are from the same
// block. What a block does to both (a warm machine, a noisy neighbour) cancels in
// their ratio. Values must be positive; logarithms are taken.
func Pair(target, base []float64) (Effect, error) {
	logs, err := LogRatios(target, base)
	if err != nil {
		return Effect{}, err
	}
	differences := make([]float64, len(logs))
	for i := range logs {
		differences[i] = target[i] - base[i]
	}
	e := Effect{Paired: true, Blocks: len(logs), Logs: logs}
	e.Log, _ = HodgesLehmann(logs, 1-Alpha)
	e.Log90, _ = HodgesLehmann(logs, 1-2*Alpha)
	e.Difference, _ = HodgesLehmann(differences, 1-2*Alpha)
	s, _ := WilcoxonSignedRank(logs)
	e.P = s.P
	e.Deviation = deviationOf(logs)
	e.DifferenceDeviation = deviationOf(differences)
	return e, nil
}

// Unpair compares two groups whose blocks are broken: some pairs lack a member.
// Pair is far more precise on a machine that drifts; this is the fallback.
func Unpair(target, base []float64) (Effect, error) {
	a, err := logarithms("target", target)
	if err != nil {
		return Effect{}, err
	}
	b, err := logarithms("base", base)
	if err != nil {
		return Effect{}, err
	}
	e := Effect{Blocks: min(len(a), len(b))}
	e.Log, _ = Shift(a, b, 1-Alpha)
	e.Log90, _ = Shift(a, b, 1-2*Alpha)
	e.Difference, _ = Shift(target, base, 1-2*Alpha)
	m, _ := WilcoxonRankSum(a, b)
	e.P = m.P
	if w, ok := WelchTest(a, b); ok {
		e.WelchP = &w.P
	}
	e.Deviation = joined(deviationOf(a), deviationOf(b))
	e.DifferenceDeviation = joined(deviationOf(target), deviationOf(base))
	return e, nil
}

// LogRatios returns ln(target[i]/base[i]) in the order given.
func LogRatios(target, base []float64) ([]float64, error) {
	if len(target) != len(base) {
		return nil, fmt.Errorf("pair blocks: %d values of the target and %d of its base", len(target), len(base))
	}
	a, err := logarithms("target", target)
	if err != nil {
		return nil, err
	}
	b, err := logarithms("base", base)
	if err != nil {
		return nil, err
	}
	for i := range a {
		a[i] -= b[i]
	}
	return a, nil
}

func logarithms(of string, xs []float64) ([]float64, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("compare %s: there are no values", of)
	}
	logs := make([]float64, len(xs))
	for i, x := range xs {
		if !(x > 0) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("compare %s: value %d is %g; a ratio needs positive numbers", of, i+1, x)
		}
		logs[i] = math.Log(x)
	}
	return logs, nil
}

func deviationOf(xs []float64) *float64 {
	if s, ok := SampleDeviation(xs); ok {
		return &s
	}
	return nil
}

func joined(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	s := math.Hypot(*a, *b)
	return &s
}
