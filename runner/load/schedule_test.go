package load

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestScheduleDue(t *testing.T) {
	const sec = time.Second
	for _, c := range []struct {
		name   string
		rate   float64
		window time.Duration
		i      uint64
		want   time.Duration
		ok     bool
	}{
		{"first", 1000, sec, 0, 0, true},
		{"second", 1000, sec, 1, time.Millisecond, true},
		{"last in window", 2, sec, 1, sec / 2, true}, // i=2 is due at 1 s: outside
		{"first outside", 2, sec, 2, sec, false},
		{"a third of a second", 3, sec, 1, 333_333_333, true},         // 1/3 s, rounded down
		{"never drifts", 3, 2e6 * sec, 3e6, 1e6 * sec, true},          // 3e6 / 3
		{"fast", 1e6, sec, 999_999, 999_999 * time.Microsecond, true}, // 0.999999 s
		{"slow", 0.1, time.Minute, 5, 50 * sec, true},                 // 5 / 0.1
	} {
		got, ok := Schedule{RatePerSec: c.rate, Window: c.window}.Due(c.i)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func walk(s Schedule, first, step uint64) (due []time.Duration) {
	a := s.arrivals(first, step)
	for {
		d, ok := a.due()
		if !ok {
			return due
		}
		due = append(due, d)
		a.next()
	}
}

// Whatever the number of workers, together they send one and the same schedule.
func TestScheduleShards(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		s := Schedule{RatePerSec: 1000, Window: 3 * time.Second, Poisson: poisson, Seed: 9}
		whole := walk(s, 0, 1)
		for _, n := range []uint64{2, 3, 7} {
			var parts []time.Duration
			for k := range n {
				parts = append(parts, walk(s, k, n)...)
			}
			slices.Sort(parts)
			if !slices.Equal(parts, whole) {
				t.Errorf("poisson %v: %d workers send %d requests, one sends %d, or at other times", poisson, n, len(parts), len(whole))
			}
		}
	}
}

// Poisson arrivals have exponential gaps: mean and deviation are 1/rate, and
// the Anderson-Darling statistic against the known rate stays below 3.857, its
// 1 % point (Stephens 1974, case 0). Equal and uniform gaps do not pass.
func TestPoissonGaps(t *testing.T) {
	const n, rate = 2000, 1000.0
	alarms := 0
	for seed := range uint64(100) {
		if andersonDarling(gaps(walk(Schedule{RatePerSec: rate, Window: time.Hour, Poisson: true, Seed: seed}.first(n), 0, 1)), rate) > 3.857 {
			alarms++
		}
	}
	if alarms > 4 { // binomial(100, 0.01): more than 4 has a chance of 0.3 %
		t.Errorf("%d of 100 Poisson schedules are found not to be", alarms)
	}
	equal := walk(Schedule{RatePerSec: rate, Window: 2 * time.Second}, 0, 1)
	if a := andersonDarling(gaps(equal), rate); a < 3.857 {
		t.Errorf("equal gaps pass: A² %.2f", a)
	}
	long := gaps(walk(Schedule{RatePerSec: rate, Window: 100 * time.Second, Poisson: true, Seed: 1}, 0, 1))
	mean := 0.0
	for _, g := range long {
		mean += g / float64(len(long))
	}
	if mean < 0.99e-3 || mean > 1.01e-3 { // 100 000 gaps: standard error 0.3 %
		t.Errorf("mean gap %v s", mean)
	}
}

// first shortens a Poisson schedule to about n requests.
func (s Schedule) first(n int) Schedule {
	s.Window = time.Duration(float64(n) / s.RatePerSec * 1e9)
	return s
}

func gaps(due []time.Duration) (seconds []float64) {
	for i := 1; i < len(due); i++ {
		seconds = append(seconds, (due[i] - due[i-1]).Seconds())
	}
	return seconds
}

// andersonDarling is A² of exponential gaps of a known rate.
func andersonDarling(v []float64, rate float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n, sum := len(v), 0.0
	f := func(x float64) float64 { return min(max(1-math.Exp(-rate*x), 1e-12), 1-1e-12) }
	for i := range v {
		sum += float64(2*i+1) * (math.Log(f(v[i])) + math.Log(1-f(v[n-1-i])))
	}
	return -float64(n) - sum/float64(n)
}
