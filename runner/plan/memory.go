package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// MemoryOptions are what the command line may decide of a session of memory alone.
type MemoryOptions struct {
	Kit     string
	CPUs    CPUSets
	Targets []string // names; empty takes all
	Seed    uint64
	Quick   bool
	Repeats int    // fresh processes of each target and scenario
	Cycles  int    // of load and rest
	Users   uint64 // stored by POST
	// BudgetMiB is the memory that the copies of the targets with the same budget are
	// told to keep to, each server in all.
	BudgetMiB int
}

// What a quick session of memory does in place of the rest.
const (
	quickUsers   = 5_000
	quickRepeats = 1
)

// SameBudget ends the name of a target that is told the budget; the target before
// it runs with the runtime's own defaults.
const SameBudget = "-budget"

const (
	// 48 connections are the same number for each of 2, 3, 4, 6 or 8 workers.
	memoryConnections = 48
	memoryIdle        = 2 * time.Second
	// The young generation of V8 is three semi-spaces, which its limit includes.
	semiSpaceMiB = 8
	youngMiB     = 3 * semiSpaceMiB
	// countRate guesses how long a load by count takes; the load waits for no clock.
	countRate = 10_000
)

// NewMemory makes the plan of a session of memory alone (method R4 to R7). It asks
// no primary question: there are as many blocks as somebody has patience for.
func NewMemory(o MemoryOptions) (*record.Plan, error) {
	if o.Quick {
		o.Users, o.Repeats = quickUsers, quickRepeats
	}
	all := slices.DeleteFunc(choice(o.CPUs, o.Targets), func(t record.Target) bool { return t.Twin })
	chosen, err := selectTargets(all, o.Targets, false)
	if err != nil {
		return nil, err
	}
	targets := slices.Clone(chosen)
	var defaults []string
	for _, t := range chosen {
		defaults = append(defaults, t.Name)
		if r := runtimeOf(t); r != "go" && r != "node" {
			continue // there is no flag that tells it a budget
		}
		b, err := budgeted(t, o.BudgetMiB)
		if err != nil {
			return nil, err
		}
		targets = append(targets, b)
	}
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.Memory, Quick: o.Quick, Seed: o.Seed,
		Part: partOf(o.CPUs, chosen), Blocks: o.Repeats, Targets: targets, Scenarios: memoryScenarios(o, defaults),
		RequestTimeout: 5 * time.Second, Rules: DefaultRules(),
	}
	p.Rules.Memory = &record.MemoryRules{GrowthMin: 0.02, GrowthP: 0.05, GrowthCycles: 6, SamplerCostMax: 0.03}
	// What voids such a run is of the server's own doing and would come again.
	p.Rules.RepeatedGroupsMax, p.Rules.VoidStepsMax = 0, 0
	p.Steps = Order(p)
	p.Expected = contractTime
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		p.Expected += StepTime(sc)
	}
	p.Budget = p.Expected
	return p, nil
}

// budgeted is a target that is told how much memory it may use. Go's limit is a
// goal for all that its runtime manages; V8's is hard and for its heap alone, and
// is divided among the workers (method R7).
func budgeted(t record.Target, mib int) (record.Target, error) {
	each := mib / max(t.Workers, 1)
	t.Name += SameBudget
	if t.Base != "" {
		t.Base += SameBudget
	}
	if runtimeOf(t) == "go" {
		t.Env = append(slices.Clone(t.Env), fmt.Sprintf("GOMEMLIMIT=%dMiB", mib))
		return t, nil
	}
	if each <= 2*youngMiB {
		return t, fmt.Errorf("plan memory: a budget of %d MiB leaves each of %d workers of %s %d MiB, want more than %d",
			mib, max(t.Workers, 1), strings.TrimSuffix(t.Name, SameBudget), each, 2*youngMiB)
	}
	t.Argv = slices.Insert(slices.Clone(t.Argv), 1,
		fmt.Sprintf("--max-old-space-size=%d", each-youngMiB), fmt.Sprintf("--max-semi-space-size=%d", semiSpaceMiB))
	return t, nil
}

// memoryScenarios: what so many stored users take; whether load after load leaves
// more behind; what the readings cost.
func memoryScenarios(o MemoryOptions, defaults []string) []record.Scenario {
	rests, rest, pairs := []time.Duration{time.Second, 30 * time.Second, 150 * time.Second}, 30*time.Second, 4
	if o.Quick {
		rests, rest, pairs = []time.Duration{time.Second, 2 * time.Second}, time.Second, 1
	}
	cell := func(name string, r []record.Request, only []string, w record.MemoryWork) record.Scenario {
		return record.Scenario{Name: name, Kind: record.Memory, Requests: r, Connections: memoryConnections, Idle: memoryIdle, Targets: only, Work: &w}
	}
	return []record.Scenario{
		cell("memory-post", post, nil, record.MemoryWork{Requests: o.Users, Stores: true, Cycles: 1, Rests: rests}),
		cell("memory-cycles", get, defaults, record.MemoryWork{Requests: o.Users, Cycles: o.Cycles, Rests: []time.Duration{rest}}),
		cell("memory-sampler", get, defaults, record.MemoryWork{Requests: o.Users / 2, Cycles: 2 * pairs, Alternate: true}),
	}
}

// workTime is how long work by count takes, about.
func workTime(w *record.MemoryWork) time.Duration {
	if w == nil {
		return 0
	}
	each := time.Duration(float64(w.Requests) / countRate * float64(time.Second))
	if n := len(w.Rests); n > 0 {
		each += w.Rests[n-1]
	}
	loads := w.Cycles
	if w.Alternate {
		loads++ // a warm-up
	}
	return time.Duration(loads) * each
}
