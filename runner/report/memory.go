package report

import (
	"fmt"
	"slices"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// memory is the one table of memory: a group a scenario, a row a target.
func (v view) memory() grid {
	columns := v.memoryColumns()
	g := grid{title: "MEMORY", columns: headings(columns)}
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind != record.Memory {
			continue
		}
		group := fmt.Sprintf("%s; idle %v after the start, %v of load, rest %v later", v.describe(sc), sc.Idle, sc.Window, sc.Rest)
		g.add(group, v.cells(sc), columns)
	}
	g.lead = []string{"PSS of the process tree; ratio of load. RSS, summed: the double count. Peak sums peaks (<=)."}
	return g
}

func (v view) memoryColumns() []column {
	return slices.Concat(
		[]column{v.target(), median("idle", "MiB", findings.IdlePSS, mebi)},
		v.ranged(median("load", "MiB", findings.LoadPSS, mebi), span(findings.LoadPSS, mebi)),
		[]column{
			median("end", "MiB", findings.LoadEndPSS, mebi),
			median("rest", "MiB", findings.RestPSS, mebi),
			peak(),
			median("RSS", "MiB", findings.LoadRSS, mebi),
			measured(heading{name: "processes"}, findings.Trees, func(_ *findings.Cell, s findings.Summary) string { return fmt.Sprint(s.Median) }),
			errorCount(),
			v.ratio(func(*findings.Cell) findings.Metric { return findings.LoadPSS }, func(s findings.Summary) string { return digits(s.Median) }),
			cpus(),
		},
	)
}

// peak is an upper bound where several processes peak each at its own time.
func peak() column {
	return measured(heading{name: "peak", unit: "MiB"}, findings.Peak, func(c *findings.Cell, s findings.Summary) string {
		text := digits(s.Median / mebi)
		if c.Summary[findings.Trees].Max > 1 {
			text = "<= " + text
		}
		return text
	})
}
