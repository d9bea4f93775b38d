package plan

import (
	"math"

	"gonogo/runner/record"
)

// share is in which part of the blocks a cell runs, and where it begins.
type share struct{ of, phase float64 }

// shares spend the budget where noise needs it. On machines of the kind this was
// calibrated on, a rate takes up to twice the processes that CPU time or memory
// take to find 10 % (docs/calibration.md), and what no primary test reads
// needs an interval and no more. Open loop and memory take turns, so that blocks are
// about equally long.
var shares = map[string]share{
	getMany:    {0.875, 0},
	getFew:     {0.875, 0.125},
	getOpen:    {0.5, 0.5},
	memoryOpen: {0.5, 0},
	postFew:    {0.375, 0.625},
	postMany:   {0.375, 0.125},
}

// sharedRate is for rates of a server that shares its CPUs with the generator: they
// are of the two together, and no primary test reads them.
var sharedRate = share{0.375, 0.625}

// shareOf is that of a target in a scenario.
func shareOf(s record.Scenario, t record.Target) share {
	if t.Shared() && (s.Name == getFew || s.Name == getMany) {
		return sharedRate
	}
	if sh, ok := shares[s.Name]; ok {
		return sh
	}
	return share{1, 0}
}

// in reports whether a cell of this share runs in a block: as often as the share
// passes a whole number. A single block holds everything.
func (sh share) in(block, blocks int) bool {
	return blocks == 1 || sh.until(block) > sh.until(block-1)
}

func (sh share) until(block int) int { return int(math.Floor(float64(block)*sh.of + sh.phase + 1e-9)) }

// rounds is in how many of the blocks it runs.
func (sh share) rounds(blocks int) int {
	if blocks == 1 {
		return 1
	}
	return sh.until(blocks) - sh.until(0)
}

func due(blocks int) func(record.Scenario, record.Target, int) bool {
	return func(s record.Scenario, t record.Target, block int) bool { return shareOf(s, t).in(block, blocks) }
}

// Fewest is how many rounds the least of the primary tests has, or without one the
// least of all cells.
func Fewest(p *record.Plan) int {
	fewest := math.MaxInt
	for _, q := range p.Primary {
		fewest = min(fewest, p.Rounds(q.Target, q.Scenario))
	}
	if len(p.Primary) > 0 {
		return fewest
	}
	for _, s := range p.Scenarios {
		for _, t := range p.Targets {
			if s.Has(t.Name) {
				fewest = min(fewest, p.Rounds(t.Name, s.Name))
			}
		}
	}
	return fewest
}
