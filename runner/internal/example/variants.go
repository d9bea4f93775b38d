package example

import (
	"math/rand/v2"
	"time"

	plans "gonogo/runner/plan"
	"gonogo/runner/record"
)

// Variants is a complete session of variants, whose servers are arithmetic: typed takes
// a fifth less of its time for a request than the plain server, chunked a quarter
// more, and with mutex nothing moves. Each call gives another copy.
func Variants() *record.Session {
	p, err := plans.NewMatrix(plans.MatrixOptions{Kit: "example", Names: []string{"typed", "mutex", "chunked"}, Seed: 1, Budget: 6 * time.Minute,
		CPUs: plans.CPUSets{One: []int{0}, OneGenerator: []int{1, 2}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}})
	if err != nil {
		panic("example session: " + err.Error())
	}
	of := func(name string, speed float64) kind {
		k := kinds[name]
		k.rate *= speed
		return k
	}
	servers := map[string]kind{"go-1": of("go-1", 1), "go-1-twin": of("go-1", 1), "go-1+typed": of("go-1", 1.25), "go-1+mutex": of("go-1", 1),
		"node-1": of("node-1", 1), "node-1-twin": of("node-1", 1), "node-1+chunked": of("node-1", 0.8)}
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-variant", Started: epoch, Finished: epoch.Add(6 * time.Minute), Plan: *p, Host: session().Host}
	for _, t := range p.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 120, ReplyBytesGET: 200})
		if !t.Twin {
			probed := record.Run{SchemaVersion: record.SchemaVersion, Step: record.Step{Target: t.Name, Scenario: p.Probe.Name}, Outcome: record.Done, Started: epoch,
				Load: &record.LoadResult{Kind: record.Closed}}
			s.Probes = append(s.Probes, record.Probe{Target: t.Name, CapacityPerSec: servers[t.Name].rate, Run: probed})
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, st := range p.Steps {
		s.Runs = append(s.Runs, runOf(servers[st.Target], p, st, rng))
	}
	return s
}
