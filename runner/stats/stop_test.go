package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestStoppingRules(t *testing.T) {
	// Equal servers, up to four looks. 2000 simulations: standard error 0.0055 at 6.6 %,
	// 0.007 at 12 %. p alone may exceed 5 % under the rule that looks at precision (see
	// Precise); the verdict, which adds the margin, does not. Known-bad: until p < .05.
	const sims, margin = 2000, 0.05
	for _, deviation := range []float64{0.02, 0.04} {
		r := rand.New(rand.NewPCG(25, 0))
		ours, verdicts, pocock, peeking := 0.0, 0.0, 0.0, 0.0
		each, _ := PocockAlpha(len(looks))
		for range sims {
			d := normals(r, looks[len(looks)-1], 0)
			stopped, level, any := false, false, false
			for _, n := range looks {
				s, _ := WilcoxonSignedRank(d[:n])
				any = any || s.P < Alpha
				level = level || s.P < each
				scaled := make([]float64, n)
				for i := range scaled {
					scaled[i] = deviation * d[i]
				}
				e, _ := HodgesLehmann(scaled, 1-Alpha)
				if !stopped && (Precise(Effect{Log: e}, margin) || n == 20) {
					stopped = true
					ours += is(s.P < Alpha) / sims
					verdicts += is(s.P < Alpha && math.Abs(e.Value) > math.Log1p(margin)) / sims
				}
			}
			peeking += is(any) / sims
			pocock += is(level) / sims
		}
		if ours > 0.0825 || pocock > 0.065 {
			t.Errorf("deviation %g: false alarms %.3f by precision, %.3f by Pocock; want 0.066, 0.05 at most", deviation, ours, pocock)
		}
		if verdicts > 0.005 {
			t.Errorf("deviation %g: BETTER or WORSE in %.3f between equal servers", deviation, verdicts)
		}
		if peeking < 0.10 {
			t.Errorf("peeking: %.3f false alarms; the test has no power", peeking)
		}
	}
}

func TestPrecise(t *testing.T) {
	// Half of ln 1.05 is 0.0244.
	e := Effect{Log: Estimate{Lo: 0.10, Hi: 0.148, Reached: true}}
	if !Precise(e, 0.05) {
		t.Error("a half-width of 0.024 is precise enough")
	}
	e.Log.Hi = 0.150
	if Precise(e, 0.05) {
		t.Error("a half-width of 0.025 is not")
	}
	e.Log.Hi, e.Log.Reached = 0.101, false
	if Precise(e, 0.05) {
		t.Error("an interval that never reached its confidence is not")
	}
	if !Look(6) || !Look(20) || Look(7) {
		t.Error("looks are at 6, 10, 15 and 20")
	}
	if a, ok := PocockAlpha(4); !ok || a != 0.0182 {
		t.Errorf("four looks at %g", a)
	}
	if _, ok := PocockAlpha(6); ok {
		t.Error("six looks have a level")
	}
}

func TestSequentialDesignFails(t *testing.T) {
	// Two equal servers on a machine that slows 0.5 % a run and steps by 5 % at half
	// time, 10 runs each, 2 % noise. First all of one, then all of the other: told
	// apart in more than half. In shuffled blocks: at most 5 % (500 simulations: + 0.03).
	const sims = 500
	r := rand.New(rand.NewPCG(26, 0))
	sequential, blocked := 0.0, 0.0
	for range sims {
		run := make([]float64, 20)
		for i := range run {
			run[i] = math.Exp(-0.005*float64(i) + 0.02*r.NormFloat64())
			if i >= 10 {
				run[i] *= 0.95
			}
		}
		w, _ := WilcoxonRankSum(run[:10], run[10:])
		sequential += is(w.P < Alpha) / sims
		var a, b []float64
		for i := 0; i < 20; i += 2 {
			first := r.IntN(2)
			a, b = append(a, run[i+first]), append(b, run[i+1-first])
		}
		e, _ := Pair(a, b)
		blocked += is(e.P < Alpha) / sims
	}
	if blocked > 0.08 {
		t.Errorf("blocks: %.3f false alarms", blocked)
	}
	if sequential < 0.5 {
		t.Errorf("sequential: %.3f false alarms; the test has no power", sequential)
	}
}
