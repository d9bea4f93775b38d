package plan

import (
	"slices"
	"time"

	"gonogo/runner/record"
)

// MatrixOptions are what the command line may decide of a session of variants.
type MatrixOptions struct {
	Kit   string
	CPUs  CPUSets
	Names []string // variants, or targets that are some; empty takes all of the one-core servers
	Skip  []string // targets to leave out, whatever Names says
	Seed  uint64
	// Budget is the wanted length; 0 takes MatrixBudget.
	Budget time.Duration
	Quick  bool
}

// MatrixBudget gives all variants MinRounds blocks and one more.
const MatrixBudget = 15 * time.Minute

// matrixTimes are short: what is bought is processes, and a variant is as cold as the
// plain server that it is held against.
var matrixTimes = times{400 * time.Millisecond, 600 * time.Millisecond, 1200 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond}

// NewMatrix makes the plan of a session of variants: each beside its plain server in
// the same blocks, and that beside its twin. It asks no primary question: of a hundred
// effects some would pass any test by chance, and to correct for a hundred takes more
// blocks than anybody waits for.
func NewMatrix(o MatrixOptions) (*record.Plan, error) {
	names, err := matrixNames(o)
	if err != nil {
		return nil, err
	}
	targets, err := selectTargets(Targets(o.CPUs), names, false)
	if err != nil {
		return nil, err
	}
	for i := range targets {
		if targets[i].Variant == "" {
			targets[i].Base = "" // how Go and Node compare is not the question here
		}
	}
	targets = withTwins(targets)
	t, budget := matrixTimes, o.Budget
	if budget == 0 {
		budget = MatrixBudget
	}
	if o.Quick {
		t = quickTimes
	}
	capacity := closed("probe", get, 50, t)
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.Variants, Quick: o.Quick, Seed: o.Seed, Budget: budget, Part: true,
		Blocks: 1, Targets: targets, Scenarios: matrixScenarios(t), Rules: DefaultRules(), Probe: &capacity, RequestTimeout: 5 * time.Second,
	}
	// A group is all targets: to repeat one for one disturbed run costs a block.
	p.Rules.RepeatedGroupsMax = 0
	block := time.Duration(0)
	for _, s := range p.Scenarios {
		block += time.Duration(len(targets)) * StepTime(s)
	}
	p.Expected = contractTime + block
	for _, x := range targets {
		if !x.Twin {
			p.Expected += StepTime(capacity)
		}
	}
	for !o.Quick && p.Blocks < maxBlocks && (p.Blocks < MinRounds || p.Expected+block <= budget) {
		p.Blocks++
		p.Expected += block
	}
	p.Steps = Order(p)
	return p, nil
}

// matrixNames are the targets that names stand for, and their plain ones.
func matrixNames(o MatrixOptions) ([]string, error) {
	all := slices.DeleteFunc(Targets(o.CPUs), func(t record.Target) bool { return t.Variant == "" })
	var names []string
	add := func(t record.Target) {
		if !slices.Contains(o.Skip, t.Name) {
			names = append(names, t.Name, t.Base)
		}
	}
	for _, t := range all {
		if len(o.Names) == 0 && t.Workers == 1 {
			add(t)
		}
	}
	for _, n := range o.Names {
		i := slices.IndexFunc(all, func(t record.Target) bool { return t.Name == n || t.Variant == n && t.Workers == 1 })
		if i < 0 {
			return nil, &UnknownTarget{n, variantNames()}
		}
		add(all[i])
	}
	return names, nil
}

func variantNames() []string {
	var names []string
	for _, v := range Variants {
		names = append(names, v.Name)
	}
	return names
}

func matrixScenarios(t times) []record.Scenario {
	open := record.Scenario{Name: getOpen, Kind: record.Open, Requests: get, Connections: 200, RateOfCapacity: openShare,
		Arrivals: "poisson", Warmup: t.warmup, Window: t.window}
	return []record.Scenario{
		closed("get", get, 50, t), closed("post", post, 50, t), open,
		{Name: memoryOpen, Kind: record.Memory, Requests: get, Connections: 300, RateOfCapacity: openShare, Arrivals: "poisson",
			Window: t.memoryLoad, Idle: t.idle, Rest: t.rest},
	}
}
