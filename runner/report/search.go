package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/findings"
	"gonogo/runner/stats"
)

// capacityAlone is the page of a session of capacity: the highest rate that each target
// meets the limits at, latency against rate, and what is left under more load.
func (v view) capacityAlone() document {
	d := document{
		title:     "How much load can these servers take?",
		mark:      mark(v.s, *v.e),
		head:      head(v.s),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: it asked no question before its first run."}, foot(v.s)...),
	}
	if v.e.Capacity != nil && v.s.Plan.Rules.Capacity != nil {
		d.verdicts, d.load, d.memory = v.capacities(), v.rates(), v.overloads()
	}
	return d
}

// CapacityRule says when a rate counts as met.
func CapacityRule(v *findings.Capacity, achieved, errors, dropped float64) string {
	return fmt.Sprintf("The highest rate of an open loop (Poisson) at which %s, at least %.4g %% of the answers come within the window, at most %.4g %% are wrong or missing and %.4g %% dropped, "+
		"no queue grows, and the generator is not the limit.", v.SLO, 100*achieved, 100*errors, 100*dropped)
}

// capacities has a row a target.
func (v view) capacities() grid {
	r := v.s.Plan.Rules.Capacity
	g := grid{title: "CAPACITY", lead: []string{CapacityRule(v.e.Capacity, r.AchievedMin, r.ErrorsMax, r.DroppedMax) +
		fmt.Sprintf(" Each trial is a fresh process; the low end of a bracket passed %d of %d, the high end failed %d of %d.", r.Low.Need, r.Low.Of, r.High.Need, r.High.Of)},
		columns: []heading{{name: "target", text: true}, {name: "req/s"}, {name: "from..to", text: true}, {name: "searches"}, {name: "ratio"}, {name: "of closed loop"}, {name: "CPUs", text: true}, {name: "limited by", text: true}}}
	for _, t := range v.e.Capacity.Targets {
		rate, span, share := CapacityText(t)
		g.rows = append(g.rows, row{cells: []cell{{text: t.Target}, {text: rate}, {text: span}, {text: strconv.Itoa(len(t.Searches))},
			{text: v.capacityRatio(t.Target)}, {text: share}, {text: apart(t.Shared)}, {text: LimitedBy(v.e.Capacity, t)}}})
	}
	g.foot = []string{"req/s is the median of the brackets' middles; from..to its 95 % interval by rank from 6 searches on, before that the ends of all brackets. " +
		"The ratio is target / base by block. A closed loop's rate (the last share) is reached at whatever latency it takes, and is no capacity."}
	return g
}

// CapacityText is a target's capacity, its interval, and its share of the closed loop's rate.
func CapacityText(t findings.TargetCapacity) (rate, span, share string) {
	if t.Rate == nil {
		least, most := math.Inf(1), 0.0
		bounded, open := len(t.Searches) > 0, len(t.Searches) > 0
		for _, s := range t.Searches {
			open = open && s.End == capacity.ByGenerator && s.Lo > 0 && s.Wrong == ""
			bounded = bounded && s.Lo > 0 && s.Hi > 0 && s.Wrong == ""
			least, most = min(least, s.Lo), max(most, s.Hi)
		}
		switch {
		case open:
			return ">= " + whole(least), "", ""
		case bounded:
			return unknown, whole(least) + ".." + whole(most) + ", not confirmed", ""
		}
		return unknown, "", ""
	}
	span = whole(t.Rate.Lo) + ".." + whole(t.Rate.Hi)
	if t.Rate.Reached {
		span += " (95 %)"
	}
	if t.Closed > 0 {
		share = digits(100*t.Rate.Value/t.Closed) + " %"
	}
	return whole(t.Rate.Value), span, share
}

// LimitedBy is what a target missed at the high end, or why that is not known.
func LimitedBy(c *findings.Capacity, t findings.TargetCapacity) string {
	var all []string
	for _, s := range t.Searches {
		text := map[capacity.End]string{capacity.ByGenerator: "the limit is the generator", capacity.ByMachine: "the machine was too busy",
			capacity.NoRate: "no rate meets the limits", capacity.OutOfTrials: "trials disagree"}[s.End]
		if s.Wrong != "" {
			text = "the search cannot be followed"
		}
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) > 0 {
		return strings.Join(all, "; ")
	}
	for _, l := range t.Bound {
		all = append(all, map[bool]string{true: c.SLO, false: l}[l == string(capacity.SLO)])
	}
	return strings.Join(all, ", ")
}

func (v view) capacityRatio(target string) string {
	for _, r := range v.e.Capacity.Ratios {
		if r.Target == target {
			return times(r.Summary, unit)
		}
	}
	if t, _ := v.s.Plan.Target(target); t.Base == "" {
		return "base"
	}
	return unknown
}

func whole(rate float64) string {
	if rate < 100 {
		return digits(rate)
	}
	return strconv.FormatFloat(rate, 'f', 0, 64)
}

// AtRate is what all trials of a target at one rate say, over all searches.
type AtRate struct {
	Rate           float64
	Trials, Passed int      // that count
	Unfit          int      // that tell nothing
	P50, P95, P99  *float64 // medians over trials, ns
	Missed         []capacity.Limit
	missed         map[capacity.Limit]int
	p50, p95, p99  []float64
}

// ByRate gathers a target's trials, by rising rate.
func ByRate(t findings.TargetCapacity) []AtRate {
	at := map[float64]*AtRate{}
	for _, s := range t.Searches {
		for _, r := range s.Rates {
			a := at[r.RatePerSec]
			if a == nil {
				a = &AtRate{Rate: r.RatePerSec, missed: map[capacity.Limit]int{}}
				at[r.RatePerSec] = a
			}
			a.add(r)
		}
	}
	var all []AtRate
	for _, a := range at {
		a.P50, a.P95, a.P99 = middle(a.p50), middle(a.p95), middle(a.p99)
		for l, n := range a.missed {
			if 2*n >= a.Trials-a.Passed {
				a.Missed = append(a.Missed, l)
			}
		}
		slices.Sort(a.Missed)
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b AtRate) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}

func (a *AtRate) add(r findings.RateSeen) {
	if r.Unfit != "" {
		a.Unfit++
		return
	}
	a.Trials++
	if r.Passed {
		a.Passed++
	}
	for _, l := range r.Limits {
		a.missed[l]++
	}
	for _, x := range []struct {
		to *[]float64
		v  float64
	}{{&a.p50, r.P50}, {&a.p95, r.P95}, {&a.p99, r.P99}} {
		if x.v > 0 {
			*x.to = append(*x.to, x.v)
		}
	}
}

func middle(xs []float64) *float64 {
	m, ok := stats.Median(xs)
	if !ok {
		return nil
	}
	return &m
}

// rates has a row a target and rate.
func (v view) rates() grid {
	g := grid{title: "LATENCY AGAINST RATE", lead: []string{"Response time in ms, from the time a request was due; medians of the trials at that rate. Missed: limits that at least half of the trials that failed missed."},
		columns: []heading{{name: "target", text: true}, {name: "req/s"}, {name: "passed"}, {name: "p50", unit: "ms"}, {name: "p95", unit: "ms"}, {name: "p99", unit: "ms"}, {name: "missed", text: true}}}
	for _, t := range v.e.Capacity.Targets {
		for i, a := range ByRate(t) {
			name := ""
			if i == 0 {
				name = t.Target
			}
			passed := fmt.Sprintf("%d of %d", a.Passed, a.Trials)
			if a.Unfit > 0 {
				passed += fmt.Sprintf(" (%d tell nothing)", a.Unfit)
			}
			g.rows = append(g.rows, row{cells: []cell{{text: name}, {text: whole(a.Rate)}, {text: passed}, {text: v.maybe(a.P50)}, {text: v.maybe(a.P95)}, {text: v.maybe(a.P99)},
				{text: capacity.Words(*v.s.Plan.Rules.Capacity, a.Missed)}}})
		}
	}
	return g
}

func (v view) maybe(ns *float64) string {
	switch limit := float64(v.s.Plan.RequestTimeout); {
	case ns == nil || *ns == 0:
		return unknown
	case limit > 0 && *ns >= limit:
		return atLeast(*ns)
	}
	return v.ms(*ns / millis)
}

// overloads has a row a run.
func (v view) overloads() grid {
	g := grid{title: "OVERLOAD", columns: []heading{{name: "target", text: true}, {name: "block"}, {name: "offered"}, {name: "goodput"}, {name: "rejected"}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"},
		{name: "/healthz", text: true}, {name: "p50", unit: "ms"}, {name: "max", unit: "ms"}, {name: "recovers", unit: "s"}}}
	for _, sc := range v.s.Plan.Scenarios {
		if w := sc.Overload; w != nil {
			g.lead = []string{fmt.Sprintf("%.4g %% of the capacity for %v, in a fresh process. Goodput: right answers within that time, a second; rejected: requests that never got one. "+
				"/healthz is asked each %v on a connection of its own. Recovers: from the end of the load to the start of the first %v at %.4g %% of the capacity that meets the limits again.",
				100*w.RateOfCapacity, sc.Window, w.HealthEvery, w.RecoveryStep, 100*w.RecoveryRate)}
		}
	}
	for _, t := range v.e.Capacity.Targets {
		for i, o := range t.Overloads {
			g.rows = append(g.rows, row{cells: []cell{{text: t.Target}, {text: strconv.Itoa(i + 1)}, {text: whole(o.Offered)}, {text: whole(o.Goodput)}, {text: digits(100*o.Rejected) + " %"},
				{text: v.maybe(&o.P50)}, {text: v.maybe(&o.P99)}, {text: fmt.Sprintf("%d of %d", o.HealthOK, o.Health)}, {text: v.maybe(&o.HealthP50)}, {text: v.maybe(&o.HealthMax)}, {text: Recovers(o)}}})
		}
	}
	g.foot = []string{"Goodput equal to what was offered: all of it is still served, only later than the limit. p50 and p99 are of what was answered; a request that timed out is in them at the time-out. How fast an overloaded server seems to those who wait depends on how long its queue may grow: here as long as the clients' connections and their time-out let it."}
	return g
}

// Recovers is how long a target took, in seconds.
func Recovers(o findings.Overload) string {
	if o.Recovery == nil {
		return "> " + digits(o.RecoverMax.Seconds())
	}
	return digits(o.Recovery.Round(10 * time.Millisecond).Seconds())
}
