package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
	"gonogo/runner/stats"
)

// answer is one line of the first screen: a pair of targets in plain words.
type answer struct {
	Pair string
	Text []value
}

// words are a verdict's word as a sentence has it.
type words struct {
	word   stats.Word
	text   string
	differ bool // proven to differ: the ratio is said
}

// plain are all of them, best first.
var plain = []words{
	{stats.Better, "better in", true}, {stats.Worse, "worse in", true}, {stats.Equivalent, "no difference that matters in", false},
	{stats.Inconclusive, "not known for", false}, {stats.Invalid, "no verdict on", false},
}

// answers has a line for each pair that a primary question asks about. What is
// proven to differ has its ratio; what is not has none, for on the first screen it
// would be read as a difference.
func (v view) answers() []answer {
	var all []answer
	for _, d := range v.e.Verdicts {
		pair := d.Primary.Target + " against " + d.Primary.Base
		if slices.ContainsFunc(all, func(a answer) bool { return a.Pair == pair }) {
			continue
		}
		all = append(all, answer{pair, v.answer(d.Primary.Target, d.Primary.Base)})
	}
	return all
}

func (v view) answer(target, base string) []value {
	var said []value
	for _, p := range plain {
		lead := p.text + " "
		if len(said) > 0 {
			lead = "; " + lead
		}
		for i, same := range byMetric(v.e.Verdicts, target, base, p.word) {
			if i > 0 {
				lead = ", "
			}
			said = append(append(said, text(lead+metricWord(same[0].Primary)+" (")), p.ratios(same)...)
			said = append(said, text(")"))
		}
	}
	return append(said, text("."))
}

// byMetric are a pair's verdicts of one word, those of a metric together.
func byMetric(all []record.Verdict, target, base string, word stats.Word) [][]record.Verdict {
	var groups [][]record.Verdict
	for _, d := range all {
		q := d.Primary
		if q.Target != target || q.Base != base || stats.Word(d.Word) != word {
			continue
		}
		i := slices.IndexFunc(groups, func(g []record.Verdict) bool { return g[0].Primary.Metric == q.Metric })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], d)
	}
	return groups
}

// ratios are those of one metric, with the scenario where there are several.
func (w words) ratios(same []record.Verdict) []value {
	var all []value
	for i, d := range same {
		lead := ""
		if i > 0 {
			lead = ", "
		}
		if !w.differ || d.Ratio == nil {
			all = append(all, text(lead+d.Primary.Scenario))
			continue
		}
		if len(same) > 1 {
			lead += d.Primary.Scenario + " "
		}
		all = append(all, text(lead), ratioOf(d, "ratio", *d.Ratio, fmt.Sprintf("%.3f", *d.Ratio)+narrow+"×"))
	}
	return all
}

func metricWord(q record.Primary) string {
	switch findings.Metric(q.Metric) {
	case findings.Rate:
		return "rate"
	case findings.ServerCPU:
		return "CPU per request"
	case findings.P99:
		return "p99 latency"
	case findings.LoadPSS:
		return "memory under load"
	}
	return q.Metric
}

// noAnswer says why there is none.
func (v view) noAnswer() string {
	switch {
	case len(v.e.Verdicts) > 0:
		return ""
	case v.s.Plan.Quick:
		return "No answer: a smoke run gives no verdict."
	case v.e.Invalid():
		return "No answer: nothing can be concluded from this session; the notes below say why."
	}
	if v.e.Scale != nil {
		return v.scaleRule()
	}
	if v.e.Capacity != nil {
		r := v.s.Plan.Rules.Capacity
		return report.CapacityRule(v.e.Capacity, r.AchievedMin, r.ErrorsMax, r.DroppedMax) + " No verdict: this session asked no question before its first run."
	}
	if v.s.Plan.Kind == record.Variants {
		return "No verdict: this session asked no question before its first run. An effect is a reason to look."
	}
	return "No answer: the plan asks no primary question."
}

// judged is a verdict with its sentence and its picture.
type judged struct {
	Word, Class, Sign string
	Sentence          []value
	Why               string
	Small             []value
	Chart             template.HTML
}

// signs stand beside the words, for those who see no colours.
var signs = map[stats.Word]string{stats.Better: "▲", stats.Worse: "▼", stats.Equivalent: "=", stats.Inconclusive: "?", stats.Invalid: "✕"}

func (v view) verdicts() []judged {
	reach := 2.0 // the axis runs from 1/reach to reach
	for _, d := range v.e.Verdicts {
		for _, x := range []*float64{d.Ratio, d.Lo, d.Hi} {
			if x != nil && *x > 0 {
				reach = max(reach, *x*1.1, 1.1 / *x)
			}
		}
	}
	var all []judged
	for _, d := range v.e.Verdicts {
		j := judged{Word: d.Word, Class: strings.ToLower(d.Word), Sign: signs[stats.Word(d.Word)], Sentence: sentence(d), Small: v.small(d), Chart: interval(d, reach)}
		if w := stats.Word(d.Word); w != stats.Better && w != stats.Worse {
			j.Why = d.Why
		}
		all = append(all, j)
	}
	return all
}

// ratioOf is a number of a verdict.
func ratioOf(d record.Verdict, stat string, x float64, text string) value {
	q := d.Primary
	return value{Text: text, Number: x, Target: q.Target, Scenario: q.Scenario, Metric: "verdict " + q.Metric, Stat: stat}
}

func sentence(d record.Verdict) []value {
	q := d.Primary
	if d.Ratio == nil {
		return []value{text(fmt.Sprintf("%s of %s against %s (%s): no ratio.", metricWord(q), q.Target, q.Base, q.Scenario))}
	}
	n := ratioOf(d, "ratio", *d.Ratio, fmt.Sprintf("%.3f", *d.Ratio)+narrow+"×")
	n.Class = "strong"
	var all []value
	if stats.Word(d.Word) == stats.Invalid { // measured, and no comparison
		n.Class = "rejected"
		all = append(all, text("No comparison: "))
	}
	switch findings.Metric(q.Metric) {
	case findings.Rate:
		all = append(all, name(q.Target), text(" answers "), n, text(" as many requests per second as "), name(q.Base))
	case findings.ServerCPU:
		all = append(all, text("a request costs "), name(q.Target), text(" "), n, text(" the CPU time that it costs "), name(q.Base))
	case findings.P99:
		all = append(all, text("the p99 latency of "), name(q.Target), text(" is "), n, text(" that of "), name(q.Base))
	case findings.LoadPSS:
		all = append(all, text("under load "), name(q.Target), text(" holds "), n, text(" the memory of "), name(q.Base))
	default:
		all = append(all, text(q.Metric+" of "), name(q.Target), text(" is "), n, text(" that of "), name(q.Base))
	}
	if all[0].Class == "" { // a name keeps its letters
		all[0].Text = sentenceCase(all[0].Text)
	}
	return append(all, text(" ("+q.Scenario+")."))
}

// small is what a sceptic asks next.
func (v view) small(d record.Verdict) []value {
	var all []value
	add := func(lead string, vs ...value) {
		if len(all) > 0 {
			lead = " · " + lead
		}
		all = append(append(all, text(lead)), vs...)
	}
	if d.Lo != nil && d.Hi != nil {
		add("95 % interval ", ratioOf(d, "lo", *d.Lo, fmt.Sprintf("%.3f", *d.Lo)), text(" to "), ratioOf(d, "hi", *d.Hi, fmt.Sprintf("%.3f", *d.Hi)))
	}
	add("margin ±", ratioOf(d, "margin", d.Primary.MarginRatio, fmt.Sprintf("%.3g", d.Primary.MarginRatio*100)), text("\u00a0%"))
	if d.NoiseFloor != nil {
		add("noise ±", ratioOf(d, "noise", *d.NoiseFloor, fmt.Sprintf("%.1f", *d.NoiseFloor*100)), text("\u00a0%"))
	}
	if d.Adjusted != nil {
		p := fmt.Sprintf("p = %.3f", *d.Adjusted)
		if *d.Adjusted < 0.001 {
			p = "p < 0.001"
		}
		add("", ratioOf(d, "p", *d.Adjusted, p), text(", adjusted"))
	}
	add("", ratioOf(d, "blocks", float64(d.Blocks), fmt.Sprint(d.Blocks)), text("\u00a0blocks"))
	if t, _ := v.s.Plan.Target(d.Primary.Target); t.Shared() {
		add("CPUs shared with the generator")
	}
	return all
}

// interval draws a ratio on a logarithmic axis around 1: the margin as a grey band,
// the noise floor within it, the 95 % interval as a bar.
func interval(d record.Verdict, reach float64) template.HTML {
	if d.Ratio == nil {
		return ""
	}
	s := &svg{}
	s.open("svg", "viewBox", "0 0 260 44", "role", "img", "aria-label", "ratio "+fmt.Sprintf("%.3f", *d.Ratio))
	x := scale{lo: 1 / reach, hi: reach, from: 8, to: 252, log: true}
	m := 1 + d.Primary.MarginRatio
	s.rect("margin", x.at(1/m), 4, x.at(m)-x.at(1/m), 22)
	if d.NoiseFloor != nil && *d.NoiseFloor > 0 {
		f := 1 + *d.NoiseFloor
		s.rect("noise", x.at(1/f), 10, x.at(f)-x.at(1/f), 10)
	}
	s.line("axis", 8, 26, 252, 26)
	for _, t := range ratioTicks(reach) {
		s.line("axis", x.at(t), 26, x.at(t), 29)
		s.text("tick", "middle", x.at(t), 40, tick(t))
	}
	s.line("one", x.at(1), 2, x.at(1), 26)
	class := " v-" + strings.ToLower(d.Word)
	if d.Lo != nil && d.Hi != nil {
		s.line("whisker"+class, x.at(*d.Lo), 15, x.at(*d.Hi), 15)
		s.line("whisker"+class, x.at(*d.Lo), 10, x.at(*d.Lo), 20)
		s.line("whisker"+class, x.at(*d.Hi), 10, x.at(*d.Hi), 20)
	}
	s.el("circle", "class", "dot"+class, "cx", num(x.at(*d.Ratio)), "cy", "15", "r", "4")
	return s.done()
}

func ratioTicks(reach float64) []float64 {
	ticks := []float64{1}
	steps := []float64{2, 5, 10, 20, 50, 100}
	if reach < 2.5 {
		steps = []float64{1.5, 2}
	}
	for _, t := range steps {
		if t <= reach {
			ticks = append(ticks, t, 1/t)
		}
	}
	return ticks
}
