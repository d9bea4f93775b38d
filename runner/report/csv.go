package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// CSV prints one row for each run, discarded ones too, in run order. Numbers are
// in base units, which the names of the columns end in; an unknown number is an
// empty cell.
func CSV(w io.Writer, s *record.Session, e findings.Evaluation) error {
	counted := map[record.Step]findings.Process{}
	shared := map[string]bool{}
	for _, c := range e.Cells {
		shared[c.Target] = c.Shared
		for _, p := range c.Processes {
			counted[p.Step] = p
		}
	}
	why := map[string]findings.Discarded{}
	for _, d := range e.Discarded {
		why[d.Step] = d
	}
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	rows := [][]string{csvHeader()}
	for i := range s.Runs {
		r := &s.Runs[i]
		d := findings.Discarded{Outcome: r.Outcome, Reason: r.Reason}
		if void, ok := why[r.Step.Key()]; ok {
			d = void
		}
		rows = append(rows, csvRow(s.ID, r, d, shared[r.Step.Target], counted[r.Step]))
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return flush(w, &b)
}

func csvHeader() []string {
	h := []string{"session", "target", "scenario", "shared", "block", "position", "outcome", "reason", "started", "log_file",
		"planned", "ok", "miss", "failed", "timed_out", "unfinished", "in_window", "window_ns", "latency_samples"}
	for _, m := range findings.Metrics {
		h = append(h, string(m))
	}
	return h
}

func csvRow(id string, r *record.Run, d findings.Discarded, shared bool, p findings.Process) []string {
	row := []string{inCSV(id), inCSV(r.Step.Target), inCSV(r.Step.Scenario), strconv.FormatBool(shared), strconv.Itoa(r.Step.Block),
		strconv.Itoa(r.Step.Position), inCSV(string(d.Outcome)), inCSV(d.Reason), r.Started.UTC().Format(time.RFC3339Nano), inCSV(r.LogFile)}
	if l := r.Load; l != nil {
		n := l.Counts
		for _, v := range []uint64{n.Planned, n.OK, n.Miss, n.Failed, n.TimedOut, n.Unfinished, n.InWindow} {
			row = append(row, strconv.FormatUint(v, 10))
		}
		row = append(row, strconv.FormatInt(int64(l.Window), 10), strconv.FormatUint(p.Samples, 10))
	} else {
		row = append(row, make([]string, 9)...)
	}
	for _, m := range findings.Metrics {
		cell := ""
		if v, ok := p.Values[m]; ok {
			cell = strconv.FormatFloat(v, 'f', -1, 64)
		}
		row = append(row, cell)
	}
	return row
}
