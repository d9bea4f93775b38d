package record

import (
	"fmt"
	"math"
	"time"
)

// Scale is what a session of scale varies: one factor over levels, and nothing else.
// A level is a target or a scenario of its own, so that every run of it is a run like
// any other; Points say which cells are which level of whom.
type Scale struct {
	Factor string       `json:"factor"` // connections, cores, ...
	Levels []float64    `json:"levels"` // ascending
	Points []ScalePoint `json:"points"` // by arm, then by level
}

// ScalePoint is one level of one arm. An arm is a server that is followed over the levels.
type ScalePoint struct {
	Arm    string  `json:"arm"`
	Level  float64 `json:"level"`
	Target string  `json:"target"`
	Load   string  `json:"load"`             // scenario of rate, latency and CPU
	Memory string  `json:"memory,omitempty"` // scenario of memory; its runs publish no latency
	Open   string  `json:"open,omitempty"`   // scenario of an open loop at one rate for all levels
}

// ScaleRules say when a curve may be drawn through the levels (method P4).
type ScaleRules struct {
	LevelsMin   int     `json:"levels_min"`         // distinct ones that count
	SpanMin     float64 `json:"span_min_ratio"`     // largest level that counts / smallest
	ResidualMax float64 `json:"residual_max_ratio"` // standard deviation of what the curve leaves, of the rate
	BeyondMax   float64 `json:"beyond_max_ratio"`   // nothing is said of a level above so many times the largest
	BendMax     float64 `json:"bend_max_ratio"`     // memory: largest distance from the line / its rise over the levels
	LinePoints  int     `json:"line_levels_min"`    // memory: distinct levels for a line
	Resamples   int     `json:"resamples"`          // of the bootstrap over processes

	Dilution *DilutionRules `json:"dilution,omitempty"` // in a sweep of waits
}

// DilutionRules say when two servers are the same to whoever asks them, in a sweep of
// what every request waits.
type DilutionRules struct {
	RateMargin float64       `json:"rate_margin_ratio"`
	CPUMargin  float64       `json:"cpu_margin_ratio"`
	P99Margin  float64       `json:"p99_margin_ratio"`
	P99Floor   time.Duration `json:"p99_floor_ns"` // a p99 that differs by less is no difference
}

// maxLevels bounds a sweep; what is archived may come from anywhere.
const maxLevels = 100

// validate reports what makes a sweep one of nothing.
func (s *Scale) validate(p *Plan) error {
	switch {
	case (p.Kind == Scaling) != (s != nil):
		return fmt.Errorf("a plan of kind %q, and a sweep of a factor: %t", p.Kind, s != nil)
	case s == nil:
		return nil
	case p.Rules.Scale == nil:
		return fmt.Errorf("a sweep of %s without rules", s.Factor)
	case s.Factor == "" || len(s.Levels) == 0 || len(s.Levels) > maxLevels || len(s.Points) == 0 || len(s.Points) > maxLevels*maxLevels:
		return fmt.Errorf("a sweep of %q over %d levels in %d points", s.Factor, len(s.Levels), len(s.Points))
	}
	known := map[float64]bool{}
	for i, l := range s.Levels {
		if !(l >= 0) || math.IsInf(l, 1) || i > 0 && l <= s.Levels[i-1] {
			return fmt.Errorf("levels of %s %v, want ascending numbers from 0", s.Factor, s.Levels)
		}
		known[l] = true
	}
	type place struct {
		arm   string
		level float64
	}
	seen := map[place]bool{}
	for _, pt := range s.Points {
		_, target := p.Target(pt.Target)
		load, loaded := p.Scenario(pt.Load)
		held, memory := p.Scenario(pt.Memory)
		switch at := (place{pt.Arm, pt.Level}); {
		case !known[pt.Level] || seen[at]:
			return fmt.Errorf("%s at %s %g: no level of the sweep, or a second time", pt.Arm, s.Factor, pt.Level)
		case !target || !loaded || load.Kind == Memory || pt.Memory != "" && (!memory || held.Kind != Memory):
			return fmt.Errorf("%s at %s %g: there is no target %s under %s and %s", pt.Arm, s.Factor, pt.Level, pt.Target, pt.Load, pt.Memory)
		case pt.Open != "" && !p.opens(pt.Open):
			return fmt.Errorf("%s at %s %g: %s is no open loop", pt.Arm, s.Factor, pt.Level, pt.Open)
		default:
			seen[at] = true
		}
	}
	return p.Rules.Scale.validate()
}

func (p *Plan) opens(scenario string) bool {
	sc, ok := p.Scenario(scenario)
	return ok && sc.Kind == Open
}

func (r *ScaleRules) validate() error {
	if r.Resamples < 0 || r.Resamples > 1_000_000 || r.LevelsMin < 3 || r.LinePoints < 3 || !(r.SpanMin >= 1) || !(r.ResidualMax > 0) || !(r.BendMax > 0) || !(r.BeyondMax > 0) {
		return fmt.Errorf("a sweep is judged by %+v", *r)
	}
	if d := r.Dilution; d != nil && (!(d.RateMargin > 0) || !(d.CPUMargin > 0) || !(d.P99Margin > 0) || d.P99Floor < 0) {
		return fmt.Errorf("a sweep of waits is judged by %+v", *d)
	}
	return nil
}
