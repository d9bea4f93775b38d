// Package capacity finds the highest rate that a target meets its limits at (method
// P1, P2). It is pure: Search proposes a rate, somebody tries it, Search is told what
// came of it and proposes the next. So one code runs against queues that are only
// computed, against processes, and over the records of a session that was archived.
package capacity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Limit names what a trial was held against.
type Limit string

// The limits of a target.
const (
	Achieved Limit = "rate"          // too few right answers within the window
	Errors   Limit = "errors"        //
	Dropped  Limit = "dropped"       // too many requests never sent, or given up
	SLO      Limit = "SLO"           // the quantile of the response time
	Queue    Limit = "growing queue" //
	Broke    Limit = "broke"         // the target or its load did not come to an end
)

// What makes a trial tell nothing of the target.
const (
	Generator Limit = "generator"
	Machine   Limit = "machine" // a check voided the run
	Few       Limit = "too few requests"
)

// Seen is what came of a trial.
type Seen struct {
	RatePerSec float64
	// Due = right answers + Errors + Dropped. InTime are the right answers within the window.
	Due, InTime, Errors, Dropped uint64
	// Latency is the quantile of the response time, First and Last those of the first
	// and last third of the window; 0 is not known, or not asked.
	Latency, First, Last time.Duration
	InFlight             []float64 // mean number of requests in the system, second by second
	Broke                string    // why there is nothing to judge; "": there is
	Unfit                Limit     // why it tells nothing of the target; "": it does
}

// Trial is a rate that was tried.
type Trial struct {
	RatePerSec float64       `json:"rate_per_sec"`
	Passed     bool          `json:"passed"`
	Limits     []Limit       `json:"limits,omitempty"` // those that it missed
	Unfit      Limit         `json:"unfit,omitempty"`  // it counts for nothing
	Achieved   float64       `json:"achieved_ratio"`   // of the requests that were due
	Errors     float64       `json:"errors_ratio"`     //
	Dropped    float64       `json:"dropped_ratio"`    //
	Latency    time.Duration `json:"slo_quantile_ns,omitempty"`
	Requests   uint64        `json:"requests"`
}

// Judge holds what was seen against the limits.
func Judge(r record.CapacityRules, s Seen) Trial {
	t := Trial{RatePerSec: s.RatePerSec, Latency: s.Latency, Requests: s.Due, Unfit: s.Unfit}
	if s.Broke != "" {
		t.Limits = []Limit{Broke}
		return t
	}
	if s.Due == 0 {
		t.Unfit = Few
		return t
	}
	due := float64(s.Due)
	t.Achieved, t.Errors, t.Dropped = float64(s.InTime)/due, float64(s.Errors)/due, float64(s.Dropped)/due
	miss := func(l Limit, missed bool) {
		if missed {
			t.Limits = append(t.Limits, l)
		}
	}
	miss(Errors, t.Errors > r.ErrorsMax)
	miss(Dropped, t.Dropped > r.DroppedMax)
	miss(Achieved, t.Achieved < r.AchievedMin)
	miss(SLO, s.Latency > r.SLO)
	miss(Queue, growing(r, s))
	if t.Unfit == "" && s.Due < r.RequestsMin {
		t.Unfit = Few
	}
	t.Passed = len(t.Limits) == 0 && t.Unfit == ""
	return t
}

// growing asks for both signs: near the limit the quantile of a third of a window
// wanders by more than its factor though the queue is steady.
func growing(r record.CapacityRules, s Seen) bool {
	if s.First == 0 || float64(s.Last) <= r.QueueFactor*float64(s.First) || s.Last-s.First <= r.QueueFloor {
		return false
	}
	return rising(r, s.InFlight)
}

func rising(r record.CapacityRules, inFlight []float64) bool {
	trend, ok := stats.MannKendall(inFlight)
	return ok && trend.S > 0 && trend.P <= r.QueueP
}

// Look reads a run of a search. Of a target that shares its CPUs with the generator
// the delays of the one are the work of the other, and they are part of the answer.
func Look(rules record.CapacityRules, r *record.Run, shared bool) Seen {
	s := Seen{RatePerSec: r.OfferedPerSec}
	if r.Outcome != record.Done && r.Outcome != record.Void || r.Load == nil {
		s.Broke = r.Reason
		return s
	}
	s.load(rules, r.Load)
	late := behind(r.Load, shared)
	switch {
	case slices.ContainsFunc(r.Checks, func(c record.Check) bool { return !c.OK && (c.Void || late && c.Name == foreignCPU) }):
		s.Unfit = Machine // which is why the generator fell behind, if it did
	case late:
		s.Unfit = Generator
	case r.Outcome == record.Void:
		s.Unfit = Machine
	}
	return s
}

// OfLoad reads a load that belongs to no search.
func OfLoad(rules record.CapacityRules, rate float64, l *record.LoadResult) Seen {
	s := Seen{RatePerSec: rate}
	s.load(rules, l)
	return s
}

func (s *Seen) load(rules record.CapacityRules, l *record.LoadResult) {
	c := l.Counts
	s.Due, s.InTime, s.Errors, s.Dropped = c.Planned, c.InWindow, c.Failed+c.TimedOut, c.Unfinished
	if l.Response == nil {
		return
	}
	h, err := histogram.Decode(l.Response)
	if err != nil {
		s.Broke = err.Error()
		return
	}
	s.Latency = h.Quantile(rules.Quantile)
	for _, in := range l.Intervals {
		if in.Response != nil && in.Length > 0 { // Little's law: the sum of times is requests x time
			s.InFlight = append(s.InFlight, float64(in.Response.Sum)/float64(in.Length))
		}
	}
	// The thirds decide only where requests in flight rise, and take most of the time.
	if n := len(l.Intervals); n >= 3 && rising(rules, s.InFlight) {
		s.First, s.Last = within(l.Intervals[:n/3], rules.Quantile), within(l.Intervals[n-n/3:], rules.Quantile)
	}
}

func within(all []record.Interval, q float64) time.Duration {
	sum := histogram.New()
	for _, in := range all {
		if in.Response == nil {
			continue
		}
		h, err := histogram.Decode(in.Response)
		if err != nil {
			return 0
		}
		sum.Merge(h)
	}
	return sum.Quantile(q)
}

// foreignCPU is the check of package host that also where it voids nothing says why a
// generator was late.
const foreignCPU = "CPU used by others"

// generatorChecks are the generator's own limits (method G4, G6), by the names that it
// gives them.
var generatorChecks = []string{"garbage collection of the generator", "CPU of the generator", "rate to what the generator can do"}

// behind reports whether the generator was the limit. Requests that were not sent in
// time because every connection waited for an answer are the target's doing.
func behind(l *record.LoadResult, shared bool) bool {
	for _, c := range l.Checks {
		switch {
		case c.OK || c.Unknown:
		case slices.Contains(generatorChecks, c.Name):
			return true
		case !shared && c.Name == "p99 of the generator's own delay":
			return true
		case !shared && c.Name == "sent in time" && l.PoolWaits <= l.Counts.Planned/2:
			return true
		}
	}
	return false
}

// Words joins limits for a reader.
func Words(r record.CapacityRules, limits []Limit) string {
	var all []string
	for _, l := range limits {
		switch l {
		case SLO:
			all = append(all, SLOText(r))
		default:
			all = append(all, string(l))
		}
	}
	return strings.Join(all, ", ")
}

// SLOText is the limit of latency as the command line has it.
func SLOText(r record.CapacityRules) string {
	return fmt.Sprintf("p%s <= %v", strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", 100*r.Quantile), "0"), "."), r.SLO)
}
