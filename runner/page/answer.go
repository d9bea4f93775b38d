package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// answer is one line of the first screen: a pair of targets in plain words.
type answer struct {
	Pair string
	Text string
}

// plain are the words of verdicts as a sentence has them, best first.
var plain = []struct {
	word stats.Word
	text string
}{
	{stats.Better, "better in %s"}, {stats.Worse, "worse in %s"}, {stats.Equivalent, "no difference that matters in %s"},
	{stats.Inconclusive, "not known for %s"}, {stats.Invalid, "no verdict on %s"},
}

// answers has a line for each pair that a primary question asks about.
func (v view) answers() []answer {
	var pairs []string
	words := map[string]map[stats.Word][]string{}
	for _, d := range v.e.Verdicts {
		pair := d.Primary.Target + " against " + d.Primary.Base
		if words[pair] == nil {
			pairs = append(pairs, pair)
			words[pair] = map[stats.Word][]string{}
		}
		w := stats.Word(d.Word)
		words[pair][w] = append(words[pair][w], fmt.Sprintf("%s (%s)", metricWord(d.Primary), d.Primary.Scenario))
	}
	var all []answer
	for _, pair := range pairs {
		var parts []string
		for _, p := range plain {
			if list := words[pair][p.word]; len(list) > 0 {
				parts = append(parts, fmt.Sprintf(p.text, enumerate(list)))
			}
		}
		all = append(all, answer{pair, strings.Join(parts, "; ") + "."})
	}
	return all
}

func enumerate(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return list[0]
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

// tile is a fact of the first screen.
type tile struct {
	Name  string
	Big   []value
	Small string
}

func (v view) tiles(head map[string]string) []tile {
	grade, meaning, found := strings.Cut(head["grade"], ": ")
	if !found {
		grade, meaning = "–", head["grade"]
	}
	counted := 0
	for _, c := range v.e.Cells {
		counted += len(c.Processes)
	}
	return []tile{
		{"Machine grade", []value{text(grade)}, meaning},
		v.noise(),
		{"Evidence", []value{{Text: fmt.Sprint(counted), Number: float64(counted), Metric: "runs", Stat: "counted"}},
			fmt.Sprintf("fresh processes that count, of %d that ran; blocks: %d; discarded: %d, all listed below", len(v.s.Runs), v.s.Plan.Blocks, len(v.e.Discarded))},
	}
}

// noise is the largest noise floor of all verdicts.
func (v view) noise() tile {
	t := tile{Name: "Noise floor", Big: []value{text("not known")}, Small: "no A/A twin was compared with its original"}
	largest := math.Inf(-1)
	for _, d := range v.e.Verdicts {
		if d.NoiseFloor != nil && *d.NoiseFloor > largest {
			largest = *d.NoiseFloor
			t.Big = []value{text("±"), ratioOf(d, "noise", largest, fmt.Sprintf("%.1f", largest*100)), text(" %")}
			t.Small = "what two copies of one server may differ by here: the largest of all metrics, in " + metricWord(d.Primary) + "; a smaller difference is none"
		}
	}
	return t
}
