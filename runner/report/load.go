package report

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// load is the one table of rates, latencies and CPU: a group a scenario, a row a
// target.
func (v view) load() grid { return v.loadOf(func(record.Scenario) bool { return true }) }

// asked is load for a page: scenarios that no primary question reads are a line each.
func (v view) asked() grid {
	primary := func(sc record.Scenario) bool {
		return len(v.s.Plan.Primary) == 0 || slices.ContainsFunc(v.s.Plan.Primary, func(q record.Primary) bool { return q.Scenario == sc.Name })
	}
	g := v.loadOf(primary)
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind == record.Memory || primary(sc) {
			continue
		}
		var all []string
		for _, c := range v.cells(sc) {
			t, _ := v.s.Plan.Target(c.Target)
			rate, ok := c.Summary[findings.Rate]
			if r, known := v.ratios[ratioKey{c.Target, sc.Name, findings.Rate}]; ok && known && !t.Twin {
				all = append(all, fmt.Sprintf("%s %s k/s, %s x %s", c.Target, digits(rate.Median/kilo), digits(r.Median), t.Base))
			}
		}
		if len(all) == 0 {
			all = []string{noData}
		}
		g.foot = append(g.foot, fmt.Sprintf("%s (exploratory): %s", sc.Name, strings.Join(all, "; ")))
	}
	return g
}

func (v view) loadOf(shown func(record.Scenario) bool) grid {
	columns := v.loadColumns()
	g := grid{title: "LOAD", columns: headings(columns), tight: v.several}
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind == record.Memory || !shown(sc) {
			continue
		}
		g.add(v.describe(sc), v.cells(sc), columns)
	}
	g.lead = []string{"Medians over fresh processes; max: the largest of all; CPU of server and generator: a request. Closed loop: no queueing " +
		"shows; ratio of rates." + v.openLoop()}
	g.foot = v.doubts()
	return g
}

// openLoop is what to know of open loops, if there are any.
func (v view) openLoop() string {
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind != record.Open {
			continue
		}
		share := ""
		if sc.RateOfCapacity > 0 {
			share = fmt.Sprintf("%.3g %% of the smaller capacity, ", sc.RateOfCapacity/percnt)
		}
		return " Open loop: " + share + "latency from the intended time; ratio of CPU."
	}
	return ""
}

func (v view) loadColumns() []column {
	return slices.Concat(
		[]column{v.target()},
		v.ranged(median("rate", "k req/s", findings.Rate, kilo), span(findings.Rate, kilo)),
		[]column{v.medianLatency("p50", findings.P50), v.medianLatency("p90", findings.P90), v.medianLatency("p95", findings.P95)},
		v.ranged(v.medianLatency("p99", findings.P99), v.spanLatency(findings.P99)),
		[]column{v.medianLatency("p99.9", findings.P999), v.maximum(), errorCount()},
		[]column{median("CPU", "µs", findings.ServerCPU, micros), median("gen.", "µs", findings.GeneratorCPU, micros), v.loadRatio(), bound()},
	)
}

// ranged is a median with its range beside it, where there are ranges at all.
func (v view) ranged(c, spread column) []column {
	if !v.several {
		return []column{c}
	}
	c.ranged = true
	return []column{c, spread}
}

// loadRatio is of what a scenario leaves free: the rate in a closed loop, the CPU
// that a request costs where the rate is given.
func (v view) loadRatio() column {
	return v.ratio(func(c *findings.Cell) findings.Metric {
		if c.Kind == record.Open {
			return findings.ServerCPU
		}
		return findings.Rate
	}, func(s findings.Summary) string { return digits(s.Median) })
}

// bound is one word on what limited a rate.
func bound() column {
	words := map[findings.Bound]string{"server-bound": "server", "generator-bound": "gen.", "bound by neither": "none", "shared": "shared"}
	return column{label: true, heading: heading{name: "bound", text: true}, of: func(c *findings.Cell) cell {
		word, ok := words[c.Bound]
		switch {
		case ok:
			return cell{text: word}
		case c.Shared:
			return cell{text: "shared"}
		case len(c.Processes) == 0:
			return cell{}
		case c.Kind == record.Open:
			return cell{text: "rate"} // what was offered
		}
		return cell{text: unknown}
	}}
}

// maximum is the largest latency of all runs, not a median: one request decides
// it. A rejected one is struck, with the largest of the other runs beside it; one
// of which too little is known has a question mark.
func (v view) maximum() column {
	return column{heading: heading{name: "max", unit: "ms"}, of: func(c *findings.Cell) cell {
		s, ok := c.Summary[findings.Max]
		if !ok {
			return cell{text: unknown}
		}
		largest := v.latency(c, s.Max)
		switch f, _ := v.doubted(c); f.Code {
		case rejectedMax:
			x := cell{struck: largest}
			if kept, ok := v.otherMaximum(c, f); ok {
				x.text = kept
			}
			return x
		case undeterminedMax:
			return cell{text: largest + "?"}
		}
		return cell{text: largest}
	}}
}

// The codes of findings against a maximum.
const (
	rejectedMax     = "artefact-max"
	undeterminedMax = "undetermined-max"
)

// doubted is the finding against a cell's maximum.
func (v view) doubted(c *findings.Cell) (record.Finding, bool) {
	for _, f := range v.e.Findings {
		if (f.Code == rejectedMax || f.Code == undeterminedMax) && len(f.Steps) > 0 && cellOf(f.Steps[0]) == c.Name() {
			return f, true
		}
	}
	return record.Finding{}, false
}

// otherMaximum is the largest of the runs that do not show what a finding rejects.
func (v view) otherMaximum(c *findings.Cell, f record.Finding) (string, bool) {
	var kept []float64
	for _, p := range c.Processes {
		if max, ok := p.Values[findings.Max]; ok && !slices.Contains(f.Steps, p.Step.Key()) {
			kept = append(kept, max)
		}
	}
	if len(kept) == 0 {
		return "", false
	}
	return v.latency(c, slices.Max(kept)), true
}

// doubts are the footnotes of maxima: what was rejected, what is undetermined.
// The notes of report.md say why, one by one.
func (v view) doubts() []string {
	said := map[string][]string{}
	for i := range v.e.Cells {
		c := &v.e.Cells[i]
		f, ok := v.doubted(c)
		if m := c.Maximum; ok && m != nil {
			text := fmt.Sprintf("%s %s in %d of %s, %s", c.Name(), inMillis(v.latency(c, m.Value)), m.SeenIn, count(m.Of, "run"), m.Class)
			if kept, ok := v.otherMaximum(c, f); ok && f.Code == rejectedMax {
				text += " (the others: " + inMillis(kept) + ")"
			}
			said[f.Code] = append(said[f.Code], text)
		}
	}
	var all []string
	if names := said[rejectedMax]; len(names) > 0 {
		all = append(all, "* maximum rejected, kept in the record: "+some(names, 6, "; ")+".")
	}
	if names := said[undeterminedMax]; len(names) > 0 {
		all = append(all, "? maximum undetermined, conclude nothing from it: "+some(names, 4, "; ")+".")
	}
	return all
}

// inMillis adds the unit, unless the text has one.
func inMillis(text string) string {
	if strings.HasSuffix(text, "s") {
		return text
	}
	return text + " ms"
}
