package findings

import (
	"fmt"
	"math"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// CapacityTimeOf is the capacity time of a saturated server as a metric, in a closed
// loop only: see CapacityTime.
const CapacityTimeOf Metric = "capacity_time_ns_per_request"

// Variant is what a variant of a server is worth: its effects against the plain one.
type Variant struct {
	Target  string          `json:"target"`
	Base    string          `json:"base"`
	Name    string          `json:"variant"` // "" of an A/A twin
	Effects []VariantEffect `json:"effects"` // in the order of the scenarios
}

// VariantEffect is one effect. All metrics are such that less is better.
type VariantEffect struct {
	Scenario string  `json:"scenario"`
	Metric   Metric  `json:"metric"`
	Value    float64 `json:"value"` // medians over processes
	Base     float64 `json:"base_value"`
	// Ratio is variant / plain, paired by block, with its 95 % interval; Reached is
	// false where there are too few blocks for one.
	Ratio   float64  `json:"ratio"`
	Lo      *float64 `json:"lo,omitempty"`
	Hi      *float64 `json:"hi,omitempty"`
	Blocks  int      `json:"blocks"`
	Noise   *float64 `json:"noise_floor,omitempty"` // ratio - 1 that the twin of the plain server allows
	Word    Moved    `json:"moved"`
	Doubted string   `json:"doubted,omitempty"` // why a rate is no capacity
}

// Moved says whether a scenario moved.
type Moved string

const (
	Less    Moved = "less"    // the interval lies below 1, the estimate beyond the noise
	More    Moved = "more"    // likewise above
	Same    Moved = "same"    // the 90 % interval lies within the margin, or below the floor that matters
	Unclear Moved = "unclear" // none of these
)

// variantMargin is within what ratio an effect does not matter, and variantFloor within
// what difference: those of the primary tests.
var (
	variantMargin = map[Metric]float64{CapacityTimeOf: 0.05, ServerCPU: 0.05, P99: 0.10, LoadPSS: 0.10}
	variantFloor  = map[Metric]float64{P99: float64(500 * time.Microsecond), LoadPSS: 5 << 20}
)

// variantMetrics are those of a scenario.
func variantMetrics(k record.Kind) []Metric {
	switch k {
	case record.Closed:
		return []Metric{CapacityTimeOf}
	case record.Open:
		return []Metric{ServerCPU, P99}
	case record.Memory:
		return []Metric{LoadPSS}
	}
	return nil
}

// variantsOf compares each target of a session of variants with its plain server, and
// that with its twin; nil of another session.
func variantsOf(s *record.Session, e *Evaluation) []Variant {
	if s.Plan.Kind != record.Variants {
		return nil
	}
	twins := map[cellMetric]stats.Effect{}
	var all []Variant
	for _, twin := range []bool{true, false} {
		for _, t := range s.Plan.Targets {
			if t.Base == "" || t.Twin != twin {
				continue
			}
			v := Variant{Target: t.Name, Base: t.Base, Name: t.Variant}
			for _, sc := range s.Plan.Scenarios {
				for _, m := range variantMetrics(sc.Kind) {
					effect, err := variantPair(e, t, sc.Name, m)
					if err != nil {
						continue
					}
					key := cellMetric{t.Base, sc.Name, m}
					if twin {
						twins[key] = effect
					}
					v.Effects = append(v.Effects, variantEffect(e, t, sc.Name, m, effect, twins[key]))
				}
			}
			all = append(all, v)
		}
	}
	return all
}

// variantValue is a metric of a process.
func variantValue(p Process, m Metric) (float64, bool) {
	if m == CapacityTimeOf {
		return timeOf(p)
	}
	v, ok := p.Values[m]
	return v, ok && v > 0
}

// variantPair pairs a target with its base, over the blocks that hold both.
func variantPair(e *Evaluation, t record.Target, scenario string, m Metric) (stats.Effect, error) {
	of := map[int]float64{}
	for _, p := range find(e.Cells, t.Base, scenario).Processes {
		if v, ok := variantValue(p, m); ok {
			of[p.Step.Block] = v
		}
	}
	var xs, ys []float64
	var blocks []int
	for _, p := range find(e.Cells, t.Name, scenario).Processes {
		v, ok := variantValue(p, m)
		if base, ok2 := of[p.Step.Block]; ok && ok2 {
			xs, ys, blocks = append(xs, v), append(ys, base), append(blocks, p.Step.Block)
		}
	}
	effect, err := stats.Pair(xs, ys)
	effect.In = blocks
	return effect, err
}

func variantEffect(e *Evaluation, t record.Target, scenario string, m Metric, effect, twin stats.Effect) VariantEffect {
	median := func(target string) float64 {
		var xs []float64
		for _, p := range find(e.Cells, target, scenario).Processes {
			if v, ok := variantValue(p, m); ok {
				xs = append(xs, v)
			}
		}
		v, _ := stats.Median(xs)
		return v
	}
	ratio := effect.Ratio()
	x := VariantEffect{Scenario: scenario, Metric: m, Value: median(t.Name), Base: median(t.Base), Ratio: ratio.Value, Blocks: effect.Blocks}
	if ratio.Reached {
		x.Lo, x.Hi = &ratio.Lo, &ratio.Hi
	}
	noise, known := stats.NoiseOf(twin)
	if known {
		floor := math.Expm1(noise.Floor)
		x.Noise = &floor
	}
	if m == CapacityTimeOf {
		for _, name := range []string{t.Name, t.Base} {
			if c := find(e.Cells, name, scenario); c.Bound != serverBound {
				x.Doubted = fmt.Sprintf("%s was %s", name, c.Bound)
			}
		}
	}
	x.Word = moved(effect, noise.Floor, known, math.Log1p(variantMargin[m]))
	if d := effect.Difference; d.Reached && max(-d.Lo, d.Hi) < variantFloor[m] {
		x.Word = Same
	}
	if x.Doubted != "" {
		x.Word = Unclear
	}
	return x
}

// moved words an effect. A twin's is held against itself and so never beyond its noise.
func moved(effect stats.Effect, noise float64, known bool, margin float64) Moved {
	l := effect.Log
	switch {
	case effect.Log90.Reached && -margin < effect.Log90.Lo && effect.Log90.Hi < margin:
		return Same
	case !l.Reached || !known || math.Abs(l.Value) <= noise:
		return Unclear
	case l.Hi < 0:
		return Less
	case l.Lo > 0:
		return More
	}
	return Unclear
}

// variantTwins: a plain server under two labels came out different.
func variantTwins(s *record.Session, e *Evaluation) []record.Finding {
	var effects []stats.Effect
	for _, t := range s.Plan.Targets {
		for _, sc := range s.Plan.Scenarios {
			for _, m := range variantMetrics(sc.Kind) {
				if effect, err := variantPair(e, t, sc.Name, m); err == nil && t.Twin {
					effects = append(effects, effect)
				}
			}
		}
	}
	if s.Plan.Kind != record.Variants || !stats.TwinsDiffer(effects) {
		return nil
	}
	return []record.Finding{{
		Code: "twin-differs", Severity: record.Voids,
		Observed: fmt.Sprintf("p below %g over %s", stats.VoidAlpha, count(len(effects), "metric")), Threshold: fmt.Sprintf("p at least %g", stats.VoidAlpha),
		Text: "an A/A twin differs from the target that it is a copy of: no effect of this session can be believed",
		Hint: "something follows the order of the runs or the label; run again on a quieter machine",
	}}
}

// manyEffects says how many of so many intervals lie beside 1 by chance alone.
func manyEffects(s *record.Session, e *Evaluation) []record.Finding {
	n := 0
	for _, v := range e.Variants {
		for _, x := range v.Effects {
			if x.Lo != nil && v.Name != "" {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "many-effects", Severity: record.Note, Observed: count(n, "interval"), Threshold: "each 95 % by itself",
		Text: fmt.Sprintf("of %d intervals about %.0f lie beside 1 by chance; the noise of the twin is asked too, and still a row is a reason to look, and no verdict", n, math.Ceil(0.05*float64(n))),
		Hint: "gonogo compare --targets PLAIN,PLAIN+VARIANT gives a verdict on one",
	}}
}
