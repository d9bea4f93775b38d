package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slicesOf returns n rates around 1000 with 1 % noise, times shape(second).
func slicesOf(r *rand.Rand, n int, shape func(s float64) float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 1000 * shape(float64(i)) * (1 + 0.01*r.NormFloat64())
	}
	return xs
}

func TestSteadyShapes(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		shape func(s float64) float64
		want  Shape
		least float64 // share of 100 seeds
	}{
		// Noise of 1 % passes CoV <= 2 % always, the trend test in 99 %; a tail that
		// passes later is still called flat.
		{"flat", 30, func(float64) float64 { return 1 }, Flat, 0.97},
		{"approaches with tau = 3 s", 30, func(s float64) float64 { return 1 - 0.5*math.Exp(-s/3) }, WarmUp, 0.95},
		{"falls 0.5 % a second", 30, func(s float64) float64 { return 1 - 0.005*s }, SlowDown, 0.95},
		{"drops and stays", 30, func(s float64) float64 {
			if s < 8 {
				return 1.2
			}
			return 1
		}, SlowDown, 0.95},
		{"square wave, 10 s", 30, func(s float64) float64 { return 1 + 0.1*math.Copysign(1, math.Mod(s, 10)-4.5) }, NoSteadyState, 0.99},
		{"square wave, 20 s", 60, func(s float64) float64 { return 1 + 0.1*math.Copysign(1, math.Mod(s, 20)-9.5) }, NoSteadyState, 0.99},
		{"still rising", 30, func(s float64) float64 { return 1 + 0.005*s }, NoSteadyState, 0.95},
	} {
		r := rand.New(rand.NewPCG(18, 0))
		right := 0.0
		for range 100 {
			s, ok := Steady(slicesOf(r, c.n, c.shape), DefaultSteadyRule())
			if !ok {
				t.Fatalf("%s: not judged", c.name)
			}
			right += is(s.Shape == c.want) / 100
		}
		if right < c.least {
			t.Errorf("%s: called %s in %.3f", c.name, c.want, right)
		}
	}
}

func TestSteadyFrom(t *testing.T) {
	xs := []float64{400, 700, 900, 1001, 999, 1000, 1002, 998, 1000, 1001, 999, 1000, 1002, 998, 1000}
	s, ok := Steady(xs, DefaultSteadyRule())
	if !ok || !s.Steady || s.Shape != WarmUp || s.From != 3 {
		t.Errorf("%+v, want warm-up, steady from slice 3", s)
	}
	for name, short := range map[string][]float64{"nine slices": xs[:9], "none": nil, "a silent second": append([]float64{0}, xs...)} {
		if _, ok := Steady(short, DefaultSteadyRule()); ok {
			t.Errorf("%s: judged", name)
		}
	}
}

func TestSteadyNeedsAllThree(t *testing.T) {
	// Each series passes two of the three conditions; figures by hand.
	for _, c := range []struct {
		fails string
		xs    []float64
	}{
		// Medians of halves 1002 and 1027, 2.4 % apart; S = 25 - 10 - 10, p = 0.73; CoV 1.3 %.
		{"halves", []float64{1004, 1003, 1002, 1001, 1000, 1029, 1028, 1027, 1026, 1025}},
		// Rises by 0.1 % a slice: p = 2/10!; halves 0.5 % apart, CoV 0.3 %.
		{"trend", []float64{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009}},
		// Alternates by 3 %: CoV 3.1 %; medians of halves (1030, 970, 1030, 970, 1030 and 970,
		// 1030, 970, 1031, 1029) equal within 0.1 %.
		{"deviation", []float64{1030, 970, 1030, 970, 1030, 970, 1030, 970, 1031, 1029}},
	} {
		s, ok := Steady(c.xs, DefaultSteadyRule())
		if !ok || s.Steady {
			t.Errorf("%s: %+v, want not steady", c.fails, s)
		}
		failed := map[string]bool{"halves": s.Halves > 0.02, "trend": s.TrendP <= 0.01, "deviation": s.CoV > 0.02}
		for name, f := range failed {
			if f != (name == c.fails) {
				t.Errorf("%s: %s failed %v in %+v", c.fails, name, f, s)
			}
		}
	}
}

func TestLastTenSlicesAreNotEnough(t *testing.T) {
	// Known-bad: deviation of the last ten slices, halves and trend, each as commonly
	// stated, pass a rate that jumps by 20 % every ten seconds.
	r := rand.New(rand.NewPCG(19, 0))
	xs := slicesOf(r, 60, func(s float64) float64 { return 1 + 0.1*math.Copysign(1, math.Mod(s, 20)-9.5) })
	last := describe(xs[50:])
	tail := describe(xs[20:])
	rule := DefaultSteadyRule()
	if last.CoV > rule.CoV || tail.Halves > rule.Halves || tail.TrendP <= rule.TrendP {
		t.Errorf("last ten %+v, tail %+v: the naive rule saw it; the test has no power", last, tail)
	}
	if s, _ := Steady(xs, rule); s.Steady {
		t.Errorf("%+v, want not steady", s)
	}
}
