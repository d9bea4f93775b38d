// Package report prints a session: as a terminal page, as Markdown, as CSV, as
// JSON. It is pure: the output depends on the session alone, not on a clock, a
// locale or the width of a terminal, so `compare` and `report` print the same
// bytes today and in ten years.
//
// Units are fixed, so that two reports can be laid side by side: rates in
// requests per second, latencies in milliseconds, CPU in microseconds a request,
// memory in MiB. Files for machines (CSV, JSON) keep the base units.
package report

import (
	"fmt"
	"io"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Writer prints a session in one format.
type Writer func(io.Writer, *record.Session, findings.Evaluation) error

// Formats are all writers by name.
var Formats = map[string]Writer{"table": Table, "md": Markdown, "csv": CSV, "json": JSON}

// document is a report before it has a form.
type document struct {
	title     string
	mark      string // a watermark: why the numbers are not evidence; "" if they may be
	head      []string
	glance    grid   // ratios to the base
	main      []grid // one a scenario
	detail    []grid
	notes     []string // numbered from 1: what grids refer to
	discarded []string
	foot      []string
}

// grid is a table of text. Its first columns are names, the others numbers.
type grid struct {
	title  string
	names  int // leading columns that are names, aligned left
	header []string
	rows   [][]string
}

func compose(s *record.Session, e findings.Evaluation) document {
	d := document{
		title: "Should this Node.js service be rewritten in Go? Session " + s.ID,
		mark:  mark(s, e),
		head:  head(s),
		notes: notes(e),
		foot:  foot(s),
	}
	v := view{s: s, e: &e}
	d.glance = v.ratios()
	for _, sc := range s.Plan.Scenarios {
		if sc.Kind == record.Memory {
			d.main = append(d.main, v.memory(sc))
			d.detail = append(d.detail, v.memoryDetail(sc))
			continue
		}
		d.main = append(d.main, v.rates(sc))
		d.detail = append(d.detail, v.latencyDetail(sc))
	}
	d.detail = append(d.detail, v.cpuDetail())
	for _, r := range e.Discarded {
		line := fmt.Sprintf("%s %s: %s", r.Step, r.Outcome, r.Reason)
		if r.LogFile != "" {
			line += " (log: " + r.LogFile + ")"
		}
		d.discarded = append(d.discarded, line)
	}
	return d
}

// mark is what stands across a page that is not evidence.
func mark(s *record.Session, e findings.Evaluation) string {
	switch {
	case s.Plan.Quick && e.Invalid():
		return "SMOKE RUN, AND INCOMPLETE: NOT EVIDENCE"
	case s.Plan.Quick:
		return "SMOKE RUN: NOT EVIDENCE"
	case e.Invalid():
		return "INCOMPLETE SESSION: NO CONCLUSION CAN BE DRAWN"
	}
	return ""
}

// notes are the findings, one text each.
func notes(e findings.Evaluation) []string {
	var all []string
	for _, f := range e.Findings {
		line := fmt.Sprintf("%s %s: %s. Observed: %s; limit: %s.", f.Severity, f.Code, f.Text, f.Observed, f.Threshold)
		if n := len(f.Steps); n > 0 && n <= 3 {
			line += " In " + commas(f.Steps) + "."
		}
		if f.Hint != "" {
			line += " Hint: " + f.Hint + "."
		}
		all = append(all, line)
	}
	return all
}

func foot(s *record.Session) []string {
	return []string{
		"Medians are over fresh processes, a..b is min..max over the same; a percentile is taken inside a process (nearest rank) and " +
			"never averaged. n/a: unknown, or too few samples for that percentile. No winner is named.",
		"Archive: " + s.ID + " holds the plan, every run and the servers' logs; gonogo report " + s.ID + " prints this page from it.",
	}
}
