package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// metricWords are the primary metrics in plain words.
var metricWords = map[findings.Metric]string{
	findings.Rate: "rate", findings.ServerCPU: "CPU/request", findings.P99: "p99", findings.LoadPSS: "memory",
}

func metricWord(q record.Primary) string {
	if word, ok := metricWords[findings.Metric(q.Metric)]; ok {
		return word
	}
	return q.Metric
}

// verdicts has a row a primary test, in the order of the plan. A session without
// verdicts says why it has none, and prints no word that could be taken for one.
func (v view) verdicts() grid {
	g := grid{title: "VERDICTS", lead: []string{v.noVerdicts()}}
	if len(v.e.Verdicts) == 0 || v.e.Invalid() {
		return g
	}
	g.lead = []string{"Ratio of target to base, paired by block. All below this table is exploratory: no verdict."}
	g.columns = []heading{{name: "verdict", text: true}, {name: "metric", text: true}, {name: "scenario", text: true},
		{name: "ratio", ranged: true}, {name: "[95 %]", text: true}, {name: "noise"}, {name: "p"}, {name: "blocks"}}
	group := ""
	for _, d := range v.e.Verdicts {
		r := v.verdict(d)
		if pair := v.pair(d.Primary); pair != group {
			r.group, group = pair, pair
		}
		g.rows = append(g.rows, r)
	}
	g.foot = []string{fmt.Sprintf("Above 1 is better for %s, below 1 for the rest. Noise: how far from 1 an A/A twin may be. BETTER, WORSE: p, adjusted for all tests, "+
		"< %g, and beyond noise and margin: %s.", v.higherIsBetter(), stats.Alpha, v.margins())}
	return g
}

func (v view) noVerdicts() string {
	switch {
	case v.s.Plan.Quick:
		return "None: a smoke run gives no verdict."
	case !v.s.Complete():
		return "None: the session is incomplete."
	case v.e.Invalid():
		return "None: the session is void; the notes say why."
	}
	return "None: the plan asks no primary question."
}

// pair says which two are compared, and whether the generator takes CPU from them.
func (v view) pair(q record.Primary) string {
	t, _ := v.s.Plan.Target(q.Target)
	return fmt.Sprintf("%s / %s, %s", q.Target, q.Base, map[bool]string{true: "CPUs shared with the generator", false: "CPUs of their own"}[t.Shared()])
}

func (v view) verdict(d record.Verdict) row {
	q := d.Primary
	cells := []string{d.Word, metricWord(q), q.Scenario,
		optional(d.Ratio, ratioText), "", optional(d.NoiseFloor, func(x float64) string { return fmt.Sprintf("±%.1f %%", x/percnt) }),
		optional(d.Adjusted, pValue), fmt.Sprint(d.Blocks)}
	if d.Lo != nil && d.Hi != nil {
		cells[4] = fmt.Sprintf("[%s..%s]", ratioText(*d.Lo), ratioText(*d.Hi))
	}
	r := row{remark: reason(d)}
	for _, c := range cells {
		r.cells = append(r.cells, cell{text: c})
	}
	return r
}

// reason is what a word alone does not say.
func reason(d record.Verdict) string {
	switch stats.Word(d.Word) {
	case stats.Better, stats.Worse, stats.Equivalent: // the interval is beside it
		return ""
	case stats.Inconclusive:
		if d.BlocksNeeded == nil {
			return "more blocks alone would not settle it: " + d.Why
		}
		return fmt.Sprintf("%d blocks would settle it if effect and noise stay: %s", *d.BlocksNeeded, d.Why)
	}
	return d.Why
}

func optional(x *float64, text func(float64) string) string {
	if x == nil {
		return unknown
	}
	return text(*x)
}

// ratioText has three decimals, so that intervals can be held against margins.
func ratioText(x float64) string { return fmt.Sprintf("%.3f", x) }

func pValue(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// higherIsBetter lists the metrics of which more is better.
func (v view) higherIsBetter() string {
	var words []string
	for _, d := range v.e.Verdicts {
		if w := metricWord(d.Primary); d.Primary.HigherIsBetter && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// margins lists each metric's margin once.
func (v view) margins() string {
	var all []string
	for _, d := range v.e.Verdicts {
		q := d.Primary
		text := fmt.Sprintf("%s %.3g %%", metricWord(q), q.MarginRatio/percnt)
		switch m := findings.Metric(q.Metric); {
		case q.Floor <= 0:
		case strings.HasSuffix(q.Metric, "_ns"):
			text += fmt.Sprintf(" or %v", time.Duration(q.Floor))
		case strings.HasSuffix(q.Metric, "_bytes"):
			text += fmt.Sprintf(" or %.3g MiB", q.Floor/mebi)
		default:
			text += fmt.Sprintf(" or %g of %s", q.Floor, m)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
