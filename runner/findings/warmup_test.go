package findings

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

var steadyRules = record.SteadyRules{RateDrift: 0.02, LatencyDrift: 0.10, LatencyFloor: 500 * time.Microsecond, P: 0.05, TrendP: 0.01}

// timeline is 12 slices of warm-up and 16 of window, 100 ms each, of a server whose
// speed at an age in seconds is given; a slice has noise of 5 %.
func timeline(r *rand.Rand, noise func() float64, speed func(age float64) float64) []record.Slice {
	level := 1000 * math.Exp(0.03*r.NormFloat64()) // processes differ
	var all []record.Slice
	for k := range 28 {
		rate := level * speed(float64(k)/10) * (1 + noise())
		all = append(all, record.Slice{Start: time.Duration(k-12) * 100 * ms, Length: 100 * ms, Right: uint64(rate), Max: time.Duration(1e9 / rate * float64(ms) / 100)})
	}
	return all
}

// white noise, and noise that lasts: each slice keeps 0.6 of the one before.
func white(r *rand.Rand) func() float64 { return func() float64 { return 0.05 * r.NormFloat64() } }

func lasting(r *rand.Rand) func() float64 {
	x := 0.05 * r.NormFloat64()
	return func() float64 {
		x = 0.6*x + 0.8*0.05*r.NormFloat64()
		return x
	}
}

// warmed is the cell of n such processes.
func warmed(r *rand.Rand, n int, noise func(*rand.Rand) func() float64, speed func(process int, age float64) float64) *Cell {
	c := &Cell{Kind: record.Closed}
	for i := range n {
		slices := timeline(r, noise(r), func(age float64) float64 { return speed(i, age) })
		c.Processes = append(c.Processes, Process{run: &record.Run{Load: &record.LoadResult{Timeline: slices}}})
	}
	c.lookAtWarmup(steadyRules)
	return c
}

// TestWarmup is the table of method D5, ten times as fast, over eight processes.
func TestWarmup(t *testing.T) {
	wave := func(age, period float64) float64 {
		return 1 + 0.1*math.Copysign(1, math.Mod(age, period)-period/2)
	}
	for _, c := range []struct {
		name   string
		noise  func(*rand.Rand) func() float64
		speed  func(process int, age float64) float64
		shape  stats.Shape
		steady bool
		least  float64 // share of 200 seeds
	}{
		{"flat", white, func(int, float64) float64 { return 1 }, stats.Flat, true, 0.95},
		{"flat, with noise that lasts", lasting, func(int, float64) float64 { return 1 }, stats.Flat, true, 0.90},
		{"approaches with tau = 0.3 s", white, func(_ int, age float64) float64 { return 1 - 0.5*math.Exp(-age/0.3) }, stats.WarmUp, true, 0.95},
		{"faster for 0.8 s", white, func(_ int, age float64) float64 { return 1 + 0.2*b2f(age < 0.8) }, stats.SlowDown, true, 0.95},
		// Over the 0.8 s between the halves' middles: 6.4 % of some 0.86.
		{"falls 8 % a second", white, func(_ int, age float64) float64 { return 1 - 0.08*age }, stats.SlowDown, false, 0.90},
		{"still rises 8 % a second", white, func(_ int, age float64) float64 { return 1 + 0.08*age }, stats.NoSteadyState, false, 0.90},
		{"square wave of 0.6 s", white, func(_ int, age float64) float64 { return wave(age, 0.6) }, stats.NoSteadyState, false, 0.95},
		// Up in one, down in the next, so that all together they do not drift. Of 15
		// slices a step in the middle has p = 0.006, and a fifth of them is not seen.
		{"each process steps by 20 %, in about the middle", white, func(i int, age float64) float64 {
			return 1 + []float64{0.2, -0.2}[i%2]*b2f(age > 1.95+0.02*float64(i))
		}, stats.NoSteadyState, false, 0.75},
	} {
		r := rand.New(rand.NewPCG(5, 0))
		right := 0.0
		for range 200 {
			w := warmed(r, 8, c.noise, c.speed).Warmup
			right += b2f(w.Shape == c.shape && w.Steady == c.steady && (w.After != nil) == c.steady) / 200
		}
		if right < c.least {
			t.Errorf("%s: called %s, steady %v in %.3f of sessions, want %.2f", c.name, c.shape, c.steady, right, c.least)
		}
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestProcessesNotProfiles: known-bad. To test the slices' medians over processes for
// a trend takes noise that lasts for one: it alarms in many sessions without any.
// The other known-bad is the rule for one-second slices on slices of 100 ms.
func TestProcessesNotProfiles(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	profile, single := 0.0, 0.0
	for range 200 {
		c := warmed(r, 8, lasting, func(int, float64) float64 { return 1 })
		ps := c.profiles(0)
		medians := make([]float64, 15)
		for k := range medians {
			var at []float64
			for _, p := range ps {
				at = append(at, p.late(k))
			}
			medians[k], _ = stats.Median(at)
		}
		if trend, _ := stats.MannKendall(medians); trend.P <= 0.05 {
			profile += 1. / 200
		}
		if s, ok := stats.Steady(ps[0].settled(), stats.DefaultSteadyRule()); ok && s.Steady {
			single += 1. / 200
		}
	}
	if profile < 0.15 || single > 0.05 {
		t.Errorf("testing one profile alarms in %.3f, the rule for seconds finds %.3f steady: the test has no power", profile, single)
	}
}

// TestSteadyAfter: 40 % slower for 0.6 s, without noise; by hand.
func TestSteadyAfter(t *testing.T) {
	slow := func(_ int, age float64) float64 { return 1 - 0.4*b2f(age < 0.55) }
	quiet := func(*rand.Rand) func() float64 { return func() float64 { return 0 } }
	w := warmed(rand.New(rand.NewPCG(7, 0)), 6, quiet, slow).Warmup
	if w.Shape != stats.WarmUp || !w.Steady || *w.After != 600*ms || w.Processes != 6 || w.Slices != 15 || w.Unlike != 0 || w.Trending != 0 {
		t.Errorf("%+v, after %v", w, w.After)
	}
	if w := warmed(rand.New(rand.NewPCG(7, 0)), 5, quiet, slow).Warmup; w != nil {
		t.Errorf("of five processes nothing can be told: %+v", w)
	}
}

// TestWhatIsNoWarmup: without noise, so that only the rules decide.
func TestWhatIsNoWarmup(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(l []record.Slice) []record.Slice
		want stats.Shape
	}{
		// At 300 connections a tenth of a slice passes before the first answers.
		{"the first answers of both phases take a round trip", func(l []record.Slice) []record.Slice {
			l[0].Right, l[12].Right = l[0].Right*85/100, l[12].Right*85/100
			return l
		}, stats.Flat},
		{"but of the warm-up two", func(l []record.Slice) []record.Slice {
			l[0].Right, l[12].Right = l[0].Right*70/100, l[12].Right*85/100
			return l
		}, stats.WarmUp},
		{"all agree on 1 % less", func(l []record.Slice) []record.Slice {
			for k := range 12 {
				l[k].Right = l[k].Right * 99 / 100
			}
			return l
		}, stats.Flat},
		{"the last slice is cut short", func(l []record.Slice) []record.Slice {
			l[11].Length, l[11].Right = 50*ms, l[11].Right/2
			l[10].Right = l[10].Right * 90 / 100 // alone but for the short one
			return append(l, record.Slice{Start: 1600 * ms, Length: 10 * ms, Right: 1})
		}, stats.Flat},
	} {
		r := rand.New(rand.NewPCG(11, 0))
		cell := &Cell{Kind: record.Closed}
		for range 6 {
			l := timeline(r, func() float64 { return 0 }, func(float64) float64 { return 1 })
			cell.Processes = append(cell.Processes, Process{run: &record.Run{Load: &record.LoadResult{Timeline: c.edit(l)}}})
		}
		if cell.lookAtWarmup(steadyRules); cell.Warmup == nil || cell.Warmup.Shape != c.want || cell.Warmup.Slices != 15 {
			t.Errorf("%s: %+v", c.name, cell.Warmup)
		}
		cell.Processes[3].run.Load.Timeline, cell.Warmup = nil, nil
		cell.Processes = append(cell.Processes, cell.Processes[:3]...)
		if cell.lookAtWarmup(steadyRules); cell.Warmup != nil {
			t.Errorf("%s: judged without one of the runs", c.name)
		}
	}
}

// TestOneSliceAloneIsChance, but the first is not.
func TestOneSliceAloneIsChance(t *testing.T) {
	for _, c := range []struct {
		signs []int
		shape stats.Shape
		after time.Duration
	}{
		{[]int{0, 0, 0, 0, 0, 0}, stats.Flat, 0},
		{[]int{0, 0, -1, 0, 0, +1}, stats.Flat, 0},
		{[]int{0, 0, -1, +1, 0, 0}, stats.Flat, 0},
		{[]int{-1, 0, 0, 0, 0, 0}, stats.WarmUp, 100 * ms},
		{[]int{-1, -1, -1, 0, -1, 0}, stats.WarmUp, 300 * ms},
		{[]int{0, 0, 0, 0, -1, -1}, stats.WarmUp, 600 * ms},
		{[]int{+1, +1, 0, 0, 0, 0}, stats.SlowDown, 200 * ms},
	} {
		w := &Warmup{Steady: true}
		w.shape(c.signs, 100*ms, false)
		if w.Shape != c.shape || *w.After != c.after {
			t.Errorf("%v: %s after %v, want %s after %v", c.signs, w.Shape, *w.After, c.shape, c.after)
		}
	}
}

// TestLatencyProfile is the open loop: the rate is the schedule's and steady, the
// largest latency of a slice falls from 20 to 2 ms.
func TestLatencyProfile(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	for _, c := range []struct {
		name        string
		first, last time.Duration
		want        stats.Shape
	}{
		{"settles", 20 * ms, 2 * ms, stats.WarmUp},
		{"differs by 5 %, which is 1 ms", 21 * ms, 20 * ms, stats.Flat},
		{"differs by 20 %, which is 0.4 ms", 2400 * time.Microsecond, 2 * ms, stats.Flat},
	} {
		cell := &Cell{Kind: record.Open}
		for range 8 {
			line := timeline(r, func() float64 { return 0 }, func(float64) float64 { return 1 })
			for k := range line {
				if line[k].Max = c.last; k < 6 {
					line[k].Max = c.first
				}
				line[k].Max += time.Duration(r.IntN(50_000))
			}
			cell.Processes = append(cell.Processes, Process{run: &record.Run{Load: &record.LoadResult{Timeline: line}}})
		}
		if cell.lookAtWarmup(steadyRules); cell.Warmup.Shape != c.want || !cell.Warmup.Steady {
			t.Errorf("%s: %+v", c.name, cell.Warmup)
		}
	}
}

// TestNotSteadyIsSaid, and the quiet twin says nothing. The runs stay.
func TestNotSteadyIsSaid(t *testing.T) {
	for _, rises := range []float64{0, 0.08} {
		s := pair(6)
		s.Plan.Rules.Steady = steadyRules
		r := rand.New(rand.NewPCG(9, 0))
		for i := range s.Runs {
			s.Runs[i].Load.Timeline = timeline(r, func() float64 { return 0.005 * r.NormFloat64() }, func(age float64) float64 { return 1 + rises*age })
		}
		e := Evaluate(s)
		if rises == 0 {
			if len(e.Findings) > 0 || e.Cells[0].Warmup.Shape != stats.Flat {
				t.Errorf("%v, %+v", codes(e), e.Cells[0].Warmup)
			}
			continue
		}
		f := findingOf(t, e, "not-steady")
		if f.Severity != record.Warn || len(f.Steps) != 6 || !strings.Contains(f.Observed, "faster than the first (p 0.0312)") || len(e.Cells[0].Processes) != 6 {
			t.Errorf("%+v", f)
		}
	}
}

// TestCold: by hand. The warm-up is 1.2 s; its first second has 10 x 50, the second
// starting point 9 x 50 + 1000.
func TestCold(t *testing.T) {
	s := pair(1)
	r := &s.Runs[0]
	for k := range time.Duration(28) {
		slice := record.Slice{Start: (k - 12) * 100 * ms, Length: 100 * ms, Right: 50, Max: (k + 1) * ms}
		if k >= 10 {
			slice.Right = 1000
		}
		r.Load.Timeline = append(r.Load.Timeline, slice)
	}
	answer := 70 * ms
	r.FirstAnswer = &answer
	v := Evaluate(s).Cells[0].Processes[0].Values
	if v[ColdRate] != 500 || v[ColdMax] != 10e6 || v[FirstAnswer] != 70e6 {
		t.Errorf("%v a second, %v ns, first answer after %v", v[ColdRate], v[ColdMax], v[FirstAnswer])
	}
	r.Load.Kind = record.Open // the worst second is that of the largest latency
	if v := Evaluate(s).Cells[0].Processes[0].Values; v[ColdRate] != 8*50+2*1000 || v[ColdMax] != 12e6 {
		t.Errorf("open loop: %v a second, %v ns", v[ColdRate], v[ColdMax])
	}
	r.Load.Timeline = slices.Clone(r.Load.Timeline[3:])
	if _, ok := Evaluate(s).Cells[0].Processes[0].Values[ColdRate]; ok {
		t.Error("0.9 s have a worst second")
	}
}
