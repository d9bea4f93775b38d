package report

import (
	"fmt"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// variantsAlone is the page of a session of variants: what each part that was
// exchanged is worth, end to end.
func (v view) variantsAlone() document {
	return document{
		title: "What is each variant of these servers worth?",
		mark:  mark(v.s, *v.e),
		head:  head(v.s),
		verdicts: v.variantGrid("CAPACITY TIME", "What a request takes of a saturated server on its CPUs: 1 / rate in µs, 50 connections. Effect: variant / plain - 1 by block, with its 95 % interval; "+
			"moved: the interval lies beside 0 and the estimate beyond the noise of the plain server's twin; same: the 90 % interval lies within the margin. Less is better.",
			[]variantColumn{{"GET", "µs", "GET", findings.CapacityTimeOf, micros}, {"POST", "µs", "POST", findings.CapacityTimeOf, micros}}),
		load: v.variantGrid("AT ONE RATE", "CPU time per request and p99 in an open loop, memory (PSS) under it, at half of the smallest capacity of a plain server and its variants: all do the same work.",
			[]variantColumn{{"CPU", "µs/req", "GET", findings.ServerCPU, micros}, {"p99", "ms", "GET", findings.P99, millis}, {"PSS", "MiB", "GET", findings.LoadPSS, mebi}}),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: it asked no question before its first run."}, foot(v.s)...),
	}
}

// variantColumn is a metric in the scenarios of a method.
type variantColumn struct {
	name, unit, method string
	metric             findings.Metric
	divisor            float64
}

func (v view) variantGrid(title, lead string, columns []variantColumn) grid {
	g := grid{title: title, lead: []string{lead}, columns: []heading{{name: "variant", text: true}}}
	for _, c := range columns {
		g.columns = append(g.columns, heading{name: c.name, unit: c.unit}, heading{name: "effect", unit: "%", ranged: true}, heading{name: "[95 %]", text: true})
	}
	g.columns = append(g.columns, heading{name: "moved", text: true})
	group := ""
	add := func(x findings.Variant, under string) {
		r := v.variantRow(x, columns)
		if under != group {
			r.group, group = under, under
		}
		g.rows = append(g.rows, r)
	}
	for _, x := range v.e.Variants {
		if x.Name != "" {
			add(x, v.against(x, columns))
		}
	}
	for _, x := range v.e.Variants { // noise stands below what is held against it
		if x.Name == "" {
			add(x, "A/A twins: what differs is noise")
		}
	}
	return g
}

// against names the plain server of a variant, and what it takes.
func (v view) against(x findings.Variant, columns []variantColumn) string {
	text := "against " + x.Base
	for _, c := range columns {
		if e, ok := v.effectOf(x, c); ok {
			text += fmt.Sprintf(", %s %s %s", c.name, digits(e.Base/c.divisor), c.unit)
		}
	}
	return text
}

func (v view) variantRow(x findings.Variant, columns []variantColumn) row {
	name := x.Name
	if name == "" {
		name = x.Target
	}
	r := row{cells: []cell{{text: name}}}
	var moved []string
	clear := 0
	for _, c := range columns {
		e, ok := v.effectOf(x, c)
		if !ok {
			r.cells = append(r.cells, cell{text: noData}, cell{}, cell{})
			continue
		}
		effect, span := EffectText(e)
		r.cells = append(r.cells, cell{text: digits(e.Value / c.divisor)}, cell{text: effect}, cell{text: span})
		switch e.Word {
		case findings.Less, findings.More:
			moved = append(moved, c.name+" "+string(e.Word))
		case findings.Same:
			clear++
		}
	}
	text := strings.Join(moved, ", ")
	switch {
	case text == "" && clear == len(columns):
		text = "nothing"
	case text == "":
		text = "unclear"
	}
	r.cells = append(r.cells, cell{text: text})
	return r
}

// EffectText is an effect in percent, and its interval; "" for none.
func EffectText(e findings.VariantEffect) (effect, span string) {
	if e.Lo != nil && e.Hi != nil {
		span = "[" + EffectPercent(*e.Lo) + ", " + EffectPercent(*e.Hi) + "]"
	}
	return EffectPercent(e.Ratio), span
}

// EffectPercent is a ratio as a change in percent, with its sign.
func EffectPercent(ratio float64) string { return fmt.Sprintf("%+.1f", 100*(ratio-1)) }

// effectOf is the effect on a metric in the scenario of a method.
func (v view) effectOf(x findings.Variant, c variantColumn) (findings.VariantEffect, bool) {
	for _, e := range x.Effects {
		sc, ok := v.s.Plan.Scenario(e.Scenario)
		if ok && e.Metric == c.metric && methodOf(sc) == c.method {
			return e, true
		}
	}
	return findings.VariantEffect{}, false
}

func methodOf(sc record.Scenario) string {
	if len(sc.Requests) == 0 {
		return ""
	}
	return sc.Requests[0].Method
}
