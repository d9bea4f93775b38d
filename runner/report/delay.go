package report

import (
	"fmt"
	"strings"
	"time"

	"gonogo/runner/findings"
)

// dilutions has a row a level of waiting: how far apart the two servers of a pair are.
func (v view) dilutions() grid {
	g := grid{title: "WHERE THE RUNTIME STOPS MATTERING", columns: []heading{{name: v.e.Scale.Factor}, {name: "waits", unit: "%"}, {name: "rate ratio"}, {name: "95 %", text: true},
		{name: "p99 ratio"}, {name: "95 %", text: true}, {name: "apart", unit: "ms"}, {name: "CPU ratio"}, {name: "95 %", text: true}}}
	g.lead = []string{"How far apart two servers are as every request waits longer for others."}
	for _, d := range v.e.Dilutions {
		for i, r := range d.Rows {
			x := row{cells: []cell{{text: level(r.Level)}, {text: shareText(r.BaseShare)}, {text: middleOf(r.Rate, unit)}, {text: ends(r.Rate, unit)},
				{text: middleOf(r.P99, unit)}, {text: ends(r.P99, unit)}, {text: middleOf(r.P99By, float64(time.Millisecond))}, {text: middleOf(r.CPU, unit)}, {text: ends(r.CPU, unit)}}}
			if i == 0 {
				x.group = d.Arm + " over " + d.Base
			}
			g.rows = append(g.rows, x)
		}
		g.foot = append(g.foot, v.answer(d))
	}
	g.foot = append(g.foot, "Ratios by block, medians with the 95 % interval by rank; in brackets the ends of too few values for one. Waits: share of the base's median response time, in the open loop. "+
		"Rate: closed loop of the same connections, which the wait bounds: what is not used there is still there. p99 and CPU per request: open loop, both asked equally often.")
	return g
}

// answer is the sentence that a pair is swept for.
func (v view) answer(d findings.Dilution) string {
	r := v.s.Plan.Rules.Scale.Dilution
	if r == nil {
		return ""
	}
	say := func(what, margin string, at *float64) string {
		switch {
		case at == nil:
			return what + " (" + margin + ") at no level"
		case len(d.Rows) > 0 && *at == d.Rows[0].Level:
			return what + " (" + margin + ") at all levels"
		}
		return fmt.Sprintf("%s (%s) from %s on", what, margin, level(*at))
	}
	percent := func(m float64) string { return fmt.Sprintf("within %.3g %%", 100*m) }
	parts := []string{say("rate", percent(r.RateMargin), d.RateFrom), say("p99", percent(r.P99Margin)+" or "+r.P99Floor.String(), d.P99From), say("CPU per request", percent(r.CPUMargin), d.CPUFrom)}
	return fmt.Sprintf("%s and %s are the same, by the whole interval, in %s.", d.Arm, d.Base, strings.Join(parts, ", "))
}

func shareText(share *float64) string {
	if share == nil {
		return unknown
	}
	return digits(100 * *share)
}
