package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/capacity"
	"gonogo/runner/findings"
	"gonogo/runner/floor"
	"gonogo/runner/record"
)

// floorAlone is the page of a session of memory floors: the smallest limit at which
// each target still meets the rate, and what every limit that was tried did to it.
func (v view) floorAlone() document {
	d := document{
		title:     "How much memory do these servers need?",
		mark:      mark(v.s, *v.e),
		head:      head(v.s),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: it asked no question before its first run."}, foot(v.s)...),
	}
	if v.e.Floor != nil {
		d.verdicts, d.load = v.floors(), v.limits()
	}
	return d
}

// FloorRule says when a limit counts as enough.
func FloorRule(m *findings.MemoryFloor, r record.CapacityRules, f record.FloorRules) string {
	return fmt.Sprintf("The smallest memory limit (a control group, without swap) at which %g requests/s for %v still meet %s with at least %.4g %% of the answers in time, at most %.4g %% wrong or missing and no growing queue. "+
		"Each trial is a fresh process; the limit passed %d of %d, the one below it failed %d of %d.", m.Rate, m.For, m.SLO, 100*r.AchievedMin, 100*r.ErrorsMax, f.High.Need, f.High.Of, f.Low.Need, f.Low.Of)
}

// floors has a row a target.
func (v view) floors() grid {
	r := *v.s.Plan.Rules.Floor
	g := grid{title: "MEMORY FLOOR", lead: []string{FloorRule(v.e.Floor, *v.s.Plan.Rules.Capacity, r)},
		columns: []heading{{name: "target", text: true}, {name: "told of the limit", text: true}, {name: "floor", unit: "MiB"}, {name: "between", text: true}, {name: "searches"}, {name: "ratio"}, {name: "CPUs", text: true}, {name: "below it", text: true}}}
	for _, t := range v.e.Floor.Targets {
		value, span := FloorText(t)
		target, _ := v.s.Plan.Target(t.Target)
		g.rows = append(g.rows, row{cells: []cell{{text: t.Target}, {text: Told(target, r)}, {text: value}, {text: span}, {text: strconv.Itoa(len(t.Searches))},
			{text: v.floorRatio(t.Target)}, {text: apart(t.Shared)}, {text: FloorBound(v.e.Floor, t)}}})
	}
	g.foot = []string{"The floor is the median of the smallest limits that passed; between: its 95 % interval by rank from 6 searches on, before that the largest limit that failed and the smallest that passed. " +
		"The ratio is target / base by block. The limit counts page cache and kernel memory, as a container's does; files that others had read before are not charged to it. It is of this load for this time: leave room for what comes later."}
	return g
}

// Told is what the runtime of a target knows of the limit.
func Told(t record.Target, r record.FloorRules) string {
	switch {
	case !t.Matched:
		return "nothing"
	case len(t.Argv) > 0 && t.Argv[0] == "node":
		return fmt.Sprintf("--max-old-space-size %g %%", 100*r.OldSpace)
	}
	return fmt.Sprintf("GOMEMLIMIT %g %%", 100*r.GoShare)
}

// FloorText is a target's floor in MiB, and what it is known to lie between.
func FloorText(t findings.TargetFloor) (value, span string) {
	mib := func(bytes float64) string { return digits(bytes / mebi) }
	if t.Floor != nil {
		span = mib(t.Floor.Lo) + ".." + mib(t.Floor.Hi)
		if t.Floor.Reached {
			span += " (95 %)"
		}
		return mib(t.Floor.Value), span
	}
	lo, hi, bounded := uint64(0), uint64(0), len(t.Searches) > 0
	for i, s := range t.Searches {
		bounded = bounded && s.Hi > 0 && s.Wrong == ""
		if i == 0 || s.Lo < lo {
			lo = s.Lo
		}
		hi = max(hi, s.Hi)
	}
	if bounded {
		return unknown, mib(float64(lo)) + ".." + mib(float64(hi)) + ", not confirmed"
	}
	return unknown, ""
}

// FloorBound is what a target failed by below its floor, or why that is not known.
func FloorBound(m *findings.MemoryFloor, t findings.TargetFloor) string {
	var all []string
	for _, s := range t.Searches {
		text := map[capacity.End]string{capacity.ByGenerator: "the limit is the generator", capacity.ByMachine: "the machine was too busy",
			floor.NoLimit: "no limit that was tried is enough", capacity.OutOfTrials: "trials disagree"}[s.End]
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
		all = append(all, map[bool]string{true: m.SLO, false: l}[l == string(capacity.SLO)])
	}
	return strings.Join(all, ", ")
}

func (v view) floorRatio(target string) string {
	for _, r := range v.e.Floor.Ratios {
		if r.Target == target {
			return times(r.Summary, unit)
		}
	}
	if t, _ := v.s.Plan.Target(target); t.Base == "" {
		return "base"
	}
	return unknown
}

// AtLimit is what all trials of a target at one limit say, over all searches.
type AtLimit struct {
	Bytes          uint64
	Trials, Passed int // that count
	Unfit          int // that tell nothing
	Kills          int // trials that ended by an out-of-memory kill
	P95, CPU       *float64
	Hits, Faults   *float64 // medians over trials whose window came to its end
	Missed         []capacity.Limit
}

// ByLimit gathers a target's trials, by falling limit.
func ByLimit(t findings.TargetFloor) []AtLimit {
	at := map[uint64][]findings.LimitSeen{}
	for _, s := range t.Searches {
		for _, l := range s.Limits {
			at[l.LimitBytes] = append(at[l.LimitBytes], l)
		}
	}
	var all []AtLimit
	for bytes, seen := range at {
		all = append(all, gather(bytes, seen))
	}
	slices.SortFunc(all, func(a, b AtLimit) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

func gather(bytes uint64, seen []findings.LimitSeen) AtLimit {
	a := AtLimit{Bytes: bytes}
	missed := map[capacity.Limit]int{}
	var p95, cpu, hits, faults []float64
	for _, l := range seen {
		if l.Unfit != "" {
			a.Unfit++
			continue
		}
		a.Trials++
		if l.Passed {
			a.Passed++
		}
		if slices.Contains(l.Limits, floor.OOMKill) {
			a.Kills++
		}
		for _, m := range l.Limits {
			missed[m]++
		}
		if l.P95 > 0 {
			p95 = append(p95, l.P95)
		}
		if l.ServerCPU > 0 {
			cpu = append(cpu, l.ServerCPU)
		}
		if w := l.Window; w != nil && w.LimitHits != nil && w.MajorFaults != nil && w.Refaults != nil {
			hits, faults = append(hits, float64(*w.LimitHits)), append(faults, float64(*w.MajorFaults+*w.Refaults))
		}
	}
	a.P95, a.CPU, a.Hits, a.Faults = middle(p95), middle(cpu), middle(hits), middle(faults)
	var often []capacity.Limit
	for m, n := range missed {
		if 2*n >= a.Trials-a.Passed {
			often = append(often, m)
		}
	}
	a.Missed = floor.Order(often)
	return a
}

// limits has a row a target and limit.
func (v view) limits() grid {
	g := grid{title: "LIMITS TRIED", lead: []string{"Medians of the trials at that limit that came to their end. Hits: times in the window that memory was asked for and first had to be taken back from the group; " +
		"came back: pages of the program or of files that had been taken and had to be read again. Missed: what at least half of the trials that failed did so by."},
		columns: []heading{{name: "target", text: true}, {name: "limit", unit: "MiB"}, {name: "passed"}, {name: "killed"}, {name: "p95", unit: "ms"}, {name: "CPU", unit: "µs/req"}, {name: "hits"}, {name: "came back"}, {name: "missed", text: true}}}
	count := func(x *float64) string {
		if x == nil {
			return unknown
		}
		return digits(*x)
	}
	for _, t := range v.e.Floor.Targets {
		for i, a := range ByLimit(t) {
			name := ""
			if i == 0 {
				name = t.Target
			}
			passed := fmt.Sprintf("%d of %d", a.Passed, a.Trials)
			if a.Unfit > 0 {
				passed += fmt.Sprintf(" (%d tell nothing)", a.Unfit)
			}
			cpu := unknown
			if a.CPU != nil {
				cpu = digits(*a.CPU / micros)
			}
			g.rows = append(g.rows, row{cells: []cell{{text: name}, {text: digits(float64(a.Bytes) / mebi)}, {text: passed}, {text: strconv.Itoa(a.Kills)}, {text: v.maybe(a.P95)}, {text: cpu},
				{text: count(a.Hits)}, {text: count(a.Faults)}, {text: capacity.Words(*v.s.Plan.Rules.Capacity, a.Missed)}}})
		}
	}
	return g
}
