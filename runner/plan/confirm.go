package plan

import (
	"math/rand/v2"
	"time"

	"gonogo/runner/record"
)

const (
	confirmBlocks = 2           // beyond the last
	confirmTime   = time.Minute // for all confirmation runs of a session
)

// confirmation lays out the blocks in which maxima can be confirmed: the cells of
// GET whose latency is printed, shuffled as all blocks are. Which of the steps run
// is decided by what the session saw; that they exist, and in which order, is not.
// A twin is there for its noise and has no maximum that anybody reads.
func confirmation(p *record.Plan) []record.Step {
	if p.Quick {
		return nil
	}
	rng := rand.New(rand.NewPCG(p.Seed, 0x636f6e6669726d)) // "confirm": a stream of its own
	var steps []record.Step
	for b := p.Blocks + 1; b <= p.Blocks+confirmBlocks; b++ {
		first := len(steps)
		for _, i := range rng.Perm(len(p.Scenarios)) {
			for _, j := range rng.Perm(len(p.Targets)) {
				sc, t := p.Scenarios[i], p.Targets[j]
				if confirmable(sc) && !t.Twin && sc.Has(t.Name) {
					steps = append(steps, record.Step{Index: len(p.Steps) + len(steps), Block: b, Position: len(steps) - first,
						Target: t.Name, Scenario: sc.Name})
				}
			}
		}
	}
	return steps
}

func confirmable(s record.Scenario) bool {
	if s.Kind != record.Closed && s.Kind != record.Open {
		return false
	}
	for _, r := range s.Requests {
		if r.Method != "GET" {
			return false
		}
	}
	return true
}

// confirmSteps is how many of the steps fit into confirmTime.
func confirmSteps(p *record.Plan) int {
	longest := time.Duration(0)
	for _, st := range p.Confirm {
		sc, _ := p.Scenario(st.Scenario)
		longest = max(longest, StepTime(sc))
	}
	if longest == 0 {
		return 0
	}
	return min(len(p.Confirm), int(confirmTime/longest))
}

// ConfirmTime is how long the confirmation runs take at most. It is no part of
// Plan.Expected: mostly there is nothing to confirm.
func ConfirmTime(p *record.Plan) time.Duration {
	if p.Rules.ConfirmStepsMax == 0 {
		return 0
	}
	return confirmTime
}
