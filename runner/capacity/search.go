package capacity

import (
	"fmt"
	"math"
	"slices"

	"gonogo/runner/record"
)

// End is how a search came out.
type End string

const (
	Found       End = "found"        // both ends of the bracket were confirmed
	ByGenerator End = "generator"    // the limit is the generator: the capacity is Lo or more
	ByMachine   End = "machine"      // it was too busy for trials to tell anything
	NoRate      End = "no rate"      // even the lowest rate tried missed the limits
	OutOfTrials End = "trials spent" //
)

// Answer is what a search found. Lo is the highest rate that passed, Hi the lowest
// above it that failed; 0 is none.
type Answer struct {
	End       End     `json:"end"`
	Lo        float64 `json:"lo_per_sec,omitempty"`
	Hi        float64 `json:"hi_per_sec,omitempty"`
	Confirmed bool    `json:"confirmed"`       // each end by fresh processes of its own
	Bound     []Limit `json:"bound,omitempty"` // what at least half of the failed trials at Hi missed
	Trials    int     `json:"trials"`
}

// Middle is the one number that a bracket has; false where it has none.
func (a Answer) Middle() (float64, bool) {
	return (a.Lo + a.Hi) / 2, a.End == Found
}

// phase is what the search asks.
type phase int

const (
	climb   phase = iota // does this rate pass? Then the next higher one
	descend              // the first one failed: does a lower one pass?
	bisect
	confirmLow
	confirmHigh
	over
)

// lowest is how often the rate is lowered before the answer is that none passes.
const lowest = 6

// Search is a search under way. The zero value is not ready; see New.
type Search struct {
	rules  record.CapacityRules
	phase  phase
	rate   float64 // at hand
	lo, hi float64 // 0: not yet known

	votes   votes // of the question at hand
	lowered int
	trials  []Trial
	end     End
}

// votes are the trials of one question.
type votes struct{ passed, failed, unfit int }

// New begins a search from the rate of a closed loop, requests per second.
func New(r record.CapacityRules, closed float64) *Search {
	s := &Search{rules: r}
	s.ask(climb, closed*r.StartRatio)
	return s
}

// fastest keeps what a damaged record says of rates within what can be printed.
const fastest = 1e12

// round makes rates that can be read, and that another machine computes alike.
func round(rate float64) float64 {
	rate = min(rate, fastest)
	if rate >= 100 {
		return math.Round(rate)
	}
	return max(0.1, math.Round(10*rate)/10)
}

func (s *Search) ask(p phase, rate float64) {
	s.phase, s.rate, s.votes = p, round(rate), votes{}
}

// Next is the rate to try; false when the search has ended.
func (s *Search) Next() (float64, bool) { return s.rate, s.phase != over }

// Confirming tells whether the trial at hand confirms an end of the bracket.
func (s *Search) Confirming() bool { return s.phase == confirmLow || s.phase == confirmHigh }

// Tell takes the trial of the rate that Next proposed.
func (s *Search) Tell(t Trial) error {
	switch {
	case s.phase == over:
		return fmt.Errorf("tell search: a trial at %g/s, though it has ended", t.RatePerSec)
	case math.Abs(t.RatePerSec-s.rate) > 1e-6*s.rate:
		return fmt.Errorf("tell search: trial %d is at %g/s, the search asks for %g/s", len(s.trials)+1, t.RatePerSec, s.rate)
	}
	s.trials = append(s.trials, t)
	switch {
	case t.Unfit != "":
		s.votes.unfit++
	case t.Passed:
		s.votes.passed++
	default:
		s.votes.failed++
	}
	s.decide(t)
	if s.phase != over && len(s.trials) >= s.rules.TrialsMax {
		s.finish(OutOfTrials)
	}
	return nil
}

func (s *Search) finish(e End) { s.phase, s.end = over, e }

func (s *Search) decide(t Trial) {
	v := s.votes
	if v.unfit >= s.rules.UnfitMax {
		s.giveUp(t)
		return
	}
	switch s.phase {
	case climb, descend, bisect:
		// One that passes has passed; one that fails may have been disturbed, so it takes
		// two of three.
		if v.passed > 0 && (v.failed == 0 || v.passed == 2) {
			s.narrow(true)
		} else if v.failed == 2 {
			s.narrow(false)
		}
	case confirmLow:
		if v.passed >= s.rules.Low.Need {
			s.ask(confirmHigh, s.hi)
		} else if v.failed > s.rules.Low.Of-s.rules.Low.Need {
			s.lower()
		}
	case confirmHigh:
		if v.failed >= s.rules.High.Need {
			s.finish(Found)
		} else if v.passed > s.rules.High.Of-s.rules.High.Need {
			s.ask(confirmHigh, s.hi*(1+s.rules.Bracket))
			s.hi = s.rate
		}
	}
}

// giveUp blames the generator only at a rate that it never managed: where it kept up
// with as much before, something else took its time.
func (s *Search) giveUp(t Trial) {
	managed := slices.ContainsFunc(s.trials, func(o Trial) bool { return o.Unfit == "" && o.RatePerSec >= t.RatePerSec })
	if t.Unfit == Generator && !managed {
		s.finish(ByGenerator)
		return
	}
	s.finish(ByMachine)
}

// narrow goes on from a rate that was decided.
func (s *Search) narrow(passed bool) {
	if passed {
		s.lo = s.rate
	} else {
		s.hi = s.rate
	}
	switch {
	case s.hi == 0:
		s.ask(climb, s.rate*s.rules.StepFactor)
	case s.lo == 0:
		s.lower()
	case s.hi/s.lo-1 > s.rules.Bracket && round(math.Sqrt(s.lo*s.hi)) != s.lo && round(math.Sqrt(s.lo*s.hi)) != s.hi:
		s.ask(bisect, math.Sqrt(s.lo*s.hi))
	default:
		s.ask(confirmLow, s.lo)
	}
}

// lower goes down from a rate that does not pass: by a step where none has passed
// yet, else by a bracket's width.
func (s *Search) lower() {
	if s.lowered++; s.lowered > lowest {
		s.lo = 0
		s.finish(NoRate)
		return
	}
	if s.lo == 0 {
		s.ask(descend, s.rate/s.rules.StepFactor)
		return
	}
	s.lo = round(s.lo / (1 + s.rules.Bracket))
	s.ask(confirmLow, s.lo)
}

// Answer is what was found so far.
func (s *Search) Answer() Answer {
	a := Answer{End: s.end, Lo: s.lo, Hi: s.hi, Confirmed: s.end == Found, Trials: len(s.trials)}
	missed := map[Limit]int{}
	failed := 0
	for _, t := range s.trials {
		if t.Passed || t.Unfit != "" || t.RatePerSec != s.hi {
			continue
		}
		failed++
		for _, l := range t.Limits {
			missed[l]++
		}
	}
	for _, l := range []Limit{Broke, Errors, Dropped, Achieved, SLO, Queue} {
		if n := missed[l]; n > 0 && 2*n >= failed {
			a.Bound = append(a.Bound, l)
		}
	}
	return a
}

// Trials are those told so far.
func (s *Search) Trials() []Trial { return slices.Clone(s.trials) }

// Replay goes through a search that was archived. An error says that the trials are
// not those that the search asked for.
func Replay(r record.CapacityRules, closed float64, trials []Trial) (*Search, error) {
	s := New(r, closed)
	for _, t := range trials {
		if err := s.Tell(t); err != nil {
			return s, err
		}
	}
	return s, nil
}
