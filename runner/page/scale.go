package page

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

// scaleTiles has one for each arm: what one more costs, and where it gives most.
func (v view) scaleTiles() []tile {
	var all []tile
	for _, a := range v.e.Scale.Arms {
		x := tile{Name: a.Arm, Small: []value{text("memory of one more is not known")}, Big: []value{text("–")}}
		if e := a.Each; e != nil && e.Straight {
			n := func(stat string, b float64) value {
				return value{Text: digits(b / 1024), Number: b, Target: a.Arm, Scenario: string(v.s.Plan.Kind), Metric: "each_bytes", Stat: stat}
			}
			x.Big = []value{n("median", e.Bytes.Value), text(" KiB")}
			x.Small = []value{text("of memory for one more of the " + v.e.Scale.Factor + "; "), n("lo", e.Bytes.Lo), text(" to "), n("hi", e.Bytes.Hi), text(intervalName(e.Bytes.Reached))}
		} else if e != nil {
			x.Small = []value{text("memory against " + v.e.Scale.Factor + " is no line")}
		}
		if l := a.Law; l != nil && l.Peak != nil {
			x.Small = append(x.Small, text(". Most at "), value{Text: digits(l.Peak.Value), Number: l.Peak.Value, Target: a.Arm, Scenario: string(v.s.Plan.Kind), Metric: "usl_peak", Stat: "value"})
		}
		all = append(all, x)
	}
	return all
}

func intervalName(reached bool) string {
	if reached {
		return " (95 % interval over blocks)"
	}
	return " (the ends of too few blocks for an interval)"
}

// against are the curves of a sweep, in one section.
func (v view) against() section {
	s := section{Name: v.e.Scale.Factor, Text: "Every mark is the median of fresh processes at that level, its bar the 95 % interval of the median by rank; hollow where something else than the server was the limit."}
	for _, a := range v.e.Scale.Arms {
		if len(a.Rows) > 0 {
			if c, ok := v.e.Cell(a.Rows[0].Target, a.Rows[0].Load); ok {
				entry := v.legend([]*findings.Cell{c})[0]
				entry.Name = a.Arm
				s.Legend = append(s.Legend, entry)
			}
		}
	}
	for _, c := range []struct {
		title, reading string
		metric         findings.Metric
		u              unit
		memory, zero   bool
		of             func(findings.ScaleRow) *findings.Interval
	}{
		{"Rate", "Dashed: the universal scalability law, where one could be fitted.", findings.Rate, perSecond, false, true, func(r findings.ScaleRow) *findings.Interval { return r.Rate }},
		{"p99 latency", "In a closed loop latency is the rate once more: with n requests on their way it is n / rate on average. What users wait is measured in an open loop.", findings.P99, millis, false, false, func(r findings.ScaleRow) *findings.Interval { return r.P99 }},
		{"Server CPU per request", "CPU time of the whole process tree, the server's own whatever limits the rate.", findings.ServerCPU, micros, false, true, func(r findings.ScaleRow) *findings.Interval { return r.CPU }},
		{"Memory at the end of the load", "PSS of the process tree at one rate for all, in processes of its own.", findings.LoadEndPSS, mebi, true, true, func(r findings.ScaleRow) *findings.Interval { return r.PSS }},
	} {
		if f, ok := v.levels(c.title, c.metric, c.u, c.memory, c.zero, c.of); ok {
			f.Reading = []value{text(c.reading)}
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// levels draws one metric against the levels, which are on a logarithmic axis.
func (v view) levels(title string, m findings.Metric, u unit, memory, zero bool, of func(findings.ScaleRow) *findings.Interval) (figure, bool) {
	first, last, least, most := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, a := range v.e.Scale.Arms {
		for _, r := range a.Rows {
			if i := of(r); i != nil {
				least, most = min(least, i.Lo), max(most, i.Hi)
				if r.Level > 0 {
					first, last = min(first, r.Level), max(last, r.Level)
				}
			}
		}
	}
	if last == 0 || most == 0 {
		return figure{}, false
	}
	f := figure{Title: title + " against " + v.e.Scale.Factor, Unit: u.name}
	s := newSVG(lineHeight, f.Title)
	x, xTicks := decades(first, last, plotLeft+4, plotRight-8)
	y, yTicks := fromZero(most/u.divisor, plotBottom, plotTop)
	if !zero {
		y, yTicks = decades(least/u.divisor, most/u.divisor, plotBottom, plotTop)
	}
	s.axisY(y, yTicks, plotLeft, plotRight)
	s.axisX(x, xTicks, plotBottom, plotBottom+3)
	s.text("tick", "end", plotRight, lineHeight-4, v.e.Scale.Factor)
	f.Table.Head = []string{"target", v.e.Scale.Factor, u.name, "from", "to", "processes", "limited by"}
	for k, a := range v.e.Scale.Arms {
		v.drawArm(s, &f.Table, a, k%colours, m, u, memory, x, y, of)
	}
	f.Chart = s.done()
	return f, true
}

func (v view) drawArm(s *svg, t *table, a findings.ScaleArm, series int, m findings.Metric, u unit, memory bool, x, y scale, of func(findings.ScaleRow) *findings.Interval) {
	var xy [][2]float64
	for _, r := range a.Rows {
		if i := of(r); i != nil && r.Level > 0 {
			xy = append(xy, [2]float64{x.at(r.Level), y.at(i.Value / u.divisor)})
		}
	}
	if len(xy) == 0 {
		return
	}
	s.path(fmt.Sprintf("line s%d", series), xy)
	if a.Law != nil && m == findings.Rate {
		s.path(fmt.Sprintf("line law s%d", series), lawPath(a.Law, x, y, u))
	}
	end := xy[len(xy)-1]
	s.text("name", "end", end[0]-6, max(plotTop+10, end[1]-6), short(a.Arm, 16))
	for _, r := range a.Rows {
		i := of(r)
		if i == nil {
			continue
		}
		scenario, n, limit := r.Load, r.N, string(r.Limit)
		if memory {
			scenario, n, limit = r.Memory, r.Held, ""
		}
		number := func(stat string, z float64) value {
			return value{Text: digits(z / u.divisor), Number: z, Target: r.Target, Scenario: scenario, Metric: string(m), Stat: stat}
		}
		level := strconv.FormatFloat(r.Level, 'f', -1, 64)
		if r.Level > 0 {
			at := number("median", i.Value)
			s.line(fmt.Sprintf("whisker s%d", series), x.at(r.Level), y.at(i.Lo/u.divisor), x.at(r.Level), y.at(i.Hi/u.divisor))
			s.mark(series, x.at(r.Level), y.at(i.Value/u.divisor), 2.6, at, fmt.Sprintf("%s at %s: %s %s", a.Arm, level, at.Text, u.name))
			if !memory && m == findings.Rate && !r.Counts {
				s.el("circle", "class", "hollow", "cx", num(x.at(r.Level)), "cy", num(y.at(i.Value/u.divisor)), "r", "1.2")
			}
		}
		t.Rows = append(t.Rows, []value{text(a.Arm), text(level), number("median", i.Value), number("lo", i.Lo), number("hi", i.Hi), text(strconv.Itoa(n)), text(limit)})
	}
}

// lawPath is the law between the levels that it was fitted through.
func lawPath(l *findings.Law, x, y scale, u unit) [][2]float64 {
	const steps = 40
	from, to := math.Log(l.Levels[0]), math.Log(l.Levels[len(l.Levels)-1])
	var xy [][2]float64
	for i := range steps + 1 {
		n := math.Exp(from + (to-from)*float64(i)/steps)
		xy = append(xy, [2]float64{x.at(n), y.at(l.At(n) / u.divisor)})
	}
	return xy
}

// scaleRule is in place of the verdicts that such a session has none of.
func (v view) scaleRule() string {
	return report.ScaleRule(v.e.Scale) + " No verdict: this session asked no question before its first run."
}

// ErrNoSweep says that a session swept no factor, or that the metric is not known of it.
var ErrNoSweep = errors.New("the session holds no such curve")

// Against writes a curve of a sweep as a drawing that stands alone: of rates, or of
// memory.
func Against(w io.Writer, s *record.Session, e findings.Evaluation, m findings.Metric) error {
	v := view{s, &e}
	if e.Scale == nil {
		return ErrNoSweep
	}
	f, ok := figure{}, false
	switch m {
	case findings.Rate:
		f, ok = v.levels("Rate", m, perSecond, false, true, func(r findings.ScaleRow) *findings.Interval { return r.Rate })
	case findings.LoadEndPSS:
		f, ok = v.levels("Memory", m, mebi, true, true, func(r findings.ScaleRow) *findings.Interval { return r.PSS })
	}
	if !ok {
		return ErrNoSweep
	}
	return alone(w, f)
}
