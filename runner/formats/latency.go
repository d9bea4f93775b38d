package formats

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// counted are the runs whose numbers are used and that have a latency, by the cell.
func counted(s *record.Session, c *findings.Cell) []*record.Run {
	var runs []*record.Run
	for i := range s.Runs {
		r := &s.Runs[i]
		used := slices.ContainsFunc(c.Processes, func(p findings.Process) bool { return p.Step == r.Step && p.Attempt == r.Attempt })
		if used && r.Load != nil && latency(r.Load) != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// latency is the response time where there is one, as in the evaluation.
func latency(l *record.LoadResult) *record.Histogram {
	if l.Response != nil {
		return l.Response
	}
	return l.Service
}

// Log writes an HdrHistogram log: an interval for each process, tagged with its
// step, in nanoseconds. Intervals are in order of time and do not overlap, as runs
// do not.
func Log(w io.Writer, s *record.Session, e findings.Evaluation) error {
	var list []histogram.Tagged
	for i := range e.Cells {
		for _, r := range counted(s, &e.Cells[i]) {
			start := r.Started
			if !r.Load.Start.IsZero() {
				start = r.Load.Start
			}
			list = append(list, histogram.Tagged{Tag: inTag(r.Step.Key()), Start: start.Sub(s.Started), Length: r.Load.Window, Histogram: latency(r.Load)})
		}
	}
	slices.SortStableFunc(list, func(a, b histogram.Tagged) int { return cmp.Compare(a.Start, b.Start) })
	var b bytes.Buffer
	if err := histogram.WriteLog(&b, s.Started, list); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return flush(w, &b)
}

// inTag keeps a tag, which ends at a comma, whole.
func inTag(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}

// Distribution writes the percentile distribution of each cell, in milliseconds, as
// HdrHistogram's plotter reads it. A line that begins with #[Cell starts each; the
// plotter wants one cell a file.
//
// A distribution pools the requests of all processes of the cell. That is a sound
// picture of what was served and no base for inference: the unit of that is the
// process, see Bench and runs.csv.
func Distribution(w io.Writer, s *record.Session, e findings.Evaluation) error {
	var b bytes.Buffer
	for i := range e.Cells {
		c := &e.Cells[i]
		runs := counted(s, c)
		if len(runs) == 0 || c.Kind.Searched() { // trials at many rates, or limits, are no one distribution
			continue
		}
		all := histogram.New()
		for _, r := range runs {
			h, err := histogram.Decode(latency(r.Load))
			if err != nil {
				return fmt.Errorf("pool latencies of %s: %w", r.Step.Key(), err)
			}
			all.Merge(h)
		}
		kind := "service time"
		if runs[0].Load.Response != nil {
			kind = "response time"
		}
		fmt.Fprintf(&b, "#[Cell = %s, %s in ms, processes pooled = %d, session = %s]\n", oneLine(c.Name()), kind, len(runs), oneLine(s.ID))
		if err := all.WriteDistribution(&b); err != nil {
			return fmt.Errorf("write distribution of %s: %w", c.Name(), err)
		}
	}
	return flush(w, &b)
}
