// Package report prints a session: as a terminal page, as Markdown, as CSV, as
// JSON. It is pure: the output depends on the session alone, not on a clock, a
// locale or the width of a terminal, so `compare` and `report` print the same
// bytes today and in ten years.
//
// The page says what was found and what speaks against it; Markdown says the same
// and adds every range. Both print three significant digits (the page two of a
// latency below 1 ms), and fixed units, so that two reports can be laid side by
// side: rates in thousands of requests per second, latencies in milliseconds, CPU
// in microseconds a request, memory in MiB. Files for machines (CSV, JSON) keep all
// digits and the base units.
package report

import (
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
	head      []fact
	verdicts  grid
	load      grid
	page      grid // load as a page has it; without rows: load
	memory    grid
	detail    []grid
	findings  []record.Finding // gravest first
	discarded []findings.Discarded
	runs      int
	foot      []string
}

// fact is a named line of the head.
type fact struct{ name, text string }

// grid is a table of text, and what has to be said of it.
type grid struct {
	title   string
	lead    []string // before the table, a paragraph each
	columns []heading
	rows    []row
	foot    []string // below it, a paragraph each
	tight   bool     // one blank between columns instead of two
}

// heading is the head of a column: what it shows, in which unit.
type heading struct {
	name, unit string
	text       bool // aligned left
	ranged     bool // the range of this number is in the column on its right
}

// row is a line of a grid. Group, if not empty, is said above it of this row and
// those that follow; remark is said below it of this row alone.
type row struct {
	group  string
	cells  []cell
	remark string
}

// cell is what one column says. Struck is a number that was measured and is
// rejected: a note says why.
type cell struct{ text, struck string }

func compose(s *record.Session, e findings.Evaluation) document {
	v := newView(s, &e)
	if s.Plan.Kind == record.Memory {
		return v.memoryAlone()
	}
	if s.Plan.Kind == record.Capacity {
		return v.capacityAlone()
	}
	if s.Plan.Kind == record.Scaling {
		return v.scaleAlone()
	}
	if s.Plan.Kind == record.MemoryFloor {
		return v.floorAlone()
	}
	if s.Plan.Kind == record.Profiling {
		return v.profileAlone()
	}
	if s.Plan.Kind == record.Variants {
		return v.variantsAlone()
	}
	return document{
		title:     s.Plan.Question(),
		mark:      mark(s, e),
		head:      head(s),
		verdicts:  v.verdicts(),
		load:      v.load(),
		page:      v.asked(),
		memory:    v.memory(),
		detail:    v.detail(),
		findings:  gravestFirst(e.Findings),
		discarded: e.Discarded,
		runs:      len(s.Runs),
		foot:      foot(s),
	}
}

// mark is what stands across a page that is not evidence.
func mark(s *record.Session, e findings.Evaluation) string {
	switch {
	case s.Plan.Quick && !s.Complete():
		return "SMOKE RUN, AND INCOMPLETE: NOT EVIDENCE"
	case s.Plan.Quick:
		return "SMOKE RUN: NOT EVIDENCE"
	case !s.Complete():
		return "INCOMPLETE SESSION: NO CONCLUSION CAN BE DRAWN"
	case e.Invalid():
		return "VOID SESSION: NO CONCLUSION CAN BE DRAWN"
	}
	return ""
}

func foot(s *record.Session) []string {
	return []string{
		"More: gonogo report " + s.ID + " --format md (every range and note), or csv, html, bench; gonogo show ID RUN; gonogo verify; gonogo decide.",
	}
}
