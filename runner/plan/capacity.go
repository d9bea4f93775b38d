package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// CapacityOptions are what the command line may decide of a session of capacity.
type CapacityOptions struct {
	Kit      string
	CPUs     CPUSets
	Targets  []string // names; empty takes the pair on one core
	Seed     uint64
	Quick    bool
	Repeats  int           // searches for each target
	Window   time.Duration // of a trial; 0 takes the default
	Quantile float64       // of the response time, 0..1
	SLO      time.Duration
}

// The scenarios of a session of capacity.
const (
	searchScenario   = "capacity"
	overloadScenario = "overload"
)

const (
	capacityConnections = 200 // as the open loop of a comparison
	capacityWarmup      = time.Second
	capacityWindow      = 4 * time.Second // the trend of a queue takes four
	overloadWindow      = 20 * time.Second
	// searchTrials is how many trials a search takes, about: it is the mean over simulated
	// queues.
	searchTrials = 25
)

// CapacityRules are the limits of a trial and the steps of the search (method P1, P2).
// Without a source there: the floor below which a latency that differs is no queue, a
// tenth of what it may be, and the p-value of its trend, which four values in order reach.
func CapacityRules(quantile float64, slo time.Duration) record.CapacityRules {
	return record.CapacityRules{
		AchievedMin: 0.99, ErrorsMax: 0.001, DroppedMax: 0.001, Quantile: quantile, SLO: slo,
		QueueFactor: 1.2, QueueFloor: slo / 10, QueueP: 0.1, RequestsMin: 3000,
		StartRatio: 0.25, StepFactor: 1.5, Bracket: 0.03, Low: record.Votes{Need: 4, Of: 5}, High: record.Votes{Need: 3, Of: 5},
		UnfitMax: 4, TrialsMax: 60, WindowMax: time.Minute,
	}
}

// NewCapacity makes the plan of a session of capacity: in each block a search for
// each target, side by side, then an overload of each.
func NewCapacity(o CapacityOptions) (*record.Plan, error) {
	window, over, warmup := capacityWindow, overloadWindow, capacityWarmup
	if o.Window > 0 {
		window = o.Window
	}
	rules := CapacityRules(o.Quantile, o.SLO)
	if o.Quick {
		window, over, warmup, o.Repeats = 500*time.Millisecond, time.Second, 300*time.Millisecond, 1
		rules.RequestsMin, rules.Bracket, rules.TrialsMax = 100, 0.2, 30
	}
	all := slices.DeleteFunc(choice(o.CPUs, o.Targets), func(t record.Target) bool { return t.Twin })
	if len(o.Targets) == 0 {
		o.Targets = []string{all[0].Name, all[1].Name}
	}
	targets, err := selectTargets(all, o.Targets, false)
	if err != nil {
		return nil, err
	}
	capacity := probe()
	search := record.Scenario{Name: searchScenario, Kind: record.Capacity, Requests: get, Connections: capacityConnections,
		Arrivals: "poisson", Warmup: warmup, Window: window}
	overload := search
	overload.Name, overload.Kind, overload.Window = overloadScenario, record.Open, over
	overload.Overload = &record.OverloadWork{RateOfCapacity: 1.2, HealthEvery: 100 * time.Millisecond,
		RecoveryRate: 0.5, RecoveryStep: time.Second, RecoveryMax: 30 * time.Second}
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.Capacity, Quick: o.Quick, Seed: o.Seed,
		Part: partOf(o.CPUs, targets), Blocks: o.Repeats, Targets: targets, Scenarios: []record.Scenario{search, overload},
		Rules: DefaultRules(), Probe: &capacity, RequestTimeout: 5 * time.Second,
	}
	p.Rules.Capacity = &rules
	// What a trial misses is its answer, and no reason to discard it; a search repeats
	// what was disturbed itself.
	p.Rules.ErrorRatioMax, p.Rules.RepeatedGroupsMax, p.Rules.VoidStepsMax = 1, 0, 1
	p.Steps = searchesFirst(p)
	p.Expected = prelude(targets)
	for _, st := range p.Steps {
		p.Expected += SearchTime(p, st)
	}
	p.Budget = p.Expected
	return p, nil
}

// searchesFirst puts the searches of a block before its overloads, for which they
// find the rate.
func searchesFirst(p *record.Plan) []record.Step {
	steps := Order(p)
	slices.SortStableFunc(steps, func(a, b record.Step) int {
		if a.Block != b.Block || a.Scenario == b.Scenario {
			return a.Block - b.Block
		}
		return map[bool]int{true: -1, false: 1}[a.Scenario == searchScenario]
	})
	block, at := 0, 0
	for i := range steps {
		if steps[i].Block != block {
			block, at = steps[i].Block, 0
		}
		steps[i].Index, steps[i].Position = i, at
		at++
	}
	return steps
}

// SearchTime is how long a step of a session of capacity takes, about: a search is
// many trials, and an overload is recovered from.
func SearchTime(p *record.Plan, st record.Step) time.Duration {
	sc, _ := p.Scenario(st.Scenario)
	if sc.Kind == record.Capacity {
		return searchTrials * StepTime(sc)
	}
	return StepTime(sc) + 4*time.Second
}

// ParseSLO reads p95<20ms: a percentile and the response time that it is to stay below.
func ParseSLO(text string) (quantile float64, slo time.Duration, err error) {
	number, limit, _ := strings.Cut(strings.TrimPrefix(text, "p"), "<")
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.HasPrefix(text, "p") {
		return 0, 0, fmt.Errorf("read SLO %q: want the form p95<20ms", text)
	}
	slo, err = time.ParseDuration(limit)
	if err != nil || slo <= 0 || !(percent > 0) || percent >= 100 {
		return 0, 0, fmt.Errorf("read SLO %q: want a percentile between 0 and 100 and a time above 0, as in p95<20ms", text)
	}
	return percent / 100, slo, nil
}
