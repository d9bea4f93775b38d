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
// empty cell, and so is every number of a run that is not counted.
func CSV(w io.Writer, s *record.Session, e findings.Evaluation) error {
	type attempt struct {
		step   string
		number int
	}
	counted := map[attempt]findings.Process{}
	shared := map[string]bool{}
	for _, c := range e.Cells {
		shared[c.Target] = c.Shared
		for _, p := range c.Processes {
			counted[attempt{p.Step.Key(), p.Attempt}] = p
		}
	}
	why := map[attempt]findings.Discarded{}
	for _, d := range e.Discarded {
		why[attempt{d.Step, d.Attempt}] = d
	}
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	rows := [][]string{csvHeader()}
	searched := s.Plan.Kind.Searched()
	if searched {
		rows[0] = append(rows[0], "trial")
	}
	swept := s.Plan.Kind == record.Scaling
	if swept {
		rows[0] = append(rows[0], "arm", "level")
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		a := attempt{r.Step.Key(), r.Attempt}
		d, discarded := why[a]
		if !discarded {
			d = findings.Discarded{Outcome: r.Outcome, Reason: r.Reason}
		}
		if _, ok := counted[a]; !ok && d.Reason == "" && s.Plan.Confirms(r.Step) {
			d.Reason = "ran to confirm a maximum, and counts for that alone"
		}
		row := csvRow(s.ID, r, d, shared[r.Step.Target], counted[a])
		if searched {
			row = append(row, strconv.Itoa(r.Step.Trial))
		}
		if swept {
			row = append(row, levelOf(s, r.Step)...)
		}
		rows = append(rows, row)
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return flush(w, &b)
}

func csvHeader() []string {
	h := []string{"session", "target", "scenario", "shared", "block", "position", "attempt", "counted", "outcome", "reason", "started", "log_file", "plan_sha256",
		"planned", "ok", "miss", "failed", "timed_out", "unfinished", "in_window", "window_ns", "latency_samples"}
	for _, m := range findings.Metrics {
		h = append(h, string(m))
	}
	return h
}

func csvRow(id string, r *record.Run, d findings.Discarded, shared bool, p findings.Process) []string {
	row := []string{inCSV(id), inCSV(r.Step.Target), inCSV(r.Step.Scenario), strconv.FormatBool(shared), strconv.Itoa(r.Step.Block),
		strconv.Itoa(r.Step.Position), strconv.Itoa(r.Attempt), yesNo(p.Values != nil), inCSV(string(d.Outcome)), inCSV(d.Reason),
		r.Started.UTC().Format(time.RFC3339Nano), inCSV(r.LogFile), inCSV(r.PlanSHA256)}
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

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
