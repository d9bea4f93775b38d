package report

import (
	"fmt"
	"strconv"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// view builds grids from one evaluation.
type view struct {
	s *record.Session
	e *findings.Evaluation
}

// rates is the table that most readers stop at.
func (v view) rates(sc record.Scenario) grid {
	return v.grid(describe(sc), sc,
		median("req/s", findings.Rate, unit),
		median("p50 ms", findings.P50, millis),
		median("p99 ms", findings.P99, millis),
		median("max ms", findings.Max, millis),
		median("CPU µs/req", findings.ServerCPU, micros),
	)
}

func (v view) memory(sc record.Scenario) grid {
	return v.grid(describe(sc), sc,
		median("idle MiB", findings.IdlePSS, mebi),
		median("load MiB", findings.LoadPSS, mebi),
		median("end MiB", findings.LoadEndPSS, mebi),
		median("rest MiB", findings.RestPSS, mebi),
		median("peak RSS MiB", findings.Peak, mebi),
		median("processes", findings.Trees, unit),
	)
}

func (v view) latencyDetail(sc record.Scenario) grid {
	return v.detail(sc.Name+": latency, a..b is min..max over runs", []record.Scenario{sc},
		span("p50 ms", findings.P50, millis),
		median("p90 ms", findings.P90, millis),
		median("p95 ms", findings.P95, millis),
		span("p99 ms", findings.P99, millis),
		median("p99.9 ms", findings.P999, millis),
		span("max ms", findings.Max, millis),
	)
}

func (v view) memoryDetail(sc record.Scenario) grid {
	return v.detail(sc.Name+": memory, a..b is min..max over runs; RSS counts shared pages once a process: an upper bound", []record.Scenario{sc},
		span("load PSS MiB", findings.LoadPSS, mebi),
		median("load USS MiB", findings.LoadUSS, mebi),
		median("load RSS MiB", findings.LoadRSS, mebi),
		median("end RSS MiB", findings.LoadEndRSS, mebi),
		span("rest PSS MiB", findings.RestPSS, mebi),
	)
}

func (v view) cpuDetail() grid {
	var scs []record.Scenario
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind != record.Memory {
			scs = append(scs, sc)
		}
	}
	return v.detail("Rate and CPU, a..b is min..max over runs; busy: share of the CPUs it may use", scs,
		span("req/s", findings.Rate, unit),
		span("CPU µs/req", findings.ServerCPU, micros),
		median("generator µs/req", findings.GeneratorCPU, micros),
		median("busy %", findings.ServerBusy, percnt),
		median("generator busy %", findings.GeneratorBusy, percnt),
		median("ready ms", findings.Ready, millis),
	)
}

// grid has a row a target, and what doubts there are at its end.
func (v view) grid(title string, sc record.Scenario, columns ...column) grid {
	g := grid{title: title, names: 1, header: []string{"target"}}
	cells := v.cells(sc)
	for _, c := range cells {
		g.rows = append(g.rows, []string{label(c)})
	}
	g.fill(cells, columns)
	g.header = append(g.header, "errors", "runs", "notes")
	for i, c := range cells {
		errs := strconv.FormatUint(c.Counts.Bad(), 10)
		if len(c.Processes) == 0 {
			errs = noData
		}
		g.rows[i] = append(g.rows[i], errs, fmt.Sprintf("%d/%d", len(c.Processes), c.Planned), v.marks(c))
	}
	return g
}

// detail has a row a target and scenario.
func (v view) detail(title string, scs []record.Scenario, columns ...column) grid {
	g := grid{title: title, names: 1, header: []string{"target"}}
	if len(scs) > 1 {
		g.names, g.header = 2, []string{"scenario", "target"}
	}
	var cells []*findings.Cell
	for _, sc := range scs {
		for _, c := range v.cells(sc) {
			cells = append(cells, c)
			row := []string{sc.Name, label(c)}
			g.rows = append(g.rows, row[2-g.names:])
		}
	}
	g.fill(cells, columns)
	return g
}

func (g *grid) fill(cells []*findings.Cell, columns []column) {
	for _, col := range columns {
		g.header = append(g.header, col.header)
		for i, text := range col.fill(cells) {
			g.rows[i] = append(g.rows[i], text)
		}
	}
}

// ratios is one row a pair and scenario.
func (v view) ratios() grid {
	g := grid{title: "Ratios to the base, paired by block: median (min..max); rate above 1 and the others below 1 favour the target",
		names: 2, header: []string{"target / base", "scenario", "rate", "CPU/req", "memory", "blocks"}}
	at := map[string]int{}
	columns := map[findings.Metric]int{findings.Rate: 2, findings.ServerCPU: 3, findings.LoadPSS: 4}
	for _, r := range v.e.Ratios {
		key := r.Target + "\x00" + r.Scenario
		i, ok := at[key]
		if !ok {
			i = len(g.rows)
			at[key] = i
			g.rows = append(g.rows, []string{v.pair(r), r.Scenario, "", "", "", strconv.Itoa(r.N)})
		}
		g.rows[i][columns[r.Metric]] = times(r.Summary)
	}
	return g
}

func (v view) pair(r findings.Ratio) string {
	text := r.Target + " / " + r.Base
	if c, ok := v.e.Cell(r.Target, r.Scenario); ok && c.Shared {
		text += " (shared)"
	}
	return text
}

// label names a target, and says so wherever nothing keeps it apart from the
// generator.
func label(c *findings.Cell) string {
	if c.Shared {
		return c.Target + " (shared)"
	}
	return c.Target
}

func (v view) cells(sc record.Scenario) []*findings.Cell {
	var cells []*findings.Cell
	for i := range v.e.Cells {
		if v.e.Cells[i].Scenario == sc.Name {
			cells = append(cells, &v.e.Cells[i])
		}
	}
	return cells
}

// marks are the numbers of the notes that speak of a run of the cell.
func (v view) marks(c *findings.Cell) string {
	var numbers []string
	for i, f := range v.e.Findings {
		for _, key := range f.Steps {
			if strings.HasPrefix(key, c.Name()+"/b") {
				numbers = append(numbers, strconv.Itoa(i+1))
				break
			}
		}
	}
	return strings.Join(numbers, ",")
}
