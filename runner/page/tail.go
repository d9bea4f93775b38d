package page

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// ladder are the percentiles of the chart of the tail.
var ladder = []struct {
	q    float64
	name string
}{{0.25, "p25"}, {0.5, "p50"}, {0.75, "p75"}, {0.9, "p90"}, {0.95, "p95"}, {0.99, "p99"}, {0.995, "p99.5"}, {0.999, "p99.9"}, {0.9995, "p99.95"}, {0.9999, "p99.99"}}

// samplesNeeded is the rule of the evaluation: an interval must exist, and behind
// p99 ten times over, for there a percentile rests on very few requests that come
// together (method S3).
func samplesNeeded(q float64) uint64 {
	n, ok := stats.SamplesNeeded(q, 0.95)
	if !ok {
		return math.MaxUint64
	}
	if q > 0.99 {
		n *= 10
	}
	return uint64(n)
}

// nines spreads the tail: each nine takes the same room.
func nines(q float64) float64 { return -math.Log10(1 - q) }

// tail shows latency by percentile, as medians over processes of each process's own
// percentile: from the intended time (planned) and from the sending (sent).
func (v view) tail(sc record.Scenario) (figure, bool) {
	cells := v.cells(sc)
	planned, sent := map[string][]point{}, map[string][]point{}
	least, most, widest := math.Inf(1), 0.0, 0.0
	for _, c := range cells {
		planned[c.Target] = v.percentiles(c, "planned", func(l *record.LoadResult) *record.Histogram { return l.Response })
		sent[c.Target] = v.percentiles(c, "sent", func(l *record.LoadResult) *record.Histogram { return l.Service })
		for _, p := range slices.Concat(planned[c.Target], sent[c.Target]) {
			least, most, widest = min(least, p.v.Number), max(most, p.v.Number), max(widest, p.x)
		}
	}
	if most == 0 {
		return figure{}, false
	}
	f := figure{Title: "Latency by percentile", Unit: "ms", Reading: v.rareness(sc, widest)}
	s := newSVG(lineHeight, "Latency by percentile")
	x := scale{lo: nines(ladder[0].q), hi: widest, from: plotLeft, to: plotRight - 6}
	y, ticks := decades(least/millis.divisor, most/millis.divisor, plotBottom, plotTop)
	s.axisY(y, ticks, plotLeft, plotRight)
	for _, l := range ladder {
		if at := nines(l.q); at <= widest+1e-9 && l.q != 0.25 && l.q != 0.75 && l.q != 0.95 && l.q != 0.995 && l.q != 0.9995 {
			s.line("grid", x.at(at), plotTop, x.at(at), plotBottom+3)
			s.text("tick", "middle", x.at(at), plotBottom+14, l.name)
		}
	}
	s.text("tick", "end", plotRight, lineHeight-4, "each nine takes the same room")
	f.Table.Head = []string{"target", "counted from"}
	for _, l := range ladder {
		f.Table.Head = append(f.Table.Head, l.name)
	}
	for _, c := range cells {
		v.curve(s, &f.Table, c, planned[c.Target], "planned", "line", x, y)
		dashed := "line"
		if len(planned[c.Target]) > 0 {
			dashed = "line sent"
		}
		v.curve(s, &f.Table, c, sent[c.Target], "sent", dashed, x, y)
	}
	f.Chart = s.done()
	return f, true
}

// curve draws one line and adds its row.
func (v view) curve(s *svg, t *table, c *findings.Cell, points []point, from, class string, x, y scale) {
	if len(points) == 0 {
		return
	}
	series := v.series(c.Target)
	row := []value{text(c.Target), text(from)}
	var xy [][2]float64
	for _, p := range points {
		xy = append(xy, [2]float64{x.at(p.x), y.at(p.v.Number / millis.divisor)})
	}
	s.path(fmt.Sprintf("%s s%d", class, series), xy)
	for i, p := range points {
		if class == "line" { // the dashed line has none, to stay apart
			s.mark(series, xy[i][0], xy[i][1], 2.4, p.v, fmt.Sprintf("%s, %s, %s: %s ms", c.Target, from, p.v.Stat, p.v.Text))
		}
		row = append(row, p.v)
	}
	for len(row) < len(t.Head) {
		row = append(row, text("–"))
	}
	t.Rows = append(t.Rows, row)
}

// percentiles stops at the last that each process has the samples for: processes
// with more of them are the faster ones.
func (v view) percentiles(c *findings.Cell, from string, pick func(*record.LoadResult) *record.Histogram) []point {
	var all []*histogram.H
	fewest := uint64(math.MaxUint64)
	for _, p := range c.Processes {
		r := v.run(p)
		if r == nil || r.Load == nil || pick(r.Load) == nil {
			return nil
		}
		h, err := histogram.Decode(pick(r.Load))
		if err != nil {
			return nil
		}
		all, fewest = append(all, h), min(fewest, h.Count())
	}
	var points []point
	for _, l := range ladder {
		if fewest < samplesNeeded(l.q) {
			break
		}
		var xs []float64
		for _, h := range all {
			xs = append(xs, float64(h.Quantile(l.q)))
		}
		m, _ := stats.Median(xs)
		points = append(points, point{nines(l.q), of(c, from+"_ns", l.name, m, millis)})
	}
	return points
}

// rareness says how often the last percentile of the chart is met.
func (v view) rareness(sc record.Scenario, widest float64) []value {
	last, one := "p90", 10.0
	for _, x := range []struct {
		name string
		one  float64
	}{{"p99", 100}, {"p99.9", 1000}, {"p99.99", 10_000}} {
		if math.Log10(x.one) <= widest+1e-9 {
			last, one = x.name, x.one
		}
	}
	all := []value{text(fmt.Sprintf("%s is one request in %s", last, digits(one)))}
	lead := ": here one every "
	for _, c := range v.cells(sc) {
		t, _ := v.s.Plan.Target(c.Target)
		rate, ok := c.Summary[findings.Rate]
		if !ok || t.Base != "" || rate.Median <= 0 {
			continue
		}
		every := one / rate.Median * float64(time.Second)
		n := of(c, "every_"+last+"_ns", "median", every, millis)
		all = append(all, text(lead), n, text(" ms at the "), of(c, string(findings.Rate), "median", rate.Median, perSecond), text(" req/s of "), name(c.Target))
		lead = ", one every "
	}
	yours := fmt.Sprintf("; at your rate of R a second, one every %s/R seconds.", digits(one))
	if sc.Kind == record.Open {
		yours += " Solid: from the time it was planned for; dashed: from its sending."
	}
	return append(all, text(yours))
}
