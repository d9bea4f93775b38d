package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// memoryAlone is the page of a session of memory alone: what so many users take,
// whether cycle after cycle leaves more behind, and what reading costs.
func (v view) memoryAlone() document {
	return document{
		title:     "How much memory do these servers need?",
		mark:      mark(v.s, *v.e),
		head:      head(v.s),
		verdicts:  v.stored(),
		load:      v.growth(),
		memory:    v.samplerCost(),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: it asked no question before its first run."}, foot(v.s)...),
	}
}

// stored has a row a target: memory before, at the end of, and after storing K users.
func (v view) stored() grid {
	g := grid{title: "USERS STORED", lead: []string{"PSS of the process tree in MiB, median of fresh processes (min..max at the end of load): what all hold the same number of users in. " +
		"RSS, summed over processes, is here to show how often it counts a shared page, and for nothing else."}}
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Work == nil || !sc.Work.Stores {
			continue
		}
		columns := v.storedColumns(sc)
		g.columns = headings(columns)
		g.add(v.describe(sc)+fmt.Sprintf(", until %d users are stored", uint64(sc.Work.Cycles)*sc.Work.Requests), v.cells(sc), columns)
	}
	g.foot = []string{"Told: what the live process says of its limits. GOMEMLIMIT is a goal for all that Go's runtime manages; V8's limit is hard, for each process, and of its heap alone. " +
		"The ratio is target / base at the end of load and at the last rest, by block. Peak sums the peaks of the processes: an upper bound (<=) where there are several."}
	return g
}

func (v view) storedColumns(sc record.Scenario) []column {
	columns := []column{
		v.target(),
		{heading: heading{name: "told", text: true}, of: func(c *findings.Cell) cell { return cell{text: v.told(c.Target)} }},
		{heading: heading{name: "users"}, of: func(c *findings.Cell) cell { return cell{text: v.users(c)} }},
		median("idle", "", findings.IdlePSS, mebi),
		both("end", "", findings.LoadEndPSS, mebi),
	}
	for _, after := range sc.Work.Rests {
		columns = append(columns, column{heading: heading{name: "+" + strconv.FormatFloat(after.Seconds(), 'f', -1, 64) + " s"}, of: func(c *findings.Cell) cell { return cell{text: v.after(c, after)} }})
	}
	return append(columns, peak(), median("RSS", "", findings.LoadEndRSS, mebi),
		measured(heading{name: "proc."}, findings.Trees, func(_ *findings.Cell, s findings.Summary) string { return fmt.Sprint(s.Median) }),
		column{heading: heading{name: "ratio"}, of: func(c *findings.Cell) cell { return cell{text: v.storedRatio(c)} }},
		errorCount())
}

// told is what a live process said of its limits.
func (v view) told(target string) string {
	for _, r := range v.s.Runs {
		s := r.Settings
		if r.Step.Target != target || s == nil {
			continue
		}
		switch {
		case s.HeapLimitBytes > 0:
			return fmt.Sprintf("V8 heap %d x %s", max(s.Workers, 1), digits(float64(s.HeapLimitBytes)/mebi))
		case s.GOMEMLIMIT != "":
			return "GOGC " + s.GOGC + ", limit " + goLimit(s.GOMEMLIMIT)
		}
		break
	}
	return unknown
}

// goLimit prints bytes; the largest number that there is means none.
func goLimit(bytes string) string {
	n, err := strconv.ParseUint(bytes, 10, 64)
	switch {
	case err != nil:
		return bytes
	case n >= 1<<62:
		return "none"
	}
	return digits(float64(n) / mebi)
}

// users are those in store after the load, the same in all runs or each one's.
func (v view) users(c *findings.Cell) string {
	var all []string
	for _, r := range v.s.Runs {
		if r.Step.Target != c.Target || r.Step.Scenario != c.Scenario || r.Outcome != record.Done || r.Memory == nil {
			continue
		}
		for _, one := range r.Memory.Cycles[max(0, len(r.Memory.Cycles)-1):] {
			if one.Users != nil {
				all = append(all, strconv.FormatUint(*one.Users, 10))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func (v view) after(c *findings.Cell, after time.Duration) string {
	for _, at := range v.e.Memory.Instants {
		if at.Target == c.Target && at.Scenario == c.Scenario && at.After == after && at.PSS != nil {
			return digits(at.PSS.Median / mebi)
		}
	}
	return unknown
}

func (v view) storedRatio(c *findings.Cell) string {
	t, _ := v.s.Plan.Target(c.Target)
	if t.Base == "" {
		return "base"
	}
	var parts []string
	for _, r := range v.e.Memory.Ratios {
		if r.Target == c.Target && r.Scenario == c.Scenario {
			parts = append(parts, digits(r.Median))
		}
	}
	if len(parts) == 0 {
		return unknown
	}
	return strings.Join(parts, ", ")
}

// growth has a row a target and process.
func (v view) growth() grid {
	r := v.s.Plan.Rules.Memory
	g := grid{title: "CYCLES OF LOAD AND REST", columns: []heading{{name: "target", text: true}, {name: "run", text: true}, {name: "at rest, MiB", text: true}, {name: "a cycle"}, {name: "p"}, {name: "", text: true}}}
	g.lead = []string{fmt.Sprintf("Memory at rest after each load of one process: the same GETs each time, so nothing needs to stay. Growing: by more than %s %% a cycle "+
		"(Theil-Sen) at p < %g (Mann-Kendall) in more than half of the processes, from %d cycles on.", digits(100*r.GrowthMin), r.GrowthP, r.GrowthCycles)}
	for _, t := range v.e.Memory.Growth {
		for i, p := range t.Processes {
			name, word := "", ""
			if i == 0 {
				name, word = t.Target, string(t.Trend)
				if t.Cycles >= r.GrowthCycles {
					word += fmt.Sprintf(", seen in %d of %d", t.Seen, len(t.Processes))
				}
			}
			var at []string
			for _, b := range p.Bytes {
				at = append(at, digits(b/mebi))
			}
			g.rows = append(g.rows, row{cells: []cell{{text: name}, {text: fmt.Sprint(i + 1)}, {text: strings.Join(at, " ")}, {text: fmt.Sprintf("%+.1f %%", 100*p.Slope)}, {text: fmt.Sprintf("%.2g", p.P)}, {text: word}}})
		}
	}
	return g
}

// samplerCost has a row a target.
func (v view) samplerCost() grid {
	g := grid{title: "WHAT READING COSTS", columns: []heading{{name: "target", text: true}, {name: "pairs"}, {name: "readings"}, {name: "rate [95 %]", text: true}, {name: "CPU/request [95 %]", text: true}, {name: "", text: true}}}
	g.lead = []string{"The same load with readings once a second and without, in turns in one process: with / without. The interval is over pairs of loads."}
	for _, c := range v.e.Memory.Sampler {
		g.rows = append(g.rows, row{cells: []cell{{text: c.Target}, {text: fmt.Sprint(c.Pairs)}, {text: fmt.Sprint(c.Reads)}, {text: interval(c.Rate)}, {text: interval(c.CPU)}, {text: c.Text}}})
	}
	return g
}

func interval(x *findings.Interval) string {
	switch {
	case x == nil:
		return unknown
	case !x.Reached:
		return fmt.Sprintf("%.3f", x.Value)
	}
	return fmt.Sprintf("%.3f [%.3f..%.3f]", x.Value, x.Lo, x.Hi)
}
