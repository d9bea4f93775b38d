package page

import (
	"fmt"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Places in a strip: names to the left of the axis, medians to the right.
const (
	stripLeft  = 92.0
	stripRight = 300.0
	stripRow   = 30.0
)

// strip shows every process of each target as a mark, their median as a tick, and
// the 95 % interval of the median as a bar. The axis begins at 0.
func (v view) strip(sc record.Scenario, m findings.Metric, u unit, title string) (figure, bool) {
	var cells []*findings.Cell
	most := 0.0
	for _, c := range v.cells(sc) {
		if s, ok := c.Summary[m]; ok {
			cells = append(cells, c)
			most = max(most, s.Max)
		}
	}
	if len(cells) == 0 {
		return figure{}, false
	}
	f := figure{Title: title, Unit: u.name, Reading: v.medians(cells, m, u)}
	height := float64(len(cells))*stripRow + 24
	s := newSVG(height, title+" of each process")
	x, ticks := fromZero(most/u.divisor, stripLeft, stripRight)
	s.axisX(x, ticks, 2, height-20)
	f.Table.Head = []string{"target", "median", "from", "to", "confidence", "processes"}
	for b := 1; b <= v.s.Plan.Blocks; b++ {
		f.Table.Head = append(f.Table.Head, fmt.Sprintf("block %d", b))
	}
	for i, c := range cells {
		interval, _ := stats.MedianInterval(c.Values(m), 0.95)
		v.stripRow(s, c, m, u, x, 2+(float64(i)+0.5)*stripRow, interval)
		f.Table.Rows = append(f.Table.Rows, v.stripCells(c, m, u, interval))
	}
	f.Chart = s.done()
	return f, true
}

func (v view) stripRow(s *svg, c *findings.Cell, m findings.Metric, u unit, x scale, y float64, interval stats.RankInterval) {
	series := v.series(c.Target)
	median := c.Summary[m].Median
	at := func(v float64) float64 { return x.at(v / u.divisor) }
	s.text("name", "end", stripLeft-8, y+4, short(c.Target, 14))
	bar := "interval"
	if !interval.Reached {
		bar = "interval open" // the span of too few values, worth less than 95 %
	}
	s.rect(fmt.Sprintf("%s f%d", bar, series), at(interval.Lo)-1, y-8.5, at(interval.Hi)-at(interval.Lo)+2, 17)
	for i, p := range c.Processes {
		if n, ok := p.Values[m]; ok {
			value := of(c, string(m), block(p), n, u)
			dy := float64((i+1)%3-1) * 4.5 // side by side where values are close, the first in the middle
			s.mark(series, at(n), y+dy, 2.6, value, fmt.Sprintf("%s, block %d: %s %s", c.Target, p.Step.Block, value.Text, u.name))
		}
	}
	// The median is marked above and below the marks, so as to hide none.
	s.line("median", at(median), y-13, at(median), y-8.5)
	s.line("median", at(median), y+8.5, at(median), y+13)
	s.text("number", "end", chartWidth-2, y+4, digits(median/u.divisor))
}

// block names a process among those of its cell.
func block(p findings.Process) string { return fmt.Sprintf("b%02d", p.Step.Block) }

func (v view) stripCells(c *findings.Cell, m findings.Metric, u unit, interval stats.RankInterval) []value {
	metric := string(m)
	row := []value{text(c.Target), of(c, metric, "median", c.Summary[m].Median, u), of(c, metric, "lo", interval.Lo, u), of(c, metric, "hi", interval.Hi, u),
		{Text: fmt.Sprintf("%.1f %%", interval.Confidence*100), Number: interval.Confidence, Target: c.Target, Scenario: c.Scenario, Metric: metric, Stat: "confidence"},
		{Text: fmt.Sprint(len(c.Values(m))), Number: float64(len(c.Values(m))), Target: c.Target, Scenario: c.Scenario, Metric: metric, Stat: "n"}}
	for b := 1; b <= v.s.Plan.Blocks; b++ {
		cell := text("–")
		for _, p := range c.Processes {
			if n, ok := p.Values[m]; ok && p.Step.Block == b {
				cell = of(c, metric, block(p), n, u)
			}
		}
		row = append(row, cell)
	}
	return row
}

// medians is the sentence of a strip: each target beside its base.
func (v view) medians(cells []*findings.Cell, m findings.Metric, u unit) []value {
	var all []value
	find := func(name string) *findings.Cell {
		for _, c := range cells {
			if c.Target == name {
				return c
			}
		}
		return nil
	}
	for _, t := range v.s.Plan.Targets {
		c, base := find(t.Name), find(t.Base)
		if c == nil || base == nil || t.Twin {
			continue
		}
		lead := "The median process of "
		if c.Summary[m].N == 1 {
			lead = "The one process of "
		}
		if len(all) > 0 {
			lead = "; of "
		}
		all = append(all, text(lead), name(t.Name), text(": "), of(c, string(m), "median", c.Summary[m].Median, u),
			text(" against "), of(base, string(m), "median", base.Summary[m].Median, u), text(" "+u.name+" of "), name(t.Base))
	}
	if len(all) == 0 {
		return []value{text("One mark is one fresh process.")}
	}
	return append(all, text("."))
}

// axisX draws the ticks of a horizontal axis from top to bottom, labelled below.
func (s *svg) axisX(x scale, ticks []float64, top, bottom float64) {
	for _, t := range ticks {
		s.line("grid", x.at(t), top, x.at(t), bottom)
		s.text("tick", "middle", x.at(t), bottom+13, tick(t))
	}
}

func (s *svg) axisY(y scale, ticks []float64, left, right float64) {
	for _, t := range ticks {
		s.line("grid", left, y.at(t), right, y.at(t))
		s.text("tick", "end", left-5, y.at(t)+3.5, tick(t))
	}
}
