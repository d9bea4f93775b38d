package diff

import (
	"math"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Effect is how far one number of two sessions lies apart: B over A. The runs of two
// sessions share no blocks, so the groups are not paired: what drifted between the
// sessions is in the effect, and the noise of a twin, which shared its blocks, does
// not know of it.
type Effect struct {
	Scenario string          `json:"scenario"`
	Target   string          `json:"target"`
	Metric   findings.Metric `json:"metric"`
	A        float64         `json:"a"` // medians over fresh processes
	B        float64         `json:"b"`
	RunsA    int             `json:"runs_a"`
	RunsB    int             `json:"runs_b"`
	Ratio    float64         `json:"ratio"`              // of B to A, Hodges-Lehmann
	Lo       *float64        `json:"ratio_lo,omitempty"` // 95 %; absent where the runs are too few
	Hi       *float64        `json:"ratio_hi,omitempty"`
	P        float64         `json:"p"`                 // exact rank-sum
	Adjusted float64         `json:"p_adjusted"`        // Holm, over all effects
	FloorA   *float64        `json:"noise_a,omitempty"` // |ratio - 1| that the A/A twin of the scenario allows
	FloorB   *float64        `json:"noise_b,omitempty"`
	Word     Word            `json:"verdict"`
	Other    bool            `json:"other_machine,omitempty"` // forced: A and B are of two machines
}

// Word is what an effect shows.
type Word string

const (
	Higher  Word = "HIGHER" // in B
	Lower   Word = "LOWER"
	Noise   Word = "WITHIN NOISE"           // significant, but a twin differs from itself by as much
	NoTwin  Word = "DIFFERS, NOISE UNKNOWN" // significant, and no twin says what noise is
	Unshown Word = "NO DIFFERENCE SHOWN"    // which is not that there is none
	TooFew  Word = "TOO FEW RUNS"
)

// Compare adds the numbers of all targets and scenarios that both sessions have
// alike. It is for the caller to ask whether two machines are to be compared.
func (r *Result) Compare(a, b *record.Session, ea, eb *findings.Evaluation) error {
	fa, fb := floors{a, ea}, floors{b, eb}
	for _, sc := range a.Plan.Scenarios {
		if _, ok := b.Plan.Scenario(sc.Name); !ok {
			r.Skipped = append(r.Skipped, Skipped{Scenario: sc.Name, Why: "B does not have it"})
			continue
		}
		for _, t := range targetsOf(a, b) {
			x, _ := ea.Cell(t.Name, sc.Name)
			y, _ := eb.Cell(t.Name, sc.Name)
			if len(x.Processes) == 0 || len(y.Processes) == 0 {
				if x.Planned > 0 && y.Planned > 0 {
					r.Skipped = append(r.Skipped, Skipped{sc.Name, t.Name, "no run counts"})
				}
				continue
			}
			why, err := comparable(a, b, x, y)
			if err != nil {
				return err
			}
			if why != "" {
				r.Skipped = append(r.Skipped, Skipped{sc.Name, t.Name, why})
				continue
			}
			r.compare(x, y, fa, fb)
		}
	}
	r.judge()
	return nil
}

func (r *Result) compare(x, y *findings.Cell, fa, fb floors) {
	for _, m := range metricsOf(x.Kind) {
		va, vb := fa.values(x, m), fb.values(y, m)
		effect, err := stats.Unpair(vb, va)
		if err != nil { // one side does not know the number, or it is 0
			continue
		}
		ratio := effect.Ratio()
		e := Effect{Scenario: x.Scenario, Target: x.Target, Metric: m, RunsA: len(va), RunsB: len(vb), Ratio: ratio.Value, P: effect.P, Other: !r.SameMachine()}
		e.A, _ = stats.Median(va)
		e.B, _ = stats.Median(vb)
		if ratio.Reached {
			lo, hi := ratio.Lo, ratio.Hi
			e.Lo, e.Hi = &lo, &hi
		}
		e.FloorA, e.FloorB = fa.of(x.Scenario, m), fb.of(x.Scenario, m)
		r.Effects = append(r.Effects, e)
	}
}

// judge adjusts for the number of effects and says what each shows.
func (r *Result) judge() {
	ps := make([]float64, len(r.Effects))
	for i, e := range r.Effects {
		ps[i] = e.P
	}
	for i, p := range stats.Holm(ps) {
		e := &r.Effects[i]
		e.Adjusted = p
		e.Word = e.word()
	}
}

func (e *Effect) word() Word {
	switch {
	case e.Lo == nil:
		return TooFew
	case !(e.Adjusted < stats.Alpha):
		return Unshown
	case e.FloorA == nil || e.FloorB == nil:
		return NoTwin
	case math.Abs(math.Log(e.Ratio)) <= math.Log1p(max(*e.FloorA, *e.FloorB)):
		return Noise
	case e.Ratio > 1:
		return Higher
	}
	return Lower
}

// floors are the noise floors that the A/A twins of a session give.
type floors struct {
	s *record.Session
	e *findings.Evaluation
}

// of a scenario and metric: what the first twin that has them shows. Targets on more
// cores borrow it, as in the session's own verdicts.
func (f floors) of(scenario string, m findings.Metric) *float64 {
	for _, t := range f.s.Plan.Targets {
		if !t.Twin {
			continue
		}
		twin, base := f.byBlock(t.Name, scenario, m), f.byBlock(t.Base, scenario, m)
		var xs, ys []float64
		for b := 1; b <= f.s.Plan.Blocks; b++ {
			x, ok := twin[b]
			y, ok2 := base[b]
			if ok && ok2 {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
		effect, err := stats.Pair(xs, ys)
		if err != nil {
			continue
		}
		if noise, ok := stats.NoiseOf(effect); ok {
			ratio := math.Expm1(noise.Floor)
			return &ratio
		}
	}
	return nil
}

// values are those of a cell, one each process; of a search it is one each search, for
// the rates of its trials are its own choice.
func (f floors) values(c *findings.Cell, m findings.Metric) []float64 {
	switch m {
	case findings.CapacityRate:
		return f.e.Capacity.Middles(c.Target)
	case findings.FloorBytes:
		return f.e.Floor.Floors(c.Target)
	}
	return c.Values(m)
}

func (f floors) byBlock(target, scenario string, m findings.Metric) map[int]float64 {
	of := map[int]float64{}
	if c, ok := f.e.Cell(target, scenario); ok {
		for _, p := range c.Processes {
			if v, ok := p.Values[m]; ok {
				of[p.Step.Block] = v
			}
		}
	}
	return of
}
