package findings

import (
	"fmt"
	"strings"

	"gonogo/runner/record"
)

// Bound says what limited the rate of a closed loop.
type Bound string

const (
	serverBound    Bound = "server-bound"
	generatorBound Bound = "generator-bound"
	neitherBound   Bound = "bound by neither"
	sharedBound    Bound = "shared" // server and generator take CPU from each other
)

// boundBy is "" where there is no saturating load or nothing is known of the CPUs.
func boundBy(c *Cell, r record.Rules) Bound {
	server, ok := c.Summary[ServerBusy]
	switch generator, known := c.Summary[GeneratorBusy]; {
	case c.Kind != record.Closed || !ok:
		return ""
	case c.Shared:
		return sharedBound
	case server.Median >= r.ServerCPUBusyMin:
		return serverBound
	case known && r.GeneratorCPUMax > 0 && generator.Median > r.GeneratorCPUMax:
		return generatorBound
	}
	return neitherBound
}

// limits asks of each closed cell what limited its rate. Where the server did not
// use up its CPUs something else did, and the rate says nothing of the server
// but that it can do more. Shared cells are left to their label: there the
// generator takes CPU from the server by design.
func limits(s *record.Session, e *Evaluation) []record.Finding {
	r := s.Plan.Rules
	bound := record.Finding{
		Code: "generator-bound", Severity: record.Warn,
		Text: "the generator was the limit: the server can do at least this rate, no more is known",
		Hint: "give the generator more CPUs, or another machine",
	}
	idle := record.Finding{
		Code: "not-server-bound", Severity: record.Warn,
		Text: "the server did not use up its CPUs: its rate is a lower bound",
		Hint: "look for a limit beside CPU: other programs on these CPUs, connections, a lock",
	}
	near := record.Finding{
		Code: "generator-near-limit", Severity: record.Note,
		Text: "the generator is close to its own limit: latencies may hold some of its own waiting",
	}
	cells := map[string][]string{}
	for _, c := range e.Cells {
		server := c.Summary[ServerBusy]
		generator, known := c.Summary[GeneratorBusy]
		f := &near
		switch c.Bound {
		case generatorBound:
			f = &bound
		case neitherBound:
			f = &idle
		case serverBound:
			if !known || r.GeneratorCPUMax <= 0 || generator.Median <= r.GeneratorCPUMax {
				continue
			}
		default:
			continue
		}
		f.Steps = append(f.Steps, c.steps()...)
		cells[f.Code] = append(cells[f.Code], fmt.Sprintf("%s server %s, generator %s of its CPUs", c.Name(), share(server.Median, true), share(generator.Median, known)))
	}
	var all []record.Finding
	for _, f := range []record.Finding{bound, idle, near} {
		if names := cells[f.Code]; len(names) > 0 {
			f.Text = fmt.Sprintf("in %s %s", count(len(names), "cell"), f.Text)
			f.Observed = strings.Join(names, "; ")
			f.Threshold = fmt.Sprintf("server at least %s, generator at most %s", share(r.ServerCPUBusyMin, true), share(r.GeneratorCPUMax, true))
			all = append(all, f)
		}
	}
	return all
}

// share prints a ratio of 0..1 as percent.
func share(ratio float64, known bool) string {
	if !known {
		return "unknown"
	}
	return fmt.Sprintf("%.0f %%", 100*ratio)
}

// sharedCPUs explains the label of targets that nothing keeps apart from the
// generator.
func sharedCPUs(s *record.Session, _ *Evaluation) []record.Finding {
	var names []string
	for _, t := range s.Plan.Targets {
		if t.Shared() {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "shared-cpus", Severity: record.Note,
		Observed: some(names), Threshold: "disjoint CPUs",
		Text: some(names) + ": server and generator share CPUs (labelled shared): rate and latency are of the pair; CPU per request and memory are the server's own",
		Hint: "on a machine with more CPUs they are kept apart",
	}}
}
