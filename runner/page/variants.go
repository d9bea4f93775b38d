package page

import (
	"gonogo/runner/findings"
	"gonogo/runner/report"
)

// variants is the table of effects, a row each.
func (v view) variants() table {
	t := table{Head: []string{"variant", "against", "scenario", "metric", "variant is", "plain is", "effect, %", "from", "to", "noise, %", "blocks", "moved"}}
	units := map[findings.Metric]unit{findings.CapacityTimeOf: micros, findings.ServerCPU: micros, findings.P99: millis, findings.LoadPSS: mebi}
	words := map[findings.Metric]string{findings.CapacityTimeOf: "capacity time, µs", findings.ServerCPU: "CPU per request, µs", findings.P99: "p99, ms", findings.LoadPSS: "PSS, MiB"}
	for _, x := range v.e.Variants {
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
			t.Rows = append(t.Rows, append(row, noise, n("blocks", float64(e.Blocks), digits(float64(e.Blocks))), text(string(e.Word))))
		}
	}
	return t
}
