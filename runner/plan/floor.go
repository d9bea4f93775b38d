package plan

import (
	"fmt"
	"slices"
	"time"

	"gonogo/runner/record"
)

// FloorOptions are what the command line may decide of a session of memory floors.
type FloorOptions struct {
	Kit      string
	CPUs     CPUSets
	Targets  []string // names; empty takes the pair on one core and the cluster
	Seed     uint64
	Quick    bool
	Repeats  int           // searches for each target
	Rate     float64       // requests per second, of an open loop
	Window   time.Duration // for so long
	Quantile float64       // of the response time, 0..1
	SLO      time.Duration
	Ceiling  int // MiB, where a search starts
}

// MatchedLimit ends the name of a target whose runtime is told each limit; the target
// before it runs with the runtime's own defaults.
const MatchedLimit = "-matched"

const (
	floorScenario = "memory-floor"
	// floorTrials is how many trials a search takes, about, and floorTrial how much of the
	// time of a whole one: those below the floor often end at once.
	floorTrials = 16
	floorShare  = 0.75
)

// FloorRules are the steps of a search for a memory limit. Without a source there: what
// runtimes are told of the limit, as platforms advise (Go's own guide: 5 to 10 % of
// headroom below the limit; for V8's old space three quarters are usual), and from when
// on a window counts as stalled.
func FloorRules(ceilingMiB int) record.FloorRules {
	const mebi = 1 << 20
	return record.FloorRules{
		Lowest: 4 * mebi, Ceiling: uint64(max(ceilingMiB, 0)) * mebi, Step: 4 * mebi, Bracket: 0.03,
		High: record.Votes{Need: 3, Of: 4}, Low: record.Votes{Need: 2, Of: 3}, UnfitMax: 4, TrialsMax: 40,
		GoShare: 0.9, OldSpace: 0.75, StallMin: 0.01, FaultsMin: 10,
	}
}

// NewFloor makes the plan of a session of memory floors: in each block a search for
// each target as it comes, and one for each that is told the limit.
func NewFloor(o FloorOptions) (*record.Plan, error) {
	limits, rules, warmup := CapacityRules(o.Quantile, o.SLO), FloorRules(o.Ceiling), capacityWarmup
	if o.Quick {
		o.Window, o.Repeats, warmup = 500*time.Millisecond, 1, 300*time.Millisecond
		limits.RequestsMin, rules.Bracket, rules.High, rules.Low = 50, 0.3, record.Votes{Need: 1, Of: 1}, record.Votes{Need: 1, Of: 1}
	}
	all := slices.DeleteFunc(DefaultTargets(o.CPUs), func(t record.Target) bool { return t.Twin })
	if len(o.Targets) == 0 {
		o.Targets = []string{all[0].Name, all[1].Name, all[3].Name}
	}
	chosen, err := selectTargets(all, o.Targets, false)
	if err != nil {
		return nil, err
	}
	var targets []record.Target
	for _, t := range chosen {
		t.Group = &record.GroupLimits{MemoryBytes: rules.Ceiling}
		m := t
		m.Name, m.Matched = t.Name+MatchedLimit, true
		if m.Base != "" {
			m.Base += MatchedLimit
		}
		targets = append(targets, t, m)
	}
	search := record.Scenario{Name: floorScenario, Kind: record.MemoryFloor, Requests: get, Connections: memoryConnections, RatePerSec: o.Rate,
		Arrivals: "poisson", Warmup: warmup, Window: o.Window}
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.MemoryFloor, Quick: o.Quick, Seed: o.Seed,
		Part: len(chosen) < len(all), Blocks: o.Repeats, Targets: targets, Scenarios: []record.Scenario{search},
		Rules: DefaultRules(), RequestTimeout: 5 * time.Second,
	}
	p.Rules.Capacity, p.Rules.Floor = &limits, &rules
	p.Rules.ErrorRatioMax, p.Rules.RepeatedGroupsMax, p.Rules.VoidStepsMax = 1, 0, 1 // as of capacity: a miss is an answer
	p.Steps = Order(p)
	p.Expected = contractTime
	for _, st := range p.Steps {
		p.Expected += FloorTime(p, st)
	}
	p.Budget = p.Expected
	return p, nil
}

// FloorTime is how long a search for a memory limit takes, about.
func FloorTime(p *record.Plan, st record.Step) time.Duration {
	sc, _ := p.Scenario(st.Scenario)
	return time.Duration(floorTrials * floorShare * float64(StepTime(sc)))
}

// Limited is a target in a control group of so much memory. One that is matched is told:
// Go's limit is a goal for all that its runtime manages, V8's is for its old space alone
// and is divided among the workers.
func Limited(t record.Target, r record.FloorRules, bytes uint64) record.Target {
	t.Group = &record.GroupLimits{MemoryBytes: bytes}
	switch mib := float64(bytes) / (1 << 20); {
	case !t.Matched:
	case t.Argv[0] == "node":
		each := max(1, int(mib*r.OldSpace/float64(max(t.Workers, 1))))
		t.Argv = slices.Insert(slices.Clone(t.Argv), 1, fmt.Sprintf("--max-old-space-size=%d", each))
	default:
		t.Env = append(slices.Clone(t.Env), fmt.Sprintf("GOMEMLIMIT=%dMiB", max(1, int(mib*r.GoShare))))
	}
	return t
}
