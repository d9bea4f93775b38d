package report

import (
	"fmt"

	"gonogo/runner/findings"
)

// capacity says how much of a request the choice can change at all: capacity times
// of closed loops, and their difference as a share of a request's own work.
func (v view) capacity() grid {
	g := grid{
		title: "Capacity time: median (min..max)",
		lead: []string{"Capacity time is 1 / rate of a saturated server, neither latency nor CPU time. Saved: what the target gives back of each request, paired by block, " +
			"and what share that is of a request with 2 ms or 10 ms of work of its own, which the choice does not change."},
		columns: []heading{{name: "target / base", text: true}, {name: "target", unit: "µs/req"}, {name: "base", unit: "µs/req"}, {name: "saved", unit: "µs/req"}},
	}
	group := ""
	for _, c := range findings.CapacityTimes(v.s, v.e) {
		r := row{cells: []cell{{text: c.Target + " / " + c.Base}, {text: times(c.Time, micros)}, {text: times(c.BaseTime, micros)}, {text: times(c.Saved, micros)}}}
		if c.Scenario != group {
			r.group, group = c.Scenario, c.Scenario
		}
		for _, share := range c.Shares {
			if len(g.rows) == 0 {
				g.columns = append(g.columns, heading{name: fmt.Sprintf("of %v", share.Work), unit: "%"})
			}
			r.cells = append(r.cells, cell{text: digits(share.Ratio / percnt)})
		}
		if len(g.rows) == 0 {
			g.columns = append(g.columns, heading{name: "limited by", text: true})
		}
		r.cells = append(r.cells, cell{text: CapacityLimit(v.e, c)})
		g.rows = append(g.rows, r)
	}
	return g
}
