package plan

import (
	"time"

	"gonogo/runner/record"
)

// What a decision needs beyond verdicts. None has a published source: a saving
// below a tenth of the bill is within what prices and traffic move by in a year,
// and 60 % of its CPUs leaves a replica room for the loss of a neighbour.
const (
	savingMin = 0.10
	cpuTarget = 0.60
)

// ownWork spans from a request without work of its own to one that asks a model or
// renders a page (method P3).
var ownWork = []time.Duration{0, 100 * time.Microsecond, 500 * time.Microsecond, 2 * time.Millisecond, 10 * time.Millisecond}

// decision fixes what gonogo decide may conclude from, before the first run. A
// session of servers without a base has nothing to decide.
func decision(p *record.Plan) *record.DecisionRules {
	r := record.DecisionRules{SavingMin: savingMin, CPUTarget: cpuTarget, OwnWork: ownWork}
	for _, t := range p.Targets {
		if t.Base != "" && !t.Twin && !alternative(t) {
			r.Pairs = append(r.Pairs, record.DecisionPair{Target: t.Name, Base: t.Base, Cores: max(t.Workers, 1)})
		}
	}
	if len(r.Pairs) == 0 {
		return nil
	}
	return &r
}
