package report

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// view builds grids from one evaluation.
type view struct {
	s       *record.Session
	e       *findings.Evaluation
	ratios  map[ratioKey]findings.Ratio
	several bool // some cell has more than one run, so that there are ranges
	ms      func(float64) string
}

type ratioKey struct {
	target, scenario string
	metric           findings.Metric
}

func newView(s *record.Session, e *findings.Evaluation) view {
	v := view{s: s, e: e, ratios: map[ratioKey]findings.Ratio{}, ms: brief}
	for _, r := range e.Ratios {
		v.ratios[ratioKey{r.Target, r.Scenario, r.Metric}] = r
	}
	for _, c := range e.Cells {
		v.several = v.several || len(c.Processes) > 1
	}
	return v
}

// cells of a scenario: those that the plan has.
func (v view) cells(sc record.Scenario) []*findings.Cell {
	var cells []*findings.Cell
	for i := range v.e.Cells {
		if c := &v.e.Cells[i]; c.Scenario == sc.Name && c.Planned > 0 {
			cells = append(cells, c)
		}
	}
	return cells
}

// add appends the cells of a scenario, one row each, under its group line.
func (g *grid) add(group string, cells []*findings.Cell, columns []column) {
	for _, c := range cells {
		r := row{group: group}
		group = ""
		for i, col := range columns {
			switch {
			case len(c.Processes) > 0 || col.label:
				r.cells = append(r.cells, col.of(c))
			case i == 1:
				r.cells = append(r.cells, cell{text: noData})
			default:
				r.cells = append(r.cells, cell{})
			}
		}
		g.rows = append(g.rows, r)
	}
}

func headings(columns []column) []heading {
	var all []heading
	for _, c := range columns {
		all = append(all, c.heading)
	}
	return all
}

// target is the column of names: an A/A twin is marked, and a cell of which some
// runs do not count says how many do.
func (v view) target() column {
	return column{label: true, heading: heading{name: "target", text: true}, of: func(c *findings.Cell) cell {
		name := c.Target
		if t, _ := v.s.Plan.Target(c.Target); t.Twin {
			name += " A/A"
		}
		if n := len(c.Processes); n < c.Planned {
			name += fmt.Sprintf(" %d/%d", n, c.Planned)
		}
		return cell{text: name}
	}}
}

// ratio is the column of one ratio to the base.
func (v view) ratio(metric func(*findings.Cell) findings.Metric, text func(findings.Summary) string) column {
	return column{heading: heading{name: "ratio"}, of: func(c *findings.Cell) cell {
		t, _ := v.s.Plan.Target(c.Target)
		if t.Base == "" {
			if slices.ContainsFunc(v.s.Plan.Targets, func(o record.Target) bool { return o.Base == t.Name }) {
				return cell{text: "base"}
			}
			return cell{}
		}
		r, ok := v.ratios[ratioKey{c.Target, c.Scenario, metric(c)}]
		if !ok {
			return cell{text: unknown}
		}
		return cell{text: text(r.Summary)}
	}}
}

func errorCount() column {
	return column{heading: heading{name: "err"}, of: func(c *findings.Cell) cell { return cell{text: fmt.Sprint(c.Counts.Bad())} }}
}

// cpus says whether server and generator are kept apart.
func cpus() column {
	return column{label: true, heading: heading{name: "CPUs", text: true}, of: func(c *findings.Cell) cell { return cell{text: apart(c.Shared)} }}
}

func apart(shared bool) string {
	if shared {
		return "shared"
	}
	return "own"
}

// describe says what a scenario sends, and how.
func (v view) describe(sc record.Scenario) string {
	var requests []string
	for _, r := range sc.Requests {
		requests = append(requests, r.Method+" "+r.Path)
	}
	text := fmt.Sprintf("%s: %s, %s", sc.Name, strings.Join(slices.Compact(requests), " + "), count(sc.Connections, "connection"))
	if sc.Kind == record.Open || sc.RatePerSec > 0 || sc.RateOfCapacity > 0 {
		return text + ", open loop" + v.offered(sc)
	}
	return text + ", closed loop"
}

// offered are the rates that an open loop offered, each pair its own, in their order.
func (v view) offered(sc record.Scenario) string {
	var rates []string
	for _, c := range v.cells(sc) {
		t, _ := v.s.Plan.Target(c.Target)
		if s, ok := c.Summary[findings.Offered]; ok && t.Base == "" {
			rates = append(rates, digits(s.Median/kilo))
		}
	}
	if len(rates) == 0 {
		return ""
	}
	return ", " + strings.Join(rates, " and ") + " k/s offered"
}
