// Package page writes report.html: one file without script that asks nothing of a
// network, for a manager to read the first screen of, an engineer to read all of,
// and a sceptic to take numbers from. It is pure, as package report is, and stands
// apart from it because its numbers are no texts: each carries its value in base
// units (data-value) and what it is of, so that a program can hold the page against
// the record; a test does, in a browser.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

//go:embed page.html
var source string

//go:embed style.css
var style string

var page = template.Must(template.New("page").Parse(source))

// document is all that the template fills in.
type document struct {
	Style     template.CSS
	ID, Date  string
	Question  string
	Mark      string
	Answers   []answer
	NoAnswer  string
	Tiles     []tile
	Verdicts  []judged
	Scenarios []section
	Variants  table
	Capacity  table
	CapacityT string
	Quotas    table
	Profiles  []report.ProfileTable
	Notes     []record.Finding
	Discarded []findings.Discarded
	Head      []report.Fact
}

// section is a scenario.
type section struct {
	Name, Text string
	Legend     []entry
	Figures    []figure
}

// legible is the page without characters that are orders: who saves it as text, or
// reads a name in it that turns its line round, sees what is there.
func legible(page []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if record.Obeyed(r) && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, page)
}

// HTML writes the page.
func HTML(w io.Writer, s *record.Session, e findings.Evaluation) error {
	v := view{s, &e}
	head := map[string]string{}
	for _, f := range report.Head(s) {
		head[f.Name] = f.Text
	}
	d := document{
		Style: template.CSS(style), ID: s.ID, Mark: report.Mark(s, e), Answers: v.answers(), NoAnswer: v.noAnswer(), Tiles: v.tiles(head), Verdicts: v.verdicts(),
		Capacity: v.capacity(), CapacityT: sentenceCase(findings.CapacityTimeIs), Notes: report.GravestFirst(e.Findings), Discarded: e.Discarded, Head: report.Head(s),
	}
	d.Question = s.Plan.Question()
	if v.e.Capacity != nil {
		d.Question, d.Tiles = "How much load can these servers take?", v.capacityTiles()
	}
	if v.e.Floor != nil {
		d.Question, d.Tiles = "How much memory do these servers need?", v.floorTiles()
	}
	if s.Plan.Kind == record.Variants {
		d.Question, d.Variants = "What is each variant of these servers worth?", v.variants()
		d.Tiles[1] = v.variantNoise()
	}
	if v.e.Profiles != nil {
		d.Question, d.Tiles, d.Profiles = report.ProfileQuestion, nil, report.ProfileTables(s, e)
	}
	if !s.Started.IsZero() {
		d.Date = s.Started.UTC().Format("2 January 2006, 15:04 UTC")
	}
	if v.e.Scale != nil {
		d.Question, d.Tiles, d.Scenarios = "What does one more cost, and what does it add?", v.scaleTiles(), []section{v.against()}
		d.Quotas = v.quotas()
	}
	for _, sc := range s.Plan.Scenarios {
		if fs := v.figures(sc); len(fs) > 0 && v.e.Scale == nil {
			d.Scenarios = append(d.Scenarios, section{sc.Name, describe(sc), v.legend(v.cells(sc)), fs})
		}
	}
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if _, err := w.Write(legible(b.Bytes())); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// figures are those that a scenario has the numbers for. Under the memory sampler
// there is neither rate nor latency.
func (v view) figures(sc record.Scenario) []figure {
	var all []figure
	add := func(f figure, ok bool) {
		if ok {
			all = append(all, f)
		}
	}
	switch {
	case sc.Kind == record.MemoryFloor:
		add(v.floors())
		add(v.limits())
		return all
	case sc.Kind == record.Capacity && v.e.Capacity == nil:
		return nil
	case sc.Kind == record.Capacity:
		return v.curves(sc)
	case sc.Overload != nil && v.e.Capacity != nil:
		add(v.overload(sc))
		add(v.tail(sc))
		add(v.timeline(sc))
		return all
	}
	if sc.Kind == record.Memory {
		add(v.strip(sc, findings.LoadPSS, mebi, "Memory under load"))
		add(v.memoryOverTime(sc))
		add(v.strip(sc, findings.Peak, mebi, "Peak memory"))
		return all
	}
	add(v.strip(sc, findings.Rate, perSecond, "Rate"))
	add(v.strip(sc, findings.ServerCPU, micros, "Server CPU per request"))
	add(v.strip(sc, findings.P99, millis, "p99 latency"))
	add(v.tail(sc))
	add(v.timeline(sc))
	add(v.maxima(sc))
	return all
}

// maxima is the strip of the largest latencies, whose table says what each is worth.
func (v view) maxima(sc record.Scenario) (figure, bool) {
	f, ok := v.strip(sc, findings.Max, millis, "Largest latency of each process")
	if !ok {
		return f, false
	}
	f.Reading = []value{text("One request decides a maximum, so it counts for nothing until other processes show one like it.")}
	f.Table = table{Head: []string{"target", "largest", "in run", "class", "standing", "seen in", "why"}}
	for _, c := range v.cells(sc) {
		sum, ok := c.Summary[findings.Max]
		if !ok {
			continue
		}
		largest := of(c, string(findings.Max), "max", sum.Max, millis)
		if c.Maximum != nil && c.Maximum.Rejected() {
			largest.Class = "rejected"
		}
		row := []value{text(c.Target), largest}
		if m := c.Maximum; m != nil {
			row = append(row, text(m.Run), text(string(m.Class)), text(string(m.Standing)), text(fmt.Sprintf("%d of %d", m.SeenIn, m.Of)), text(m.Text))
			f.Reading = append(f.Reading, text(" "), name(c.Target), text(": "), largest, text(fmt.Sprintf(" ms, %s.", m.Standing)))
		} else {
			row = append(row, text("–"), text("–"), text("–"), text("–"), text("not looked into: the plan has no rule for it"))
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	return f, true
}

// sentenceCase begins a text with a capital.
func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// capacity is the table of capacity times.
func (v view) capacity() table {
	t := table{Head: []string{"pair", "scenario", "target, µs", "base, µs", "saved, µs", "from", "to", "of 2 ms, %", "of 10 ms, %", "limited by"}}
	for _, c := range findings.CapacityTimes(v.s, v.e) {
		n := func(stat string, x float64, u unit) value {
			return value{Text: digits(x / u.divisor), Number: x, Target: c.Target, Scenario: c.Scenario, Metric: "capacity_time", Stat: stat}
		}
		row := []value{text(c.Target + " / " + c.Base), text(c.Scenario), n("target", c.Time.Median, micros), n("base", c.BaseTime.Median, micros),
			n("saved", c.Saved.Median, micros), n("saved min", c.Saved.Min, micros), n("saved max", c.Saved.Max, micros)}
		for _, share := range c.Shares {
			row = append(row, n("share of "+share.Work.String(), share.Ratio, percent))
		}
		t.Rows = append(t.Rows, append(row, text(report.CapacityLimit(v.e, c))))
	}
	return t
}
