package findings

import (
	"fmt"
	"strings"

	"gonogo/runner/record"
)

// utilisation is the law U = X D (method C3) as a check of the accounts: rate x CPU
// time per request is CPU time per time, and no server uses more than its CPUs give.
// It is taken over the time between the two readings, which is a little more than the
// window that the rate is of: over a window of 1.6 s, the drain of 300 connections
// alone would be 1 % too much.
func utilisation(s *record.Session, e *Evaluation) []record.Finding {
	most := s.Plan.Rules.UtilisationMax
	var all []record.Finding
	for _, c := range e.Cells {
		target, _ := s.Plan.Target(c.Target)
		cpus := len(target.CPUs)
		if cpus == 0 {
			cpus = len(s.Host.CPUs)
		}
		var steps []string
		worst := 0.0
		for _, p := range c.Processes {
			used, over := p.run.ServerCPU, p.run.ServerCPUOver
			if most <= 0 || cpus == 0 || used == nil || over == nil || *over <= 0 {
				continue
			}
			if u := float64(used.Total()) / (float64(*over) * float64(cpus)); u > most {
				steps = append(steps, p.Step.Key())
				worst = max(worst, u)
			}
		}
		if len(steps) > 0 {
			all = append(all, record.Finding{
				Code: "utilisation", Severity: record.Warn, Steps: steps,
				Observed: fmt.Sprintf("%.0f %% of %s", 100*worst, count(cpus, "CPU")), Threshold: fmt.Sprintf("%.0f %%", 100*most),
				Text: c.Name() + ": more CPU time was counted than its CPUs can give: its CPU per request is wrong",
			})
		}
	}
	return all
}

// superLinear compares a target of several workers with the one-core target of the
// same runtime: k cores do not serve more than k times what one serves (method K3),
// if the one was at its limit. A row that shares its CPUs with the generator is not
// held against one that does not: what the generator takes from the one the other has.
func superLinear(s *record.Session, e *Evaluation) []record.Finding {
	most := s.Plan.Rules.SuperLinearMax
	var seen, steps []string
	for i := range e.Cells {
		c := &e.Cells[i]
		t, _ := s.Plan.Target(c.Target)
		one := e.oneCore(s, t, c.Scenario)
		if most <= 0 || one == nil || one.Bound != serverBound || c.Kind != record.Closed || c.Shared != one.Shared {
			continue
		}
		many, single := c.Summary[Rate].Median, one.Summary[Rate].Median
		k := serverCPUs(t)
		if single > 0 && many > most*float64(k)*single {
			seen = append(seen, fmt.Sprintf("%s %.2f x %s on %s", c.Name(), many/single, one.Target, count(k, "core")))
			steps = append(append(steps, c.steps()...), one.steps()...)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "super-linear", Severity: record.Warn, Steps: steps, Observed: strings.Join(seen, "; "), Threshold: fmt.Sprintf("%s x the number of cores", limit(most)),
		Text: "several cores serve more than as many times what one serves: one of the two rates is not what it seems",
		Hint: "look for what slowed the one-core target down, or for another number of CPUs than was asked for",
	}}
}

// oneCore is the cell of the one-core target of a target's runtime, if the target has
// more cores.
func (e *Evaluation) oneCore(s *record.Session, t record.Target, scenario string) *Cell {
	if t.Workers < 2 || len(t.Argv) == 0 {
		return nil
	}
	for _, o := range s.Plan.Targets {
		if o.Workers == 1 && !o.Twin && o.Variant == t.Variant && len(o.Argv) > 0 && o.Argv[0] == t.Argv[0] {
			if c, ok := e.Cell(o.Name, scenario); ok {
				return c
			}
		}
	}
	return nil
}
