package findings

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Law is the universal scalability law of an arm. The intervals are over resampled
// processes.
type Law struct {
	Rate       Interval  `json:"rate_per_sec"`     // of one
	Contention Interval  `json:"contention_ratio"` // alpha
	Coherence  Interval  `json:"coherence_ratio"`  // beta
	Residual   float64   `json:"residual_ratio"`
	Levels     []float64 `json:"levels"` // that count
	// Peak is where the law is highest; absent where that is not reached by the levels.
	Peak *Interval `json:"peak,omitempty"`
	// Until is the level beyond which the law says nothing.
	Until float64 `json:"until"`
}

// At is the law's rate at a level.
func (l Law) At(level float64) float64 {
	return stats.USL{Rate: l.Rate.Value, Contention: l.Contention.Value, Coherence: l.Coherence.Value}.At(level)
}

// fit fits the law under its conditions (method P4), or says which one is not met.
func (a *arm) fit() (*Law, string) {
	rules := a.s.Plan.Rules.Scale
	var levels, medians []float64
	var values [][]float64
	served, few := false, false
	for i, r := range a.Rows {
		if !r.Counts {
			continue
		}
		levels, medians, values = append(levels, r.Level), append(medians, r.Rate.Value), append(values, a.load[i].Values(Rate))
		served = served || r.Limit == ByServer
		few = few || !r.Rate.Reached
	}
	switch {
	case len(levels) < rules.LevelsMin:
		return nil, fmt.Sprintf("%s, and a fit takes %d%s", count(len(levels), "level")+" count", rules.LevelsMin, a.left())
	case levels[len(levels)-1] < rules.SpanMin*levels[0]:
		return nil, fmt.Sprintf("the levels that count span %s x, and a fit takes %s x%s", digits(levels[len(levels)-1]/levels[0]), limit(rules.SpanMin), a.left())
	case !served:
		return nil, "the server was at its limit at no level: the curve would be that of the round trip"
	case few:
		return nil, "too few processes a level for an interval: more --repeats"
	}
	u, ok := stats.FitUSL(levels, medians)
	if !ok {
		return nil, "no law with coefficients of 0 or more goes through the levels"
	}
	if u.Residual > rules.ResidualMax {
		return nil, fmt.Sprintf("the levels lie %s %% off the law (standard deviation), and a fit takes %s %%: it is not the shape of this curve",
			digits(100*u.Residual), limit(100*rules.ResidualMax))
	}
	b, ok := stats.BootstrapUSL(levels, values, rules.Resamples, a.s.Plan.Seed)
	if !ok {
		return nil, "resampled processes do not agree on a law"
	}
	between := func(v float64, ends [2]float64) Interval { return Interval{v, ends[0], ends[1], true} }
	l := &Law{Rate: between(u.Rate, b.Rate), Contention: between(u.Contention, b.Contention), Coherence: between(u.Coherence, b.Coherence),
		Residual: u.Residual, Levels: levels, Until: rules.BeyondMax * levels[len(levels)-1]}
	if p, ok := u.Peak(); ok && p <= levels[len(levels)-1] && b.Peak[1] <= l.Until {
		peak := between(p, b.Peak)
		l.Peak = &peak
	}
	return l, ""
}

// left says which levels do not count, and why.
func (a *arm) left() string {
	why := map[Limit][]string{}
	for _, r := range a.Rows {
		if !r.Counts {
			why[r.Limit] = append(why[r.Limit], levelText(r.Level))
		}
	}
	var parts []string
	for _, l := range []Limit{ByGenerator, BySharing, ByTrip, ByNeither, ByNothing} {
		if at := why[l]; len(at) > 0 {
			parts = append(parts, fmt.Sprintf("at %s %s", strings.Join(at, ", "), map[Limit]string{ByGenerator: "the generator was the limit", BySharing: "server and generator share CPUs",
				ByTrip: "the server did not use up its CPUs", ByNeither: "something else was the limit", ByNothing: "nothing is known"}[l]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// scaleLimits names the levels whose rate is not the server's.
func scaleLimits(s *record.Session, e *Evaluation) []record.Finding {
	if e.Scale == nil {
		return nil
	}
	f := record.Finding{Code: "level-not-the-server", Severity: record.Warn,
		Threshold: fmt.Sprintf("generator at most %s of its CPUs, and its connections idle for at most %s of the time", share(s.Plan.Rules.GeneratorCPUMax, true), share(1-s.Plan.Rules.DutyRatioMin, true)),
		Hint:      "their rate is a lower bound; CPU per request and memory are the server's own"}
	var seen []string
	for _, a := range e.Scale.Arms {
		var at []string
		for _, r := range a.Rows {
			if r.Limit == ByGenerator {
				at = append(at, levelText(r.Level))
				if c, ok := e.Cell(r.Target, r.Load); ok {
					f.Steps = append(f.Steps, c.steps()...)
				}
			}
		}
		if len(at) > 0 {
			seen = append(seen, fmt.Sprintf("%s at %s", a.Arm, strings.Join(at, ", ")))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	f.Observed = strings.Join(seen, "; ")
	f.Text = fmt.Sprintf("the generator was the limit at some levels of %s, which take no part in any fit", e.Scale.Factor)
	return []record.Finding{f}
}

// scaleCurves says why an arm has no curve, and where memory is no line.
func scaleCurves(s *record.Session, e *Evaluation) []record.Finding {
	if e.Scale == nil {
		return nil
	}
	r := s.Plan.Rules.Scale
	var all []record.Finding
	for _, a := range e.Scale.Arms {
		if a.NoLaw != "" {
			all = append(all, record.Finding{Code: "no-scalability-law", Severity: record.Note, Observed: a.NoLaw,
				Threshold: fmt.Sprintf("%d levels over %s x, residual at most %s %%", r.LevelsMin, limit(r.SpanMin), limit(100*r.ResidualMax)),
				Text:      a.Arm + ": no universal scalability law is fitted"})
		}
		if a.Each != nil && !a.Each.Straight {
			all = append(all, record.Finding{Code: "memory-bends", Severity: record.Note, Observed: fmt.Sprintf("%s %% of its rise", digits(100*a.Each.Bend)),
				Threshold: fmt.Sprintf("%s %%", limit(100*r.BendMax)),
				Text:      fmt.Sprintf("%s: memory against %s is no line: what one costs depends on how many there are", a.Arm, e.Scale.Factor),
				Hint:      "read the levels, not the slope"})
		}
	}
	return all
}

// Uses are the sentences for which a decision may look at a sweep: numbers that a
// comparison does not have, with their intervals, under its own conditions.
func (c *Scale) Uses() []string {
	if c == nil {
		return nil
	}
	var all []string
	for _, a := range c.Arms {
		if x := a.Each; x != nil && x.Straight && x.Bytes.Reached {
			all = append(all, fmt.Sprintf("one of the %s costs %s %s KiB (%s to %s) of memory", c.Factor, a.Arm, digits(x.Bytes.Value/1024), digits(x.Bytes.Lo/1024), digits(x.Bytes.Hi/1024)))
		}
		for _, x := range a.Added {
			if x.Rate.Reached {
				all = append(all, fmt.Sprintf("%s gives %s x (%s to %s) with %s cores of what it gives with %s", a.Arm, digits(x.Rate.Value), digits(x.Rate.Lo), digits(x.Rate.Hi), limit(x.To), limit(x.From)))
			}
		}
		if l := a.Law; l != nil && l.Peak != nil {
			all = append(all, fmt.Sprintf("%s gives most at %s %s (%s to %s)", a.Arm, digits(l.Peak.Value), c.Factor, digits(l.Peak.Lo), digits(l.Peak.Hi)))
		}
	}
	return slices.Clip(all)
}
