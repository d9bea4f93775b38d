package page

import (
	"fmt"
	"math"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

const capacityMetric = string(findings.CapacityRate)

// capacityTiles has one for each target: the rate, and what limits it.
func (v view) capacityTiles() []tile {
	var all []tile
	for _, t := range v.e.Capacity.Targets {
		rate, span, _ := report.CapacityText(t)
		x := tile{Name: "Capacity of " + t.Target, Big: []value{text(rate + " req/s")}, Small: []value{text(report.LimitedBy(v.e.Capacity, t))}}
		if t.Rate != nil {
			n := func(stat string, r float64) value {
				return value{Text: grouped(fmt.Sprintf("%.0f", r)), Number: r, Target: t.Target, Scenario: string(record.Capacity), Metric: capacityMetric, Stat: stat}
			}
			x.Big = []value{n("median", t.Rate.Value), text(" req/s")}
			kind := ", the ends of the one bracket"
			switch {
			case t.Rate.Reached:
				kind = ", 95 % interval over searches"
			case len(t.Searches) > 1:
				kind = fmt.Sprintf(", the ends of %d brackets", len(t.Searches))
			}
			x.Small = []value{n("lo", t.Rate.Lo), text(" to "), n("hi", t.Rate.Hi), text(kind + "; limited by " + report.LimitedBy(v.e.Capacity, t))}
		} else if span != "" {
			x.Small = append(x.Small, text(span))
		}
		all = append(all, x)
	}
	return all
}

// rated is a point of a curve: a rate and the median of the trials at it.
type rated struct {
	report.AtRate
	ns float64
}

// curves are latency against the offered rate, a figure each percentile.
func (v view) curves(sc record.Scenario) []figure {
	var all []figure
	for _, p := range []struct {
		name string
		q    float64
		of   func(report.AtRate) *float64
	}{
		{"p50", 0.5, func(a report.AtRate) *float64 { return a.P50 }},
		{"p95", 0.95, func(a report.AtRate) *float64 { return a.P95 }},
		{"p99", 0.99, func(a report.AtRate) *float64 { return a.P99 }},
	} {
		lines := map[string][]rated{}
		for _, t := range v.e.Capacity.Targets {
			for _, a := range report.ByRate(t) {
				if ns := p.of(a); ns != nil && *ns > 0 {
					lines[t.Target] = append(lines[t.Target], rated{a, *ns})
				}
			}
		}
		if f, ok := v.curveOf(sc, p.name, p.q, lines); ok {
			all = append(all, f)
		}
	}
	return all
}

func (v view) curveOf(sc record.Scenario, name string, q float64, lines map[string][]rated) (figure, bool) {
	rules := v.s.Plan.Rules.Capacity
	least, most, fastest := math.Inf(1), 0.0, 0.0
	for _, line := range lines {
		for _, p := range line {
			least, most, fastest = min(least, p.ns), max(most, p.ns), max(fastest, p.Rate)
		}
	}
	if most == 0 {
		return figure{}, false
	}
	slo := float64(rules.SLO)
	f := figure{Title: name + " of the response time against the offered rate", Unit: "ms"}
	f.Reading = []value{text("A mark is the median of the trials at that rate, each a fresh process; the response time counts from when a request was due. Where a line turns upwards, a queue begins.")}
	s := newSVG(lineHeight, f.Title)
	x, xTicks := fromZero(fastest, plotLeft, plotRight-6)
	if q == rules.Quantile {
		least, most = min(least, slo), max(most, slo)
		f.Reading = append(f.Reading, text(fmt.Sprintf(" The line across is the limit of %v.", rules.SLO)))
	}
	y, yTicks := decades(least/millis.divisor, most/millis.divisor, plotBottom, plotTop)
	s.axisY(y, yTicks, plotLeft, plotRight)
	s.axisX(x, xTicks, plotBottom, plotBottom+3)
	s.text("tick", "end", plotRight, lineHeight-4, "requests per second")
	if q == rules.Quantile {
		s.line("one", plotLeft, y.at(slo/millis.divisor), plotRight, y.at(slo/millis.divisor))
	}
	f.Table.Head = []string{"target", "offered, req/s", name + ", ms", "passed", "trials", "missed"}
	for _, t := range v.e.Capacity.Targets {
		v.drawCurve(s, &f.Table, t.Target, sc.Name, name, lines[t.Target], x, y)
	}
	f.Chart = s.done()
	return f, true
}

func (v view) drawCurve(s *svg, t *table, target, scenario, name string, line []rated, x, y scale) {
	series := v.series(target)
	var xy [][2]float64
	for _, p := range line {
		xy = append(xy, [2]float64{x.at(p.Rate), y.at(p.ns / millis.divisor)})
	}
	if len(xy) == 0 {
		return
	}
	s.path(fmt.Sprintf("line s%d", series), xy)
	end := xy[len(xy)-1] // a name at the end of its line, so that the drawing needs no legend
	s.text("name", "end", end[0]-6, max(plotTop+10, end[1]+4), short(target, 16))
	for i, p := range line {
		n := func(metric string, v float64, u unit) value {
			return value{Text: digits(v / u.divisor), Number: v, Target: target, Scenario: scenario, Metric: metric, Stat: fmt.Sprintf("at %g/s", p.Rate)}
		}
		at := n(name+"_ns", p.ns, millis)
		s.mark(series, xy[i][0], xy[i][1], 2.4, at, fmt.Sprintf("%s, %g/s: %s ms, %d of %d passed", target, p.Rate, at.Text, p.Passed, p.Trials))
		var missed []string
		for _, l := range p.Missed {
			missed = append(missed, string(l))
		}
		t.Rows = append(t.Rows, []value{text(target), n("offered_per_sec", p.Rate, perSecond), at, n("passed", float64(p.Passed), unit{"", 1}), n("trials", float64(p.Trials), unit{"", 1}), text(strings.Join(missed, ", "))})
	}
}

// overload shows, for each run, what was offered as a bar and what came of it as a mark.
func (v view) overload(sc record.Scenario) (figure, bool) {
	type one struct {
		target string
		o      findings.Overload
	}
	var runs []one
	most := 0.0
	for _, t := range v.e.Capacity.Targets {
		for _, o := range t.Overloads {
			runs, most = append(runs, one{t.Target, o}), max(most, o.Offered)
		}
	}
	if len(runs) == 0 {
		return figure{}, false
	}
	f := figure{Title: "Goodput under overload", Unit: "req/s", Reading: []value{text("Bar: what was offered. Line: the capacity that was found. Mark: right answers within that time, a second. A server that keeps its goodput at its capacity sheds what is too much and no more.")}}
	s := newSVG(float64(len(runs))*stripRow+24, f.Title)
	x, ticks := fromZero(most, stripLeft, stripRight)
	s.axisX(x, ticks, 2, float64(len(runs))*stripRow+4)
	f.Table.Head = []string{"target", "block", "offered", "capacity", "goodput", "rejected, %", "p50, ms", "p99, ms", "/healthz answered", "asked", "p50, ms", "max, ms", "recovers, s"}
	for i, r := range runs {
		n := func(metric string, number float64, u unit) value {
			return value{Text: digits(number / u.divisor), Number: number, Target: r.target, Scenario: sc.Name, Metric: metric, Stat: r.o.Step}
		}
		ms := func(metric string, ns float64) value {
			if ns == 0 {
				return text("–")
			}
			return n(metric, ns, millis)
		}
		y, series := 2+(float64(i)+0.5)*stripRow, v.series(r.target)
		good := n("goodput_per_sec", r.o.Goodput, perSecond)
		s.text("name", "end", stripLeft-8, y+4, short(r.target, 14))
		s.rect(fmt.Sprintf("interval f%d", series), x.at(0), y-6, x.at(r.o.Offered)-x.at(0), 12)
		s.line("median", x.at(r.o.Capacity), y-10, x.at(r.o.Capacity), y+10)
		s.mark(series, x.at(r.o.Goodput), y, 3.4, good, fmt.Sprintf("%s: %s of %s req/s offered", r.target, good.Text, digits(r.o.Offered)))
		s.text("number", "end", chartWidth-2, y+4, good.Text)
		recovers := text(report.Recovers(r.o))
		if r.o.Recovery != nil {
			recovers = n("recovery_ns", float64(*r.o.Recovery), unit{"s", 1e9})
		}
		f.Table.Rows = append(f.Table.Rows, []value{text(r.target), text(r.o.Step[strings.LastIndex(r.o.Step, "/")+1:]), n("offered_per_sec", r.o.Offered, perSecond), n(capacityMetric, r.o.Capacity, perSecond), good,
			n("rejected_ratio", r.o.Rejected, percent), ms("p50_ns", r.o.P50), ms("p99_ns", r.o.P99), n("health_answered", float64(r.o.HealthOK), unit{"", 1}), n("health_asked", float64(r.o.Health), unit{"", 1}),
			ms("health_p50_ns", r.o.HealthP50), ms("health_max_ns", r.o.HealthMax), recovers})
	}
	f.Chart = s.done()
	return f, true
}
