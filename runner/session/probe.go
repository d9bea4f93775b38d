package session

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Probe finds each target's capacity in a short closed loop, in a fresh process
// of its own. Open-loop scenarios take their rate from it; nothing else does.
func Probe(ctx context.Context, c Config) ([]record.Probe, error) {
	guard, err := sut.StartGuard(c.Guard[0], c.Guard[1:]...)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	var probes []record.Probe
	for _, t := range c.Plan.Targets {
		if t.Twin {
			continue
		}
		st := record.Step{Target: t.Name, Scenario: c.Plan.Probe.Name}
		s := step{Config: c, guard: guard, target: t, scenario: *c.Plan.Probe,
			run: &record.Run{SchemaVersion: record.SchemaVersion, Step: st, PlanSHA256: c.PlanSHA256, Started: time.Now().UTC()}}
		s.execute(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.run.Outcome == record.Failed {
			return nil, fmt.Errorf("probe capacity of %s: %s", t.Name, s.run.Reason)
		}
		l := s.run.Load
		probes = append(probes, record.Probe{Target: t.Name, CapacityPerSec: float64(l.Counts.InWindow) / l.Window.Seconds(), Run: *s.run})
	}
	return probes, nil
}

// rate is a share of the smaller capacity among a target and those that it is
// compared with, in whole requests per second. In a sweep these are all: levels are
// compared at equal work.
func rate(p *record.Plan, t record.Target, capacity map[string]float64, share float64) float64 {
	smallest := math.Inf(1)
	for _, o := range p.Targets {
		if c, ok := capacity[o.Name]; ok && (root(p, o) == root(p, t) || p.Kind == record.Scaling) {
			smallest = min(smallest, c)
		}
	}
	if math.IsInf(smallest, 1) {
		return 0
	}
	return max(1, math.Floor(share*smallest))
}

// root is the end of a chain of bases: a variant is held against its plain server, and
// that against another.
func root(p *record.Plan, t record.Target) string {
	for range p.Targets { // a plan from elsewhere may name bases in a ring
		base, ok := p.Target(t.Base)
		if !ok {
			break
		}
		t = base
	}
	return t.Name
}
