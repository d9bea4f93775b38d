package findings

import (
	"cmp"
	"slices"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Confirm chooses, of the steps that a plan holds to confirm maxima, those of the
// cells whose maximum is not understood and would be read. It is not understood if it
// is undetermined, or reproduced by nobody knows what: these runs alone ask the
// runtime. It would be read if it exceeds the plan's factor times the typical maximum
// of its scenario's cells, or, where it is no chance, of any one of them: servers of one
// runtime share their pauses, and could make them the typical. Where not all may run the undetermined come first and among
// equals the largest, and the steps keep the plan's order.
func Confirm(s *record.Session) []record.Step {
	e := Evaluate(s)
	var open []*Cell
	for i := range e.Cells {
		if c := &e.Cells[i]; c.Maximum != nil && c.Maximum.open() && c.Maximum.Of >= 3 &&
			c.Maximum.Value > s.Plan.Rules.ArtefactMaxFactor*e.beside(c) {
			open = append(open, c)
		}
	}
	slices.SortStableFunc(open, func(a, b *Cell) int {
		if x, y := a.Maximum.Standing == Undetermined, b.Maximum.Standing == Undetermined; x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Maximum.Value, a.Maximum.Value)
	})
	var steps []record.Step
	for _, c := range open {
		for _, st := range s.Plan.Confirm {
			if st.Target == c.Target && st.Scenario == c.Scenario && len(steps) < s.Plan.Rules.ConfirmStepsMax {
				steps = append(steps, st)
			}
		}
	}
	slices.SortFunc(steps, func(a, b record.Step) int { return cmp.Compare(a.Index, b.Index) })
	return steps
}

// open reports whether further runs can tell more of a maximum.
func (m *Maximum) open() bool {
	return m.Standing == Undetermined || m.Standing == Reproduced && m.Class == Unexplained && m.Traced == 0
}

// beside is the maximum that a reader would hold a cell's against. In a plan of one
// target it is its own.
func (e *Evaluation) beside(c *Cell) float64 {
	var typical []float64 // of the scenario's cells, their median maxima
	for i := range e.Cells {
		if sum, ok := e.Cells[i].Summary[Max]; ok && e.Cells[i].Scenario == c.Scenario {
			typical = append(typical, sum.Median)
		}
	}
	if c.Maximum.Standing == Reproduced {
		least, _, _ := stats.MinMax(typical)
		return least
	}
	m, _ := stats.Median(typical)
	return m
}
