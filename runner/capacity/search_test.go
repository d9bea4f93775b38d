package capacity

import (
	"slices"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// upTo passes at rates up to a limit, and misses the SLO above.
func upTo(limit float64) func(n int, rate float64) Trial {
	return func(_ int, rate float64) Trial {
		if rate <= limit {
			return Trial{RatePerSec: rate, Passed: true}
		}
		return Trial{RatePerSec: rate, Limits: []Limit{SLO}}
	}
}

// drive answers a search by a function of the trial's number, from 1, and its rate.
func drive(t *testing.T, r record.CapacityRules, closed float64, answer func(n int, rate float64) Trial) (*Search, []float64) {
	t.Helper()
	s := New(r, closed)
	var rates []float64
	for {
		rate, more := s.Next()
		if !more {
			return s, rates
		}
		rates = append(rates, rate)
		if len(rates) > r.TrialsMax {
			t.Fatalf("no end after %d trials: %v", len(rates), rates)
		}
		if err := s.Tell(answer(len(rates), rate)); err != nil {
			t.Fatal(err)
		}
	}
}

// By hand: 250, then by 1.5: 375, 563 (562.5), 845 (844.5) pass, 1268 (1267.5) fails, twice. Bisection by the
// root: sqrt(845 x 1268) = 1035.1 fails twice, sqrt(845 x 1035) = 935.2 passes, sqrt(935 x 1035) = 983.7
// passes, sqrt(984 x 1035) = 1009.2 fails twice; 1009 / 984 = 1.0254 is within 3 %. Then
// 984 passes 4 times and 1009 fails 3 times.
func TestStepsOfASearch(t *testing.T) {
	s, rates := drive(t, rules, 1000, upTo(1000))
	want := []float64{250, 375, 563, 845, 1268, 1268, 1035, 1035, 935, 984, 1009, 1009, 984, 984, 984, 984, 1009, 1009, 1009}
	if !slices.Equal(rates, want) {
		t.Errorf("tried %v, want %v", rates, want)
	}
	a := s.Answer()
	if a.End != Found || !a.Confirmed || a.Lo != 984 || a.Hi != 1009 || !slices.Equal(a.Bound, []Limit{SLO}) || a.Trials != 19 {
		t.Errorf("answer %+v", a)
	}
}

func TestEnds(t *testing.T) {
	unfit := func(from float64, why Limit) func(int, float64) Trial {
		return func(n int, rate float64) Trial {
			if rate >= from {
				return Trial{RatePerSec: rate, Unfit: why}
			}
			return upTo(1e9)(n, rate)
		}
	}
	few := rules
	few.TrialsMax = 5
	for _, c := range []struct {
		name   string
		rules  record.CapacityRules
		answer func(int, float64) Trial
		end    End
		lo, hi float64
	}{
		{"the generator is the limit from 800/s on", rules, unfit(800, Generator), ByGenerator, 563, 0},
		{"the machine is busy all the time", rules, unfit(0, Machine), ByMachine, 0, 0},
		{"the generator falls behind at less than it managed", rules, func(n int, rate float64) Trial {
			if n > 4 {
				return Trial{RatePerSec: rate, Unfit: Generator}
			}
			return upTo(500)(n, rate) // 563 fails as trials 3 and 4, and 459 is tried then
		}, ByMachine, 375, 563},
		{"no rate passes", rules, upTo(0), NoRate, 0, 21.9},
		{"too few trials", few, upTo(1000), OutOfTrials, 845, 0},
		{"the first rate fails, a lower one passes", rules, upTo(200), Found, 199, 204},
		{"one trial in ten is disturbed", rules, func(n int, rate float64) Trial {
			if n%10 == 1 {
				return Trial{RatePerSec: rate, Limits: []Limit{SLO}}
			}
			return upTo(1000)(n, rate)
		}, Found, 984, 1009},
		{"one in ten tells nothing", rules, func(n int, rate float64) Trial {
			if n%10 == 1 {
				return Trial{RatePerSec: rate, Unfit: Machine}
			}
			return upTo(1000)(n, rate)
		}, Found, 984, 1009},
	} {
		s, rates := drive(t, c.rules, 1000, c.answer)
		if a := s.Answer(); a.End != c.end || a.Lo != c.lo || a.Hi != c.hi || a.Confirmed != (c.end == Found) {
			t.Errorf("%s: answer %+v after %v, want %s in %g..%g", c.name, a, rates, c.end, c.lo, c.hi)
		}
		if _, ok := s.Answer().Middle(); ok != (c.end == Found) {
			t.Errorf("%s: a middle %v", c.name, ok)
		}
	}
}

// An end of the bracket that fresh processes do not confirm is moved: the low end down
// after two failures of five, the high end up after three passes.
func TestConfirmationMovesTheEnds(t *testing.T) {
	lower, _ := drive(t, rules, 1000, func(n int, rate float64) Trial {
		if n > 12 && rate > 960 { // it had passed at 984 by luck
			return Trial{RatePerSec: rate, Limits: []Limit{Achieved}}
		}
		return upTo(1000)(n, rate)
	})
	if a := lower.Answer(); a.End != Found || a.Lo != 955 || a.Hi != 1009 { // 984 / 1.03
		t.Errorf("answer %+v, want the low end a bracket lower, at 955", a)
	}
	once, rates := drive(t, rules, 1000, func(n int, rate float64) Trial {
		if n == 13 {
			return Trial{RatePerSec: rate, Limits: []Limit{Achieved}}
		}
		return upTo(1000)(n, rate)
	})
	if a := once.Answer(); a.End != Found || a.Lo != 984 || len(rates) != 20 {
		t.Errorf("answer %+v after %v, want 984 to stand with four of five", a, rates)
	}
	higher, _ := drive(t, rules, 1000, func(n int, rate float64) Trial {
		if n > 12 && rate < 1020 { // it had failed at 1009 by bad luck
			return Trial{RatePerSec: rate, Passed: true}
		}
		return upTo(1000)(n, rate)
	})
	if a := higher.Answer(); a.End != Found || a.Lo != 984 || a.Hi != 1039 { // 1009 x 1.03
		t.Errorf("answer %+v, want the high end a bracket higher, at 1039", a)
	}
}

func TestReplay(t *testing.T) {
	s, _ := drive(t, rules, 1000, upTo(1000))
	trials := s.Trials()
	again, err := Replay(rules, 1000, trials)
	if err != nil || !slices.Equal(again.Answer().Bound, s.Answer().Bound) || again.Answer().Lo != s.Answer().Lo {
		t.Errorf("again %+v, %v", again.Answer(), err)
	}
	if _, err := Replay(rules, 1000, slices.Delete(slices.Clone(trials), 4, 5)); err == nil || !strings.Contains(err.Error(), "the search asks for") {
		t.Errorf("a trial that is missing: %v", err)
	}
	if _, err := Replay(rules, 1000, append(slices.Clone(trials), trials[0])); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a trial too many: %v", err)
	}
}
