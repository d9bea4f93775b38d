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
func (v view) load() grid {
	columns := v.loadColumns()
	g := grid{title: "LOAD", columns: headings(columns), tight: v.several}
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind == record.Memory {
			continue
		}
		g.add(v.describe(sc), v.cells(sc), columns)
	}
	g.lead = []string{"Medians over fresh processes, min..max over the same; max: the largest of all. Closed loop: a connection sends when its " +
		"reply came, so queueing does not show; ratio of rates. " + v.openLoop() + "CPU: of the server; gen.: of the generator. Bound: what limited the rate."}
	g.foot = v.rejections()
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
			share = fmt.Sprintf("%.3g %% of the smaller capacity of a pair is offered, ", sc.RateOfCapacity/percnt)
		}
		return "Open loop: " + share + "latency counts from the intended time; ratio of CPU. "
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
		v.ranged(median("CPU", "µs/req", findings.ServerCPU, micros), span(findings.ServerCPU, micros)),
		[]column{median("gen.", "µs", findings.GeneratorCPU, micros), v.loadRatio(), bound()},
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
	words := map[findings.Bound]string{"server-bound": "server", "generator-bound": "generator", "bound by neither": "neither", "shared": "shared"}
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
			return cell{text: "offered"}
		}
		return cell{text: unknown}
	}}
}

// maximum is the largest latency of all runs, not a median: one request decides
// it. If it was rejected it is struck, and the largest of the other runs stands
// beside it.
func (v view) maximum() column {
	return column{heading: heading{name: "max", unit: "ms"}, of: func(c *findings.Cell) cell {
		s, ok := c.Summary[findings.Max]
		if !ok {
			return cell{text: unknown}
		}
		kept, rejected := v.maxima(c)
		if len(rejected) == 0 || slices.Max(rejected) < s.Max {
			return cell{text: v.latency(c, s.Max)}
		}
		x := cell{struck: v.latency(c, s.Max)}
		if len(kept) > 0 {
			x.text = v.latency(c, slices.Max(kept))
		}
		return x
	}}
}

// artefact is the code of findings that reject a maximum.
const artefact = "artefact-max"

// rejection is the finding that rejects maxima of a cell.
func (v view) rejection(c *findings.Cell) (record.Finding, bool) {
	for _, f := range v.e.Findings {
		if f.Code == artefact && len(f.Steps) > 0 && strings.HasPrefix(f.Steps[0], c.Name()+"/b") {
			return f, true
		}
	}
	return record.Finding{}, false
}

// maxima parts the maxima of a cell's runs by whether they are rejected.
func (v view) maxima(c *findings.Cell) (kept, rejected []float64) {
	f, _ := v.rejection(c)
	for _, p := range c.Processes {
		max, ok := p.Values[findings.Max]
		switch {
		case !ok:
		case slices.Contains(f.Steps, p.Step.Key()):
			rejected = append(rejected, max)
		default:
			kept = append(kept, max)
		}
	}
	return kept, rejected
}

// rejections are the footnotes of struck maxima.
func (v view) rejections() []string {
	var all []string
	for i := range v.e.Cells {
		c := &v.e.Cells[i]
		f, ok := v.rejection(c)
		if !ok {
			continue
		}
		text := "* " + f.Text
		if kept, _ := v.maxima(c); len(kept) > 0 {
			text += "; the largest of the other runs is " + v.latency(c, slices.Max(kept)) + " ms"
		}
		all = append(all, text+".")
	}
	return all
}
