package calibration

import (
	"fmt"
	"slices"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// The closed loop whose noise is measured, by its name in the default plan, and the
// target whose CPUs the servers of known truth run on.
const (
	scenario = "get-c50"
	oneCore  = "go-1"
)

// NoisePlan is a session of the one-core targets of the default plan, each beside a
// twin of its own, in the closed loop of the default plan with its times and order.
// It has as many blocks as the default plan: what a minute happens to do, a drift or
// a jump, is no figure for a session of many.
func NoisePlan(d *record.Plan, seed uint64) (*record.Plan, error) {
	sc, ok := d.Scenario(scenario)
	if !ok {
		return nil, fmt.Errorf("plan noise: the default plan has no %s", scenario)
	}
	p := derive(d, sc, d.Blocks, seed)
	for _, t := range d.Targets {
		if t.Twin || t.Workers > 1 {
			continue
		}
		t.Base = ""
		p.Targets = append(p.Targets, t, twin(t))
		p.Primary = append(p.Primary, questions(t.Name+"-twin", t.Name)...)
	}
	finish(p)
	return p, nil
}

// derive is a plan of one scenario under the rules of the default plan.
func derive(d *record.Plan, sc record.Scenario, blocks int, seed uint64) *record.Plan {
	sc.Targets = nil
	return &record.Plan{SchemaVersion: d.SchemaVersion, Kit: d.Kit, Seed: seed, Blocks: blocks,
		Scenarios: []record.Scenario{sc}, Rules: d.Rules, RequestTimeout: d.RequestTimeout}
}

func finish(p *record.Plan) {
	p.Steps = plan.Order(p)
	p.Expected = time.Duration(len(p.Steps)) * plan.StepTime(p.Scenarios[0])
	p.Budget = p.Expected
}

func twin(t record.Target) record.Target {
	t.Base, t.Name, t.Twin = t.Name, t.Name+"-twin", true
	return t
}

// questions are those that a closed loop can answer, with the margins of the
// default plan.
func questions(target, base string) []record.Primary {
	return []record.Primary{
		{Metric: string(findings.Rate), Scenario: scenario, Target: target, Base: base, HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
		{Metric: string(findings.ServerCPU), Scenario: scenario, Target: target, Base: base, MarginRatio: 0.05},
	}
}

// Source is the noise of one target in one metric. Everything is on the
// logarithmic scale: 0.03 is 3 %.
type Source struct {
	Target     string   `json:"target"`
	Scenario   string   `json:"scenario"`
	Metric     string   `json:"metric"`
	Margin     float64  `json:"margin_ratio"`
	Runs       int      `json:"runs"`
	Process    float64  `json:"process_log"`            // deviation between fresh processes
	Drift      float64  `json:"drift_log"`              // from one run to the next
	StepChance float64  `json:"jump_chance_ratio"`      // for each run
	StepSize   float64  `json:"jump_log"`               // deviation
	WildChance float64  `json:"wild_chance_ratio"`      // for each run
	WildSize   float64  `json:"wild_log"`               // deviation
	Pairs      *float64 `json:"pair_deviation_log"`     // of one log-ratio of the twins; null below two pairs
	Planned    int      `json:"planned_pairs"`          // of the default plan
	Detectable *float64 `json:"detectable_ratio"`       // what they find in 80 %, by Pairs; null if nothing
	Needed     *int     `json:"pairs_needed,omitempty"` // to find Effect in 80 %, by Pairs; absent beyond 500
}

func (s Source) model() stats.NoiseModel {
	return stats.NoiseModel{Process: s.Process, Drift: s.Drift, StepChance: s.StepChance, StepSize: s.StepSize,
		WildChance: s.WildChance, WildSize: s.WildSize}
}

// Sources reads the noise that the twins of a session show in each metric of its
// primary tests; d is the default plan, which it is for. A metric
// with too few runs to tell is an error, for a missing row would look like a
// calibration that holds.
func Sources(s *record.Session, e findings.Evaluation, d *record.Plan) ([]Source, error) {
	var all []Source
	for _, t := range s.Plan.Targets {
		if !t.Twin {
			continue
		}
		seen := map[[2]string]bool{}
		for _, q := range s.Plan.Primary {
			if key := [2]string{q.Scenario, q.Metric}; seen[key] {
				continue
			} else {
				seen[key] = true
			}
			a, ok := e.Cell(t.Name, q.Scenario)
			b, ok2 := e.Cell(t.Base, q.Scenario)
			if !ok || !ok2 {
				continue
			}
			source, err := measure(a, b, q, d)
			if err != nil {
				return nil, err
			}
			all = append(all, source)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("measure noise: session %s has no A/A twin in a primary test", s.ID)
	}
	return all, nil
}

// measure takes all runs of base and twin in the order in which they ran.
func measure(twin, base *findings.Cell, q record.Primary, d *record.Plan) (Source, error) {
	metric := findings.Metric(q.Metric)
	type value struct {
		index int
		v     float64
	}
	var values []value
	of := map[int]float64{}
	var xs, ys []float64
	for _, p := range base.Processes {
		if v, ok := p.Values[metric]; ok {
			values, of[p.Step.Block] = append(values, value{p.Step.Index, v}), v
		}
	}
	for _, p := range twin.Processes {
		v, ok := p.Values[metric]
		if !ok {
			continue
		}
		values = append(values, value{p.Step.Index, v})
		if w, ok := of[p.Step.Block]; ok {
			xs, ys = append(xs, v), append(ys, w)
		}
	}
	slices.SortFunc(values, func(a, b value) int { return a.index - b.index })
	ordered := make([]float64, len(values))
	for i, v := range values {
		ordered[i] = v.v
	}
	m, ok := stats.MeasureNoise(ordered)
	if !ok {
		return Source{}, fmt.Errorf("measure noise: %s of %s in %s: %d undisturbed runs, need 8", q.Metric, base.Target, q.Scenario, len(values))
	}
	source := Source{Target: base.Target, Scenario: q.Scenario, Metric: q.Metric, Margin: q.MarginRatio, Runs: len(values),
		Process: m.Process, Drift: m.Drift, StepChance: m.StepChance, StepSize: m.StepSize, WildChance: m.WildChance, WildSize: m.WildSize}
	source.Planned = planned(d, source.Target, source.Scenario)
	source.pairs(xs, ys, len(d.Primary))
	return source, nil
}

// pairs tells what the deviation of the twins' own pairs promises.
func (s *Source) pairs(xs, ys []float64, family int) {
	effect, err := stats.Pair(xs, ys)
	if err != nil || effect.Deviation == nil {
		return
	}
	s.Pairs = effect.Deviation
	if ratio, ok := stats.MinimumDetectable(*s.Pairs, s.Planned, family); ok {
		ratio--
		s.Detectable = &ratio
	}
	if n, ok := stats.BlocksToDetect(*s.Pairs, 1+Effect, family); ok {
		s.Needed = &n
	}
}

// Loudest keeps the loudest source of each metric: what holds for it holds for the
// others.
func Loudest(all []Source) []Source {
	var kept []Source
	for _, s := range all {
		i := slices.IndexFunc(kept, func(k Source) bool { return k.Scenario == s.Scenario && k.Metric == s.Metric })
		switch {
		case i < 0:
			kept = append(kept, s)
		case s.Process > kept[i].Process:
			kept[i] = s
		}
	}
	return kept
}
