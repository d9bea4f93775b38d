package page

import (
	"cmp"
	"slices"
	"strconv"

	"gonogo/runner/findings"
	"gonogo/runner/report"
)

// variants is the table of effects, a row each.
func (v view) variants() table {
	t := table{Head: []string{"variant", "against", "scenario", "metric", "variant is", "plain is", "effect, %", "from", "to", "noise, %", "blocks", "moved"}}
	units := map[findings.Metric]unit{findings.CapacityTimeOf: micros, findings.ServerCPU: micros, findings.P99: millis, findings.LoadPSS: mebi}
	words := map[findings.Metric]string{findings.CapacityTimeOf: "capacity time, µs", findings.ServerCPU: "CPU per request, µs", findings.P99: "p99, ms", findings.LoadPSS: "PSS, MiB"}
	all := slices.Clone(v.e.Variants) // twins last: they are what the others are held against
	slices.SortStableFunc(all, func(a, b findings.Variant) int { return cmp.Compare(order(a), order(b)) })
	for _, x := range all {
		for _, e := range x.Effects {
			n := func(stat string, number float64, shown string) value {
				return value{Text: shown, Number: number, Target: x.Target, Scenario: e.Scenario, Metric: "variant " + string(e.Metric), Stat: stat}
			}
			u := units[e.Metric]
			row := []value{name(x.Target), name(x.Base), text(e.Scenario), text(words[e.Metric]), n("variant", e.Value, digits(e.Value/u.divisor)), n("plain", e.Base, digits(e.Base/u.divisor)),
				n("ratio", e.Ratio, report.EffectPercent(e.Ratio))}
			for stat, end := range []*float64{e.Lo, e.Hi} {
				if end == nil {
					row = append(row, text("–"))
					continue
				}
				row = append(row, n([]string{"lo", "hi"}[stat], *end, report.EffectPercent(*end)))
			}
			noise := text("–")
			if e.Noise != nil {
				noise = n("noise", *e.Noise, digits(*e.Noise/percent.divisor))
			}
			t.Rows = append(t.Rows, append(row, noise, n("blocks", float64(e.Blocks), strconv.Itoa(e.Blocks)), text(string(e.Word))))
		}
	}
	return t
}

func order(x findings.Variant) int {
	if x.Name == "" {
		return 1
	}
	return 0
}

// variantNoise is the largest noise floor of the capacity times.
func (v view) variantNoise() tile {
	most := findings.VariantEffect{}
	target := ""
	for _, x := range v.e.Variants {
		for _, e := range x.Effects {
			if x.Name == "" && e.Metric == findings.CapacityTimeOf && e.Noise != nil && (target == "" || *e.Noise > *most.Noise) {
				most, target = e, x.Target
			}
		}
	}
	if target == "" {
		return tile{"Noise floor", []value{text("not known")}, []value{text("too few blocks with an A/A twin")}}
	}
	big := value{Text: digits(*most.Noise / percent.divisor), Number: *most.Noise, Target: target, Scenario: most.Scenario, Metric: "variant " + string(most.Metric), Stat: "noise"}
	return tile{"Noise floor", []value{big, text(" %")}, []value{text("of capacity time at most: so much does a plain server differ from itself under a second label, here " + target + " in " + most.Scenario)}}
}
