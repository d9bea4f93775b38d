package record

import (
	"math"
	"strings"
	"testing"
)

func sweep() Session {
	return Session{SchemaVersion: SchemaVersion, Plan: Plan{Kind: Scaling, Targets: []Target{{Name: "a"}}, Scenarios: []Scenario{{Name: "load", Kind: Closed}, {Name: "held", Kind: Memory}},
		Rules: Rules{Scale: &ScaleRules{LevelsMin: 6, SpanMin: 16, ResidualMax: 0.05, BeyondMax: 2, BendMax: 0.1, LinePoints: 4, Resamples: 100}},
		Scale: &Scale{Factor: "connections", Levels: []float64{0, 1}, Points: []ScalePoint{{Arm: "a", Level: 0, Target: "a", Load: "load", Memory: "held"}, {Arm: "a", Level: 1, Target: "a", Load: "load"}}}}}
}

// A sweep that points at what is not there, or is without end, is none.
func TestASweepIsValidated(t *testing.T) {
	if s := sweep(); s.Validate() != nil {
		t.Fatal(s.Validate())
	}
	for want, alter := range map[string]func(*Plan){
		"and a sweep of a factor: false":       func(p *Plan) { p.Scale = nil },
		"and a sweep of a factor: true":        func(p *Plan) { p.Kind = "" },
		"a plan of 9223372036854775807 blocks": func(p *Plan) { p.Blocks = math.MaxInt },
		"without rules":                        func(p *Plan) { p.Rules.Scale = nil },
		"over 0 levels":                        func(p *Plan) { p.Scale.Levels = nil },
		"over 101 levels":                      func(p *Plan) { p.Scale.Levels = make([]float64, 101) },
		"want ascending":                       func(p *Plan) { p.Scale.Levels[1] = math.NaN() },
		"ascending numbers":                    func(p *Plan) { p.Scale.Levels[0] = 1 },
		"no level of the sweep":                func(p *Plan) { p.Scale.Points[1].Level = 2 },
		"or a second time":                     func(p *Plan) { p.Scale.Points[1].Level = 0 },
		"there is no target b":                 func(p *Plan) { p.Scale.Points[1].Target = "b" },
		"under held":                           func(p *Plan) { p.Scale.Points[1].Load = "held" },
		"and load":                             func(p *Plan) { p.Scale.Points[0].Memory = "load" },
		"is judged by":                         func(p *Plan) { p.Rules.Scale.Resamples = 2_000_000 },
	} {
		s := sweep()
		alter(&s.Plan)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
