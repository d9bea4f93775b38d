package findings

import (
	"fmt"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// PilotBlocks is after how many blocks a session can say what it will be able to
// see: a deviation needs three values to be more than a guess.
const PilotBlocks = 3

// Pilot says, one line a primary test, which difference the planned blocks would
// find with a power of 80 %, given how much the first blocks differ (method D7).
// It tells nothing of which way anything points.
func Pilot(s *record.Session) []string {
	e := Evaluate(s)
	j := newJudgement(s, &e)
	var lines []string
	for _, q := range s.Plan.Primary {
		effect, err := j.effect(q.Target, q.Base, q.Scenario, Metric(q.Metric))
		if err != nil || effect.Deviation == nil || effect.Blocks < PilotBlocks {
			continue
		}
		ratio, ok := stats.MinimumDetectable(*effect.Deviation, s.Plan.Blocks, len(s.Plan.Primary))
		if !ok {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s of %s and %s in %s: %.0f %%", q.Metric, q.Target, q.Base, q.Scenario, 100*(ratio-1)))
	}
	return lines
}
