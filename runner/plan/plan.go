// Package plan turns options into an ordered, seeded list of steps. It is pure:
// no clock, no files, no machine.
package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Options are what the command line may decide.
type Options struct {
	Kit     string // version of gonogo
	CPUs    CPUSets
	Targets []string // names; empty takes all
	Seed    uint64
	Budget  time.Duration // wanted length of the whole session; 0 takes DefaultBudget
	Quick   bool          // a smoke run of one block, not evidence
}

// DefaultBudget gives every cell at least MinRounds on two CPUs.
const DefaultBudget = 12 * time.Minute

// MinRounds is the least number of fresh processes from which the 95 % interval of a
// median exists at all (method D6: 1 - 2/2^6 = 96.9 %).
const MinRounds = 6

// maxBlocks ends the growth in blocks; a larger budget then lengthens windows.
const maxBlocks = 60

// UnknownTarget says that an asked target does not exist.
type UnknownTarget struct {
	Name  string
	Valid []string
}

func (e *UnknownTarget) Error() string {
	return fmt.Sprintf("select target %q: there is no such target; valid names are %s", e.Name, strings.Join(e.Valid, ", "))
}

// New makes the plan of a session.
func New(o Options) (*record.Plan, error) {
	targets, err := selectTargets(choice(o.CPUs, o.Targets), o.Targets, !o.Quick)
	if err != nil {
		return nil, err
	}
	if !o.Quick {
		targets = withTwins(targets)
	}
	return comparison(o, targets), nil
}

// comparison is the plan of these targets.
func comparison(o Options, targets []record.Target) *record.Plan {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	times, blocks := fit(o, targets)
	capacity := probe()
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Quick: o.Quick, Seed: o.Seed, Budget: o.Budget,
		Blocks: blocks, Targets: targets, Scenarios: scenarios(times, targets), Rules: DefaultRules(), Probe: &capacity,
		RequestTimeout: 5 * time.Second,
	}
	p.Part = partOf(o.CPUs, targets)
	p.Primary = primary(p)
	p.Decision = decision(p)
	p.Steps = order(p, due(blocks))
	p.Confirm = confirmation(p)
	p.Rules.ConfirmStepsMax = confirmSteps(p)
	p.Expected = prelude(targets) + stepsTime(p.Scenarios, targets, blocks)
	return p
}

// Order lays out blocks that each hold every target x scenario.
func Order(p *record.Plan) []record.Step {
	return order(p, func(record.Scenario, record.Target, int) bool { return true })
}

// order lays out the blocks: every target x scenario that is due, shuffled anew (randomised multiple interleaved trials, Abedi & Brecht 2017), so that
// drift of the machine falls on all alike. The shuffle is nested: scenarios in
// random order, and within each the targets in random order. So the members of a
// pair run within seconds of each other, and what drifts over minutes cancels in
// their ratio; one flat shuffle would leave half a block between them.
func order(p *record.Plan, due func(s record.Scenario, t record.Target, block int) bool) []record.Step {
	rng := rand.New(rand.NewPCG(p.Seed, 0x676f6e6f676f)) // "gonogo": a stream of its own
	var steps []record.Step
	for b := 1; b <= p.Blocks; b++ {
		first := len(steps)
		for _, i := range rng.Perm(len(p.Scenarios)) {
			for _, j := range rng.Perm(len(p.Targets)) {
				if !p.Scenarios[i].Has(p.Targets[j].Name) || !due(p.Scenarios[i], p.Targets[j], b) {
					continue
				}
				steps = append(steps, record.Step{Index: len(steps), Block: b, Position: len(steps) - first,
					Target: p.Targets[j].Name, Scenario: p.Scenarios[i].Name})
			}
		}
	}
	return steps
}

// choice is what names are chosen from; without any it is the default itself.
func choice(c CPUSets, names []string) []record.Target {
	if len(names) == 0 {
		return DefaultTargets(c)
	}
	return Targets(c)
}

// selectTargets keeps the named ones, in the default order, each once, and with
// a base its A/A twin if twins is set: an effect without the noise beside it
// carries no verdict. A base that is not named gives way to its own.
func selectTargets(all []record.Target, names []string, twins bool) ([]record.Target, error) {
	if len(names) == 0 {
		return all, nil
	}
	var valid, plain []string // the variants are too many for a message
	for _, t := range all {
		if !t.Twin {
			valid = append(valid, t.Name)
		}
		if !t.Twin && !alternative(t) {
			plain = append(plain, t.Name)
		}
	}
	for _, n := range names {
		if !slices.Contains(valid, n) {
			return nil, &UnknownTarget{n, plain}
		}
	}
	var kept []record.Target
	for _, t := range all {
		if !slices.Contains(names, t.Name) && !(t.Twin && twins && slices.Contains(names, t.Base)) {
			continue
		}
		for t.Base != "" && !slices.Contains(names, t.Base) {
			t.Base = all[slices.IndexFunc(all, func(o record.Target) bool { return o.Name == t.Base })].Base
		}
		kept = append(kept, t)
	}
	return kept, nil
}
