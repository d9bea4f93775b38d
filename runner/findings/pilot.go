package findings

import (
	"fmt"
	"math"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// pilotRounds is after how many pairs of every primary test a session can say what
// it will be able to see: a deviation needs three values to be more than a guess.
const pilotRounds = 3

// PilotBlock is the block after which every primary test has its pilot pairs; false
// where that is the end of the plan or beyond.
func PilotBlock(p *record.Plan) (block int, ok bool) {
	for _, q := range p.Primary {
		rounds := 0
		for _, st := range p.Steps {
			if st.Target == q.Target && st.Scenario == q.Scenario && rounds < pilotRounds {
				rounds++
				block = max(block, st.Block)
			}
		}
		if rounds < pilotRounds {
			return 0, false
		}
	}
	return block, block > 0 && block < p.Blocks
}

// Pilot says, one line a primary test, which difference the planned blocks would
// find, and within which margin they would confirm equality, each with a power of
// 80 %, given how much the first blocks differ (method D7).
// It tells nothing of which way anything points.
func Pilot(s *record.Session) []string {
	e := Evaluate(s)
	j := newJudgement(s, &e)
	var lines []string
	for _, q := range s.Plan.Primary {
		effect, err := j.effect(q.Target, q.Base, q.Scenario, Metric(q.Metric))
		if err != nil || effect.Deviation == nil || effect.Blocks < pilotRounds {
			continue
		}
		rounds := s.Plan.Rounds(q.Target, q.Scenario)
		ratio, ok := stats.MinimumDetectable(*effect.Deviation, rounds, len(s.Plan.Primary))
		if !ok {
			continue
		}
		line := fmt.Sprintf("%s of %s and %s in %s: %.0f %%", q.Metric, q.Target, q.Base, q.Scenario, 100*(ratio-1))
		if margin, ok := stats.SmallestMargin(*effect.Deviation, rounds); ok {
			line += fmt.Sprintf("; equality within %.0f %%", math.Ceil(100*margin))
		}
		lines = append(lines, line)
	}
	return lines
}
