package page

import (
	"fmt"
	"math"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

const floorMetric = string(findings.FloorBytes)

func floorNumber(target, stat string, bytes float64) value {
	return value{Text: digits(bytes / mebi.divisor), Number: bytes, Target: target, Scenario: string(record.MemoryFloor), Metric: floorMetric, Stat: stat}
}

// floorTiles has one for each target: the limit, and what happens below it.
func (v view) floorTiles() []tile {
	var all []tile
	for _, t := range v.e.Floor.Targets {
		limit, span := report.FloorText(t)
		below := "below it: " + report.FloorBound(v.e.Floor, t)
		x := tile{Name: "Memory for " + t.Target, Big: []value{text(limit)}, Small: []value{text(report.FloorBound(v.e.Floor, t))}}
		if t.Floor != nil {
			x.Big = []value{floorNumber(t.Target, "median", t.Floor.Value), text(" MiB")}
			kind := map[bool]string{true: " (95 % interval over searches); ", false: " passed or failed; "}[t.Floor.Reached]
			x.Small = []value{floorNumber(t.Target, "lo", t.Floor.Lo), text(" to "), floorNumber(t.Target, "hi", t.Floor.Hi), text(kind + below)}
		} else if span != "" {
			x.Small = append(x.Small, text(span))
		}
		all = append(all, x)
	}
	return all
}

// floors is the floor of each target: a bar from what failed to what passed, and a tick.
func (v view) floors() (figure, bool) {
	most := 0.0
	var shown []findings.TargetFloor
	for _, t := range v.e.Floor.Targets {
		if t.Floor != nil {
			shown, most = append(shown, t), max(most, t.Floor.Hi)
		}
	}
	if len(shown) == 0 {
		return figure{}, false
	}
	f := figure{Title: "The smallest memory limit that is enough", Unit: mebi.name, Reading: []value{text("Bar: from the largest limit that failed to the smallest that passed. Mark: the floor of each search. What you buy is the mark, times replicas.")}}
	height := float64(len(shown))*stripRow + 24
	s := newSVG(height, f.Title)
	x, ticks := fromZero(most/mebi.divisor, stripLeft, stripRight)
	s.axisX(x, ticks, 2, height-20)
	f.Table.Head = []string{"target", "floor, MiB", "from", "to", "searches", "below it"}
	for i, t := range shown {
		y, series := 2+(float64(i)+0.5)*stripRow, v.series(t.Target)
		at := func(bytes float64) float64 { return x.at(bytes / mebi.divisor) }
		s.text("name", "end", stripLeft-8, y+4, short(t.Target, 14))
		s.rect(fmt.Sprintf("interval f%d", series), at(t.Floor.Lo)-1, y-8.5, at(t.Floor.Hi)-at(t.Floor.Lo)+2, 17)
		for n, bytes := range v.e.Floor.Floors(t.Target) {
			one := floorNumber(t.Target, fmt.Sprintf("search %d", n+1), bytes)
			s.mark(series, at(bytes), y+float64((n+1)%3-1)*4.5, 2.6, one, fmt.Sprintf("%s, search %d: %s MiB", t.Target, n+1, one.Text))
		}
		s.line("median", at(t.Floor.Value), y-13, at(t.Floor.Value), y-8.5)
		s.line("median", at(t.Floor.Value), y+8.5, at(t.Floor.Value), y+13)
		s.text("number", "end", chartWidth-2, y+4, digits(t.Floor.Value/mebi.divisor))
		f.Table.Rows = append(f.Table.Rows, []value{text(t.Target), floorNumber(t.Target, "median", t.Floor.Value), floorNumber(t.Target, "lo", t.Floor.Lo), floorNumber(t.Target, "hi", t.Floor.Hi),
			{Text: fmt.Sprint(len(t.Searches)), Number: float64(len(t.Searches)), Target: t.Target, Scenario: string(record.MemoryFloor), Metric: floorMetric, Stat: "n"}, text(report.FloorBound(v.e.Floor, t))})
	}
	f.Chart = s.done()
	return f, true
}

// limits is p95 against the limit: a wall, where memory is short, is a cliff and no slope.
func (v view) limits() (figure, bool) {
	rules := v.s.Plan.Rules.Capacity
	least, most, largest := float64(rules.SLO), float64(rules.SLO), 0.0
	lines := map[string][]report.AtLimit{}
	for _, t := range v.e.Floor.Targets {
		for _, a := range report.ByLimit(t) {
			if a.P95 != nil {
				lines[t.Target] = append(lines[t.Target], a)
				least, most, largest = min(least, *a.P95), max(most, *a.P95), max(largest, float64(a.Bytes))
			}
		}
	}
	if largest == 0 {
		return figure{}, false
	}
	f := figure{Title: "p95 of the response time against the memory limit", Unit: "ms"}
	f.Reading = []value{text(fmt.Sprintf("A mark is the median of the trials at that limit that came to an end, each a fresh process; at limits without one every process was killed or gave up. The line across is the limit of %v.", rules.SLO))}
	s := newSVG(lineHeight, f.Title)
	x, xTicks := fromZero(largest/mebi.divisor, plotLeft, plotRight-6)
	y, yTicks := decades(least/millis.divisor, most/millis.divisor, plotBottom, plotTop)
	s.axisY(y, yTicks, plotLeft, plotRight)
	s.axisX(x, xTicks, plotBottom, plotBottom+3)
	s.text("tick", "end", plotRight, lineHeight-4, "MiB of the limit")
	s.line("one", plotLeft, y.at(float64(rules.SLO)/millis.divisor), plotRight, y.at(float64(rules.SLO)/millis.divisor))
	f.Table.Head = []string{"target", "limit, MiB", "p95, ms", "passed", "trials", "killed"}
	for _, t := range v.e.Floor.Targets {
		var xy [][2]float64
		series := v.series(t.Target)
		for _, a := range lines[t.Target] {
			xy = append(xy, [2]float64{x.at(float64(a.Bytes) / mebi.divisor), y.at(*a.P95 / millis.divisor)})
		}
		if len(xy) > 0 {
			s.path(fmt.Sprintf("line s%d", series), xy)
			s.text("name", "end", xy[0][0]-6, max(plotTop+10, xy[0][1]-6), short(t.Target, 16))
		}
		for i, a := range lines[t.Target] {
			n := func(metric string, number float64, u unit) value {
				return value{Text: digits(number / u.divisor), Number: number, Target: t.Target, Scenario: string(record.MemoryFloor), Metric: metric, Stat: fmt.Sprintf("at %g MiB", math.Round(float64(a.Bytes)/mebi.divisor))}
			}
			at := n("p95_ns", *a.P95, millis)
			s.mark(series, xy[i][0], xy[i][1], 2.4, at, fmt.Sprintf("%s, %s MiB: %s ms, %d of %d passed", t.Target, digits(float64(a.Bytes)/mebi.divisor), at.Text, a.Passed, a.Trials))
			f.Table.Rows = append(f.Table.Rows, []value{text(t.Target), n("limit_bytes", float64(a.Bytes), mebi), at, n("passed", float64(a.Passed), unit{"", 1}), n("trials", float64(a.Trials), unit{"", 1}), n("oom_kills", float64(a.Kills), unit{"", 1})})
		}
	}
	f.Chart = s.done()
	return f, true
}
