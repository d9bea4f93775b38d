package diff

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Result is how two archives differ. Differences give A's value first.
type Result struct {
	Plan     []Difference `json:"plan,omitempty"`
	Contract []Difference `json:"contract,omitempty"`
	Versions []Difference `json:"versions,omitempty"`
	Machine  []Difference `json:"machine,omitempty"`  // not empty: two machines, or nothing shows that they are one
	Settings []Difference `json:"settings,omitempty"` // of the machine
	Doubts   []string     `json:"doubts,omitempty"`   // why a session is no evidence
	Effects  []Effect     `json:"effects,omitempty"`  // B over A
	Skipped  []Skipped    `json:"skipped,omitempty"`
}

// SameMachine reports whether nothing speaks against one machine.
func (r *Result) SameMachine() bool { return len(r.Machine) == 0 }

// Skipped is a row that cannot be compared.
type Skipped struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target,omitempty"` // "": all of them
	Why      string `json:"why"`
}

// Sessions compares everything but the numbers, which Effects does.
func Sessions(a, b *record.Session) (Result, error) {
	var r Result
	plan, err := Values(planned(a), planned(b))
	if err != nil {
		return r, err
	}
	contract, err := Values(byTarget(a.Contract), byTarget(b.Contract))
	if err != nil {
		return r, err
	}
	versions, err := Values(versionsOf(a), versionsOf(b))
	if err != nil {
		return r, err
	}
	r.Plan, r.Contract, r.Versions = plan, contract, versions
	r.Machine, r.Settings = Machines(a.Host, b.Host)
	r.Doubts = append(doubts("A", a), doubts("B", b)...)
	return r, nil
}

// planned is what was asked for: targets, scenarios and rules by name. The seed and
// the order that it shuffles differ between any two sessions.
func planned(s *record.Session) map[string]any {
	p := s.Plan
	targets, scenarios := map[string]record.Target{}, map[string]record.Scenario{}
	for _, t := range p.Targets {
		targets[t.Name] = t
	}
	for _, sc := range p.Scenarios {
		scenarios[sc.Name] = sc
	}
	primary := map[string]record.Primary{}
	for _, q := range p.Primary {
		primary[strings.Join([]string{q.Metric, q.Scenario, q.Target, q.Base}, " ")] = q
	}
	return map[string]any{
		"kind": p.Kind, "quick": p.Quick, "budget_ns": p.Budget, "blocks": p.Blocks, "targets": targets, "scenarios": scenarios,
		"request_timeout_ns": p.RequestTimeout, "rules": p.Rules, "primary": primary, "scale": p.Scale,
	}
}

func byTarget(all []record.Parity) map[string]record.Parity {
	m := map[string]record.Parity{}
	for _, p := range all {
		m[p.Target] = p
	}
	return m
}

// versionsOf are those of what was measured and of what measured it, and how the
// live processes said that they were set.
func versionsOf(s *record.Session) map[string]any {
	live := map[string]record.Settings{}
	for i := range s.Runs {
		r := &s.Runs[i]
		if _, seen := live[r.Step.Target]; r.Settings != nil && !seen {
			set := *r.Settings
			set.WorkerPIDs = nil
			live[r.Step.Target] = set
		}
	}
	h := s.Host
	return map[string]any{
		"kit": s.Plan.Kit, "kernel": h.Kernel, "go_version": h.GoVersion, "node_version": h.NodeVersion,
		"binaries_sha256": h.Binaries, "source_revision": h.SourceRevision, "live": live,
	}
}

func doubts(name string, s *record.Session) []string {
	var all []string
	switch {
	case s.Plan.Quick:
		all = append(all, name+" is a smoke run")
	case !s.Complete():
		all = append(all, name+" is incomplete")
	}
	if s.Host.Grade == "D" {
		all = append(all, name+"'s machine failed a gate")
	}
	return all
}

// offeredTolerance: latency in an open loop is of the rate that was offered. A load
// that differs by more is other work.
const offeredTolerance = 0.05

// comparable says why a cell of both sessions does not show the same work, or "".
func comparable(a, b *record.Session, x, y *findings.Cell) (string, error) {
	s, _ := a.Plan.Scenario(x.Scenario)
	t, _ := b.Plan.Scenario(y.Scenario)
	s.Targets, t.Targets = nil, nil
	d, err := Values(s, t)
	if err != nil {
		return "", err
	}
	if len(d) > 0 {
		var what []string
		for _, x := range d {
			what = append(what, x.String())
		}
		return "the scenario is another one: " + strings.Join(what, "; "), nil
	}
	if s.Profile != "" {
		return "its runs carried a profiler, and its numbers are of that too", nil
	}
	if p, q := a.Plan.Rules.Capacity, b.Plan.Rules.Capacity; s.Kind.Searched() && (p == nil || q == nil || *p != *q) {
		return "the limits of a rate, or the search for it, are others", nil
	}
	if p, q := a.Plan.Rules.Floor, b.Plan.Rules.Floor; s.Kind == record.MemoryFloor && (p == nil || q == nil || *p != *q) {
		return "the search for a memory limit is another one", nil
	}
	of, ok := x.Summary[findings.Offered]
	with, ok2 := y.Summary[findings.Offered]
	if ok && ok2 && s.Kind == record.Open && (with.Median > of.Median*(1+offeredTolerance) || of.Median > with.Median*(1+offeredTolerance)) {
		return fmt.Sprintf("%.0f/s were offered in A and %.0f/s in B", of.Median, with.Median), nil
	}
	return "", nil
}

// metricsOf are those that say something of the server in a scenario of a kind.
func metricsOf(k record.Kind) []findings.Metric {
	switch k {
	case record.Memory:
		return []findings.Metric{findings.IdlePSS, findings.LoadPSS, findings.RestPSS, findings.Peak}
	case record.Capacity:
		return []findings.Metric{findings.CapacityRate}
	case record.MemoryFloor:
		return []findings.Metric{findings.FloorBytes}
	case record.Open:
		return []findings.Metric{findings.P50, findings.P99, findings.P999, findings.ServerCPU}
	}
	return []findings.Metric{findings.Rate, findings.ServerCPU}
}

// targetsOf both sessions, as A has them.
func targetsOf(a, b *record.Session) []record.Target {
	return slices.DeleteFunc(slices.Clone(a.Plan.Targets), func(t record.Target) bool {
		_, ok := b.Plan.Target(t.Name)
		return !ok
	})
}
