package page

import (
	"fmt"
	"html/template"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// colours is how many series differ in colour and shape; more begin anew.
const colours = 6

// view builds figures from one evaluation.
type view struct {
	s *record.Session
	e *findings.Evaluation
}

// figure is a chart with its sentence and its table.
type figure struct {
	Title   string
	Unit    string
	Reading []value
	Chart   template.HTML
	Table   table
}

// table has a row for each target or point; the first cell of a row is its head.
type table struct {
	Head []string
	Rows [][]value
}

// cells of a scenario with runs that count, in the order of the plan.
func (v view) cells(sc record.Scenario) []*findings.Cell {
	var cells []*findings.Cell
	for i := range v.e.Cells {
		if c := &v.e.Cells[i]; c.Scenario == sc.Name && len(c.Processes) > 0 {
			cells = append(cells, c)
		}
	}
	return cells
}

// series is the colour and shape of a target, the same in all charts.
func (v view) series(target string) int {
	for i, t := range v.s.Plan.Targets {
		if t.Name == target {
			return i % colours
		}
	}
	return 0
}

// run is the record of a process.
func (v view) run(p findings.Process) *record.Run {
	for i := range v.s.Runs {
		if r := &v.s.Runs[i]; r.Step == p.Step && r.Attempt == p.Attempt {
			return r
		}
	}
	return nil
}

// describe says what a scenario sends, and how.
func describe(sc record.Scenario) string {
	var requests []string
	for _, r := range sc.Requests {
		if text := r.Method + " " + r.Path; len(requests) == 0 || requests[len(requests)-1] != text {
			requests = append(requests, text)
		}
	}
	text := fmt.Sprintf("%s, %d connections", strings.Join(requests, " + "), sc.Connections)
	switch {
	case sc.Kind == record.Memory:
		return text + ", memory read under load; its rate and latency are not published"
	case sc.Kind == record.Capacity:
		return text + ", open loop: the rate is searched for, each trial in a fresh process"
	case sc.Kind == record.MemoryFloor:
		return text + fmt.Sprintf(", open loop at %g/s: the memory limit is searched for, each trial in a fresh process", sc.RatePerSec)
	case sc.Overload != nil:
		return text + fmt.Sprintf(", open loop at %.3g %% of the capacity that was found, in a fresh process", sc.Overload.RateOfCapacity*100)
	case sc.Kind == record.Open && sc.RateOfCapacity > 0:
		return text + fmt.Sprintf(", open loop at %.3g %% of the smaller capacity of a pair", sc.RateOfCapacity*100)
	case sc.Kind == record.Open:
		return text + ", open loop: requests are due on a schedule whatever the server does"
	}
	return text + ", closed loop: a connection sends when its reply came, so latency is the rate once more"
}

// legend is the shape and colour of each target, once for each scenario.
type entry struct {
	Name, Note string
	Mark       template.HTML
}

func (v view) legend(cells []*findings.Cell) []entry {
	var all []entry
	for _, c := range cells {
		s := &svg{}
		s.open("svg", "viewBox", "0 0 14 14", "aria-hidden", "true")
		i := v.series(c.Target)
		s.el("path", "class", fmt.Sprintf("mark s%d", i), "d", shape(i, 7, 7, 5))
		e := entry{Name: c.Target, Mark: s.done()}
		if t, _ := v.s.Plan.Target(c.Target); t.Twin {
			e.Note = "A/A twin of " + t.Base
		} else if c.Shared {
			e.Note = "shares CPUs with the generator"
		}
		all = append(all, e)
	}
	return all
}

// short cuts a name to what fits beside a chart; the table has it whole.
func short(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
