package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// The plot of a line chart.
const (
	lineHeight = 216.0
	plotLeft   = 40.0
	plotRight  = 350.0
	plotTop    = 8.0
	plotBottom = 184.0
)

// point is one value of a line: the median over the processes of a cell.
type point struct {
	x float64
	v value
}

// timeline shows right answers per slice of time, warm-up included, as medians over
// processes.
func (v view) timeline(sc record.Scenario) (figure, bool) {
	lines := map[string][]point{}
	first, last, most, step := 0.0, 0.0, 0.0, time.Duration(0)
	longest := 0
	cells := v.cells(sc)
	for _, c := range cells {
		points, slice := v.slices(c)
		for _, p := range points {
			first, last, most = min(first, p.x), max(last, p.x), max(most, p.v.Number)
		}
		lines[c.Target], step, longest = points, max(step, slice), max(longest, len(points))
	}
	if longest < 4 { // the windows of a smoke run are no course of time
		return figure{}, false
	}
	f := figure{Title: fmt.Sprintf("Rate over time, per %v", step), Unit: "req/s",
		Reading: []value{text("Shaded: warm-up, of which nothing is counted. A line that still climbs or sinks in the window is a server that had not settled.")}}
	s := newSVG(lineHeight, "Rate over time")
	last += step.Seconds()
	x := scale{lo: first, hi: last, from: plotLeft, to: plotRight}
	y, ticks := fromZero(most, plotBottom, plotTop)
	if first < 0 {
		s.rect("warmup", x.at(first), plotTop, x.at(0)-x.at(first), plotBottom-plotTop)
		s.text("tick", "start", x.at(first)+3, plotTop+11, "warm-up")
	}
	s.axisY(y, ticks, plotLeft, plotRight)
	s.axisX(x, whole(first, last), plotBottom, plotBottom+3)
	s.text("tick", "end", plotRight, lineHeight-4, "seconds from the window's start")
	f.Chart, f.Table = v.draw(s, cells, lines, x, y, "s", 1)
	return f, true
}

// slices are the medians of a cell's timelines. The slices of a warm-up begin
// at another time in each process, so they are joined by their place.
func (v view) slices(c *findings.Cell) ([]point, time.Duration) {
	rates, step := map[int][]float64{}, time.Duration(0)
	for _, p := range c.Processes {
		r := v.run(p)
		if r == nil || r.Load == nil {
			continue
		}
		for _, s := range r.Load.Timeline {
			step = max(step, s.Length)
		}
	}
	for _, p := range c.Processes {
		r := v.run(p)
		if r == nil || r.Load == nil {
			continue
		}
		for _, s := range r.Load.Timeline {
			if s.Length <= 0 || s.Length < step/2 {
				continue // the rest of a window: too short for a rate
			}
			at := place(s.Start, step)
			rates[at] = append(rates[at], float64(s.Right)/s.Length.Seconds())
		}
	}
	var points []point
	for at, xs := range rates {
		if m, ok := stats.Median(xs); ok {
			points = append(points, point{float64(at) * step.Seconds(), of(c, "slice_per_sec", fmt.Sprint(at), m, perSecond)})
		}
	}
	slices.SortFunc(points, byX)
	return points, step
}

func place(start, step time.Duration) int { return int(math.Round(float64(start) / float64(step))) }

func byX(a, b point) int {
	switch {
	case a.x < b.x:
		return -1
	case a.x > b.x:
		return 1
	}
	return 0
}

// draw joins the points of each target, marks them, and lists them. Lines of many
// points have a mark at some alone.
func (v view) draw(s *svg, cells []*findings.Cell, lines map[string][]point, x, y scale, xUnit string, divisor float64) (html template.HTML, t table) {
	t.Head = []string{"from, " + xUnit}
	at := map[float64]map[string]value{}
	for _, c := range cells {
		points := lines[c.Target]
		if len(points) == 0 {
			continue
		}
		series := v.series(c.Target)
		var xy [][2]float64
		for _, p := range points {
			xy = append(xy, [2]float64{x.at(p.x), y.at(p.v.Number / divisor)})
		}
		s.path(fmt.Sprintf("line s%d", series), xy)
		every := max(1, len(points)/10)
		for i, p := range points {
			if i%every == series%every {
				s.mark(series, xy[i][0], xy[i][1], 2.4, p.v, fmt.Sprintf("%s, %s %s: %s", c.Target, digits(p.x), xUnit, p.v.Text))
			}
			if at[p.x] == nil {
				at[p.x] = map[string]value{}
			}
			at[p.x][c.Target] = p.v
		}
		t.Head = append(t.Head, c.Target)
	}
	var xs []float64
	for k := range at {
		xs = append(xs, k)
	}
	slices.Sort(xs)
	for _, k := range xs {
		row := []value{text(digits(k))}
		for _, name := range t.Head[1:] {
			if n, ok := at[k][name]; ok {
				row = append(row, n)
			} else {
				row = append(row, text("–"))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return s.done(), t
}

// whole are the whole numbers of an axis of time, at most about ten.
func whole(first, last float64) []float64 {
	step := max(1, math.Ceil((last-first)/10))
	if last-first < 3 {
		step = 0.5
	}
	var ticks []float64
	for t := math.Ceil(first/step) * step; t <= last+1e-9; t += step {
		ticks = append(ticks, t)
	}
	return ticks
}

// memoryOverTime shows the tree's PSS before load, under it and after it, as
// medians over processes.
func (v view) memoryOverTime(sc record.Scenario) (figure, bool) {
	cells := v.cells(sc)
	const gap = 34.0
	lines, most, longest := map[string][]point{}, 0.0, 0.0
	for _, c := range cells {
		lines[c.Target] = v.readings(c)
		for _, p := range lines[c.Target] {
			most = max(most, p.v.Number)
			longest = max(longest, p.x)
		}
	}
	if most == 0 {
		return figure{}, false
	}
	f := figure{Title: "Memory over time", Unit: "MiB, PSS",
		Reading: []value{text(fmt.Sprintf("Idle %v after the start, under load once a second, and at rest %v after it: what stays is what a replica costs when nothing happens.", sc.Idle, sc.Rest))}}
	s := newSVG(lineHeight, "Memory over time")
	y, ticks := fromZero(most/mebi.divisor, plotBottom, plotTop)
	s.axisY(y, ticks, plotLeft, plotRight)
	x := scale{lo: 0, hi: max(1, longest), from: plotLeft + gap, to: plotRight - gap}
	s.rect("warmup", plotLeft, plotTop, gap/2, plotBottom-plotTop)
	s.rect("warmup", plotRight-gap/2, plotTop, gap/2, plotBottom-plotTop)
	s.text("tick", "middle", plotLeft+gap/4, plotBottom+13, "idle")
	s.text("tick", "middle", plotRight-gap/4, plotBottom+13, "rest")
	s.axisX(x, whole(1, longest), plotBottom, plotBottom+3)
	s.text("tick", "middle", (plotLeft+plotRight)/2, lineHeight-4, "seconds of load")
	f.Chart, f.Table = v.drawMemory(s, cells, lines, x, y, gap)
	return f, true
}

// readings are the medians at each second of load.
func (v view) readings(c *findings.Cell) []point {
	at := map[int][]float64{}
	for _, p := range c.Processes {
		r := v.run(p)
		if r == nil || r.Memory == nil {
			continue
		}
		for _, m := range r.Memory.Load {
			if m.PSS != nil {
				second := place(m.At, time.Second)
				at[second] = append(at[second], float64(*m.PSS))
			}
		}
	}
	var points []point
	for second, xs := range at {
		if m, ok := stats.Median(xs); ok {
			points = append(points, point{float64(second), of(c, "pss_bytes", fmt.Sprint(second), m, mebi)})
		}
	}
	slices.SortFunc(points, byX)
	return points
}

// drawMemory adds the readings before and after load, which have no place on the
// axis of time.
func (v view) drawMemory(s *svg, cells []*findings.Cell, lines map[string][]point, x, y scale, gap float64) (template.HTML, table) {
	idle, rest := []value{text("idle")}, []value{text("rest")}
	for _, c := range cells {
		if len(lines[c.Target]) == 0 {
			continue
		}
		series := v.series(c.Target)
		for _, end := range []struct {
			m  findings.Metric
			at float64
			to *[]value
		}{{findings.IdlePSS, plotLeft + gap/4, &idle}, {findings.RestPSS, plotRight - gap/4, &rest}} {
			sum, ok := c.Summary[end.m]
			if !ok {
				*end.to = append(*end.to, text("–"))
				continue
			}
			n := of(c, string(end.m), "median", sum.Median, mebi)
			s.mark(series, end.at, y.at(sum.Median/mebi.divisor), 3, n, c.Target+", "+(*end.to)[0].Text+": "+n.Text+" MiB")
			*end.to = append(*end.to, n)
		}
	}
	html, t := v.draw(s, cells, lines, x, y, "s of load", mebi.divisor)
	t.Rows = append(append([][]value{idle}, t.Rows...), rest)
	return html, t
}
