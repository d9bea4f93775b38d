// Package floor finds the smallest memory limit that a target still meets its limits of
// rate and latency at (method R8). As package capacity it is pure: Search proposes a
// limit, somebody tries it, Search is told what came of it. What passes is capacity's
// to say; what a trial failed by is told from the kernel's account of its control group.
package floor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonogo/runner/capacity"
	"gonogo/runner/record"
)

// What memory does to a trial, beside the limits of package capacity.
const (
	OOMKill   capacity.Limit = "out-of-memory kill" // by the kernel
	HeapLimit capacity.Limit = "heap limit"         // the runtime gave up by itself
	Reclaim   capacity.Limit = "reclaim stalls"     // pages were taken from it, and it waited for them to come back
	NoStart   capacity.Limit = "no start"           // it was not ready, and nobody killed it
)

// Trial is a limit that was tried.
type Trial struct {
	LimitBytes uint64 `json:"limit_bytes"`
	capacity.Trial
}

// Look reads a run of a search. A run without the account of a control group was in none:
// it tells nothing of a limit.
func Look(limits record.CapacityRules, rules record.FloorRules, r *record.Run, shared bool) Trial {
	t := Trial{Trial: capacity.Judge(limits, capacity.Look(limits, r, shared))}
	if r.Limits != nil {
		t.LimitBytes = r.Limits.MemoryBytes
	}
	if r.Group == nil {
		t.Passed, t.Unfit = false, capacity.Machine
		return t
	}
	if why := cause(rules, r, t); why != "" {
		// It outweighs what a check says of the machine: the group is the target's alone.
		t.Passed, t.Unfit, t.Limits = false, "", append([]capacity.Limit{why}, t.Limits...)
	}
	return t
}

// cause is what memory did to a trial; "" where it did nothing that made it fail.
func cause(rules record.FloorRules, r *record.Run, t Trial) capacity.Limit {
	switch {
	case positive(r.Group.Life.OOMKills):
		return OOMKill
	case r.Outcome == record.Failed && (outOfHeap(r.LogTail) || outOfHeap(r.Reason)):
		return HeapLimit
	case r.Outcome == record.Failed && r.Ready == 0:
		return NoStart
	case len(t.Limits) > 0 && stalled(rules, r):
		return Reclaim
	}
	return ""
}

func positive(n *uint64) bool { return n != nil && *n > 0 }

// outOfHeap knows the last words of V8 and of Go's runtime.
func outOfHeap(log string) bool {
	return strings.Contains(log, "JavaScript heap out of memory") || strings.Contains(log, "runtime: out of memory") || strings.Contains(log, "cannot allocate memory")
}

// stalled tells whether a window was spent on getting pages back. Where it was not
// finished, the life of the process stands for it.
func stalled(rules record.FloorRules, r *record.Run) bool {
	c, over := r.Group.Window, 0.0
	if c != nil && r.Load != nil {
		over = r.Load.Window.Seconds()
	} else {
		c, over = &r.Group.Life, r.Took.Seconds()
	}
	if over <= 0 || !positive(r.Group.Life.LimitHits) {
		return false
	}
	if c.Stalled != nil {
		return c.Stalled.Seconds() >= rules.StallMin*over
	}
	var back uint64
	for _, n := range []*uint64{c.MajorFaults, c.Refaults} {
		if n != nil {
			back += *n
		}
	}
	return float64(back) >= rules.FaultsMin*over
}

// Answer is what a search found.
type Answer struct {
	End       capacity.End     `json:"end"`
	Hi        uint64           `json:"hi_bytes,omitempty"` // the smallest limit that passed: what has to be bought; 0: none
	Lo        uint64           `json:"lo_bytes,omitempty"` // the largest below it that failed; 0: the least that is tried passes
	Confirmed bool             `json:"confirmed"`          // each end by fresh processes of its own
	Bound     []capacity.Limit `json:"bound,omitempty"`    // what at least half of the failed trials at Lo, or at the ceiling, failed by
	Trials    int              `json:"trials"`
}

// Floor is the number of a search; false where it has none.
func (a Answer) Floor() (uint64, bool) { return a.Hi, a.End == capacity.Found }

// NoLimit is the end of a search whose ceiling already fails: the rate is too high, or
// memory is not what it lacks.
const NoLimit capacity.End = "no limit"

type phase int

const (
	top phase = iota // does it pass at all?
	bisect
	confirmHigh
	confirmLow
	over
)

// Search is a search under way; see New.
type Search struct {
	rules  record.FloorRules
	phase  phase
	limit  uint64 // at hand
	lo, hi uint64
	end    capacity.End

	passed, failed, unfit int // votes on the limit at hand
	trials                []Trial
}

// New begins a search from the ceiling.
func New(r record.FloorRules) *Search {
	s := &Search{rules: r}
	s.ask(top, r.Ceiling)
	return s
}

func (s *Search) ask(p phase, limit uint64) {
	s.phase, s.limit, s.passed, s.failed, s.unfit = p, limit, 0, 0, 0
}

// Next is the limit to try; false when the search has ended.
func (s *Search) Next() (bytes uint64, more bool) { return s.limit, s.phase != over }

// Tell takes the trial of the limit that Next proposed.
func (s *Search) Tell(t Trial) error {
	switch {
	case s.phase == over:
		return fmt.Errorf("tell search: a trial at %d bytes, though it has ended", t.LimitBytes)
	case t.LimitBytes != s.limit:
		return fmt.Errorf("tell search: trial %d is at %d bytes, the search asks for %d", len(s.trials)+1, t.LimitBytes, s.limit)
	}
	s.trials = append(s.trials, t)
	switch {
	case t.Unfit != "":
		s.unfit++
	case t.Passed:
		s.passed++
	default:
		s.failed++
	}
	s.decide(t)
	if s.phase != over && len(s.trials) >= s.rules.TrialsMax {
		s.finish(capacity.OutOfTrials)
	}
	return nil
}

func (s *Search) finish(e capacity.End) { s.phase, s.end = over, e }

func (s *Search) decide(t Trial) {
	if s.unfit >= s.rules.UnfitMax {
		s.finish(map[bool]capacity.End{true: capacity.ByGenerator, false: capacity.ByMachine}[t.Unfit == capacity.Generator])
		return
	}
	switch s.phase {
	case top, bisect:
		// One that passes has passed; one that fails may have been disturbed, so it takes
		// two of three.
		if s.passed > 0 && (s.failed == 0 || s.passed == 2) {
			s.hi = s.limit
			s.narrow()
		} else if s.failed == 2 {
			s.lo = s.limit
			s.narrow()
		}
	case confirmHigh:
		if s.passed >= s.rules.High.Need {
			s.ask(confirmLow, s.lo)
		} else if s.failed > s.rules.High.Of-s.rules.High.Need {
			s.raise()
		}
	case confirmLow:
		if s.failed >= s.rules.Low.Need {
			s.finish(capacity.Found)
		} else if s.passed > s.rules.Low.Of-s.rules.Low.Need {
			s.sink()
		}
	}
}

// step is how near the ends come: so many bytes, or a share of the limit.
func (s *Search) step(of uint64) uint64 {
	return max(s.rules.Step, whole(s.rules.Bracket*float64(of)))
}

// whole is in MiB, so that limits can be read.
func whole(bytes float64) uint64 { return uint64(math.Round(bytes/(1<<20))) << 20 }

// narrow goes on from a limit that was decided, by the root of the ends: what servers
// need differs by factors.
func (s *Search) narrow() {
	if s.hi == 0 {
		s.finish(NoLimit)
		return
	}
	if s.lo == 0 {
		s.lo = s.rules.Lowest
	}
	next := whole(math.Sqrt(float64(s.lo) * float64(s.hi)))
	if s.hi-s.lo <= s.step(s.lo) || next <= s.lo || next >= s.hi {
		s.ask(confirmHigh, s.hi)
		return
	}
	s.ask(bisect, next)
}

// raise goes up by a step from a limit that passed once and does not when asked again.
func (s *Search) raise() {
	if s.hi >= s.rules.Ceiling {
		s.hi = 0
		s.finish(NoLimit)
		return
	}
	s.hi = min(s.hi+s.step(s.hi), s.rules.Ceiling)
	s.ask(confirmHigh, s.hi)
}

// sink goes down by a step from a limit that failed before and now passes.
func (s *Search) sink() {
	if s.lo <= s.rules.Lowest {
		s.hi, s.lo = s.lo, 0 // less is never asked for
		s.finish(capacity.Found)
		return
	}
	s.lo = max(s.lo-min(s.lo, s.step(s.lo)), s.rules.Lowest)
	s.ask(confirmLow, s.lo)
}

// Answer is what was found so far.
func (s *Search) Answer() Answer {
	a := Answer{End: s.end, Lo: s.lo, Hi: s.hi, Confirmed: s.end == capacity.Found, Trials: len(s.trials)}
	missed := map[capacity.Limit]int{}
	failed := 0
	for _, t := range s.trials {
		if t.Passed || t.Unfit != "" || t.LimitBytes != s.lo {
			continue
		}
		failed++
		for _, l := range t.Limits {
			missed[l]++
		}
	}
	for l, n := range missed {
		if 2*n >= failed {
			a.Bound = append(a.Bound, l)
		}
	}
	a.Bound = Order(a.Bound)
	return a
}

// order is that of causes before effects.
var order = []capacity.Limit{OOMKill, HeapLimit, NoStart, Reclaim, capacity.Broke, capacity.Errors, capacity.Dropped, capacity.Achieved, capacity.SLO, capacity.Queue}

// Order puts what failed a trial in the order of causes. A target that memory ended did
// not break of something else.
func Order(limits []capacity.Limit) []capacity.Limit {
	var all []capacity.Limit
	for _, l := range order {
		gone := l == capacity.Broke && len(all) > 0
		if slices.Contains(limits, l) && !gone {
			all = append(all, l)
		}
	}
	return all
}
