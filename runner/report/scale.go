package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// scaleAlone is the page of a session of scale: rate, latency, CPU and memory against
// one factor, and what one more of it costs or adds.
func (v view) scaleAlone() document {
	d := document{
		title:     "What does one more cost, and what does it add?",
		mark:      mark(v.s, *v.e),
		head:      head(v.s),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: it asked no question before its first run."}, foot(v.s)...),
	}
	if v.e.Scale != nil && v.s.Plan.Rules.Scale != nil {
		d.verdicts, d.load, d.memory = v.levels(), v.levelMemory(), v.curves()
		d.detail = []grid{v.laws()}
		if len(v.e.Dilutions) > 0 {
			d.memory = v.dilutions() // there is no curve through waits
		}
		if len(v.e.Quotas) > 0 {
			d.verdicts = v.quotas() // the levels, and what the quota did at each
		}
	}
	return d
}

// levels has a row a level, for what was measured under load.
func (v view) levels() grid {
	factor, rate := v.e.Scale.Factor, v.openRate()
	g := grid{title: "AGAINST " + strings.ToUpper(factor), columns: []heading{{name: factor}, {name: "rate", unit: "k/s"}, {name: "95 %", text: true}, {name: "ratio"},
		{name: "p99", unit: "ms"}, {name: "95 %", text: true}, {name: "CPU/req", unit: "µs"}, {name: "95 %", text: true}, {name: "limited by", text: true}}}
	p99 := "In a closed loop latency is the rate once more (connections = rate x mean), so p99 shows how uneven a level is and not what users wait. "
	if rate > 0 {
		p99 = "p99 is of an open loop of " + whole(rate) + " requests/s at every level, in processes of its own. "
	}
	if sc, ok := v.anyLoad(); ok {
		g.lead = []string{v.how(sc)}
	}
	for _, a := range v.e.Scale.Arms {
		for i, r := range a.Rows {
			late := r.P99
			if rate > 0 {
				late = r.OpenP99
			}
			x := row{cells: []cell{{text: level(r.Level)}, {text: middleOf(r.Rate, kilo)}, {text: ends(r.Rate, kilo)}, {text: v.baseRatio(a, r)}, {text: v.lateOf(late)}, {text: v.lateEnds(late)},
				{text: middleOf(r.CPU, micros)}, {text: ends(r.CPU, micros)}, {text: limitText(r)}}}
			if i == 0 {
				x.group = a.Arm
			}
			g.rows = append(g.rows, x)
		}
	}
	g.foot = []string{"Medians of fresh processes with the 95 % interval of the median by rank; in brackets the ends of too few values for one. " + p99 +
		"Ratio: rate over the base's, by block. Limited by server: it used up its CPUs. Round trip: neither side is busy, for no more requests are on their way. " +
		"Neither: likewise, though fewer kept the server busy. Generator, shared, neither: that level is no rate of the server alone and takes no part in a fit" + also(factor) + "."}
	return g
}

// openRate is what the open loop offers at every level; 0 without one.
func (v view) openRate() (most float64) {
	for _, a := range v.e.Scale.Arms {
		for _, r := range a.Rows {
			most = max(most, r.OpenRate)
		}
	}
	return most
}

func (v view) baseRatio(a findings.ScaleArm, r findings.ScaleRow) string {
	switch {
	case a.Base == "" && slices.ContainsFunc(v.e.Scale.Arms, func(o findings.ScaleArm) bool { return o.Base == a.Arm }):
		return "base"
	case a.Base == "":
		return ""
	case r.RateRatio == nil:
		return unknown
	}
	return digits(r.RateRatio.Value)
}

// also: cores are added to a server that needs them, and to no other.
func also(factor string) string {
	if factor == "connections" {
		return ""
	}
	return ", nor does one that is bound by the round trip"
}

// how says what loads: the same at all levels, or what differs.
func (v view) how(sc record.Scenario) string {
	kind := "closed loop"
	if sc.Kind == record.Open {
		kind = "open loop"
	}
	if v.e.Scale.Factor == "connections" {
		return fmt.Sprintf("%s %s, %s, %v warm-up and %v window in a fresh process for each run.", sc.Requests[0].Method, sc.Requests[0].Path, kind, sc.Warmup, sc.Window)
	}
	return fmt.Sprintf("%s %s, %s of %s, %v warm-up and %v window in a fresh process for each run.", sc.Requests[0].Method, sc.Requests[0].Path, kind, count(sc.Connections, "connection"), sc.Warmup, sc.Window)
}

func (v view) anyLoad() (record.Scenario, bool) {
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind != record.Memory && len(sc.Requests) > 0 {
			return sc, true
		}
	}
	return record.Scenario{}, false
}

func limitText(r findings.ScaleRow) string {
	if r.Limit == findings.ByNothing {
		return unknown
	}
	return string(r.Limit)
}

func level(l float64) string { return strconv.FormatFloat(l, 'f', -1, 64) }

func middleOf(i *findings.Interval, divisor float64) string {
	if i == nil {
		return unknown
	}
	return digits(i.Value / divisor)
}

// ends are an interval, in brackets where they are the ends of too few values.
func ends(i *findings.Interval, divisor float64) string {
	if i == nil {
		return ""
	}
	return bracketed(digits(i.Lo/divisor)+".."+digits(i.Hi/divisor), i.Reached)
}

func bracketed(text string, reached bool) string {
	if reached {
		return text
	}
	return "(" + text + ")"
}

func (v view) lateOf(i *findings.Interval) string {
	if i == nil {
		return unknown
	}
	return v.maybe(&i.Value)
}

func (v view) lateEnds(i *findings.Interval) string {
	if i == nil {
		return ""
	}
	return bracketed(v.maybe(&i.Lo)+".."+v.maybe(&i.Hi), i.Reached)
}

// levelMemory has a row a level, and the arms beside each other.
func (v view) levelMemory() grid {
	g := grid{title: "MEMORY", columns: []heading{{name: v.e.Scale.Factor}}}
	offered := 0.0
	at := map[float64][]cell{}
	for i, a := range v.e.Scale.Arms {
		g.columns = append(g.columns, heading{name: a.Arm, unit: "MiB"}, heading{name: "95 %", text: true})
		for _, r := range a.Rows {
			offered = max(offered, r.Offered)
			for len(at[r.Level]) < 2*i {
				at[r.Level] = append(at[r.Level], cell{}, cell{})
			}
			at[r.Level] = append(at[r.Level], cell{text: middleOf(r.PSS, mebi)}, cell{text: ends(r.PSS, mebi)})
		}
	}
	for _, l := range v.s.Plan.Scale.Levels {
		cells := at[l]
		for len(cells) < len(g.columns)-1 {
			cells = append(cells, cell{})
		}
		g.rows = append(g.rows, row{cells: append([]cell{{text: level(l)}}, cells...)})
	}
	rate := "one rate"
	if offered > 0 {
		rate = whole(offered) + " requests/s"
	}
	g.lead = []string{"PSS of the process tree at the end of the load, all connections open, in processes of its own: " + rate + " at every level and of every target, so that all did the same work. " +
		"What the kernel holds for a socket is in no process."}
	return g
}

// curves has a row an arm: the line of memory, what each core adds, and the law.
func (v view) curves() grid {
	r := v.s.Plan.Rules.Scale
	one := map[string]string{"connections": "KiB/connection", "cores": "MiB/core"}[v.e.Scale.Factor]
	if one == "" {
		return grid{}
	}
	g := grid{title: "WHAT ONE MORE COSTS AND ADDS", columns: []heading{{name: "target", text: true}, {name: one}, {name: "95 %", text: true}, {name: "law: of one", unit: "k/s"}, {name: "contention", unit: "%"},
		{name: "coherence", unit: "ppm"}, {name: "most at"}, {name: "off", unit: "%"}}}
	g.lead = []string{"Each: memory of one more. Law: how the rate follows the number, where that can be said."}
	divisor := 1024.0
	if v.e.Scale.Factor == "cores" {
		divisor = mebi
	}
	for _, a := range v.e.Scale.Arms {
		x := row{cells: append(append([]cell{{text: a.Arm}}, eachCells(a.Each, divisor)...), lawCells(a.Law)...)}
		var said []string
		for _, s := range a.Added {
			said = append(said, fmt.Sprintf("%s cores: %s %s x the rate of %s, %s %% of as many first ones", level(s.To), digits(s.Rate.Value), ends(&s.Rate, unit), level(s.From), digits(100*s.Efficiency)))
		}
		if a.Each != nil && !a.Each.Straight {
			said = append(said, fmt.Sprintf("memory is no line: a level lies %s %% of the rise off it", digits(100*a.Each.Bend)))
		}
		if a.NoLaw != "" {
			said = append(said, "no law: "+a.NoLaw)
		}
		x.remark = strings.Join(said, "; ")
		g.rows = append(g.rows, x)
	}
	g.foot = []string{fmt.Sprintf("Memory: slope of a least-squares line in each block, median and 95 %% interval over blocks; called a line if no level's median is off it by more than %s %% of the rise. "+
		"Law: Gunther's universal scalability law, X(n) = X(1) n / (1 + contention (n-1) + coherence n (n-1)), by least squares of relative deviations, 95 %% by resampled processes (report --format md); "+
		"fitted through %d levels or more over %s x whose rate is the server's, if they lie within %s %% of it. Most at: n of the highest rate, if the levels reach it. Nothing is said of more than %s x the largest level.",
		digits(100*r.BendMax), r.LevelsMin, digits(r.SpanMin), digits(100*r.ResidualMax), digits(r.BeyondMax))}
	return g
}

func eachCells(e *findings.EachCosts, divisor float64) []cell {
	switch {
	case e == nil:
		return []cell{{text: unknown}, {}}
	case !e.Straight:
		return []cell{{text: unknown, struck: digits(e.Bytes.Value / divisor)}, {text: ends(&e.Bytes, divisor)}}
	}
	return []cell{{text: digits(e.Bytes.Value / divisor)}, {text: ends(&e.Bytes, divisor)}}
}

func lawCells(l *findings.Law) []cell {
	if l == nil {
		return []cell{{text: unknown}, {text: unknown}, {text: unknown}, {text: unknown}, {text: ""}}
	}
	most := "not reached"
	if l.Peak != nil {
		most = digits(l.Peak.Value) + " " + ends(l.Peak, unit)
	}
	return []cell{{text: digits(l.Rate.Value / kilo)}, {text: digits(100 * l.Contention.Value)}, {text: digits(1e6 * l.Coherence.Value)}, {text: most}, {text: digits(100 * l.Residual)}}
}

// laws is the detail of the fits, for Markdown.
func (v view) laws() grid {
	g := grid{title: "Universal scalability law: 95 % intervals over resampled processes", columns: []heading{{name: "target", text: true}, {name: "of one", unit: "k/s"}, {name: "contention", unit: "%"}, {name: "coherence", unit: "ppm"}, {name: "levels", text: true}}}
	for _, a := range v.e.Scale.Arms {
		l := a.Law
		if l == nil {
			continue
		}
		three := func(i findings.Interval, divisor float64) cell {
			return cell{text: digits(i.Value/divisor) + " (" + ends(&i, divisor) + ")"}
		}
		var at []string
		for _, x := range l.Levels {
			at = append(at, level(x))
		}
		g.rows = append(g.rows, row{cells: []cell{{text: a.Arm}, three(l.Rate, kilo), three(l.Contention, percnt), three(l.Coherence, 1e-6), {text: strings.Join(at, " ")}}})
	}
	return g
}

// ScaleRule says what a sweep is.
func ScaleRule(c *findings.Scale) string {
	return fmt.Sprintf("Rate, latency, CPU and memory against %s: one factor over levels, each level in fresh processes, in shuffled blocks.", c.Factor)
}

// levelOf is which level of which arm a run is; a run of neither has empty cells.
func levelOf(s *record.Session, st record.Step) []string {
	for _, pt := range s.Plan.Scale.Points {
		if pt.Target == st.Target && (pt.Load == st.Scenario || pt.Memory == st.Scenario) {
			return []string{inCSV(pt.Arm), level(pt.Level)}
		}
	}
	return []string{"", ""}
}
