package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// limits asks of each closed cell what limited its rate. Where the server did not
// use up its CPUs something else did, and the rate says nothing of the server
// but that it can do more. Shared cells are left to their label: there the
// generator takes CPU from the server by design.
func limits(s *record.Session, e *Evaluation) []record.Finding {
	r := s.Plan.Rules
	var all []record.Finding
	for _, c := range e.Cells {
		server, ok := c.Summary[ServerBusy]
		if c.Kind != record.Closed || c.Shared || !ok {
			continue
		}
		generator, known := c.Summary[GeneratorBusy]
		full := known && r.GeneratorCPUMax > 0 && generator.Median > r.GeneratorCPUMax
		f := record.Finding{
			Severity: record.Warn, Steps: c.steps(),
			Observed:  fmt.Sprintf("server %s, generator %s of its CPUs", share(server.Median, true), share(generator.Median, known)),
			Threshold: fmt.Sprintf("server at least %s, generator at most %s", share(r.ServerCPUBusyMin, true), share(r.GeneratorCPUMax, true)),
		}
		switch {
		case server.Median < r.ServerCPUBusyMin && full:
			f.Code, f.Text = "generator-bound", c.Name()+": the generator was the limit: the server can do at least this rate, no more is known"
			f.Hint = "give the generator more CPUs, or another machine"
		case server.Median < r.ServerCPUBusyMin:
			f.Code, f.Text = "not-server-bound", c.Name()+": the server did not use up its CPUs: its rate is a lower bound"
			f.Hint = "look for a limit beside CPU: connections, the network stack, a lock"
		case full:
			f.Code, f.Severity = "generator-near-limit", record.Note
			f.Text = c.Name() + ": the generator is close to its own limit; latencies may hold some of its own waiting"
		default:
			continue
		}
		all = append(all, f)
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
