package recount

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/record"
)

// Rows holds a runs.csv, as it lies on disk, against the raw records: every row has
// its run, every run its row, and each number that is recounted here is the same to
// the last digit that a float64 tells.
func Rows(s *record.Session, text string) []Mismatch {
	c := newChecker(s)
	rows, err := table(text)
	if err != nil {
		c.add("the whole file", "form", "it is CSV", err.Error())
		return c.found
	}
	seen := map[attempt]bool{}
	for i, cells := range rows {
		a, r, err := c.runOf(cells)
		if err != nil || seen[a] {
			c.add(lineOf(i), "run", "a run of step "+a.String(), "no run without a row")
			continue
		}
		seen[a] = true
		c.row(a, r, cells)
	}
	for i := range s.Runs {
		if a := (attempt{s.Runs[i].Step, s.Runs[i].Attempt}); !seen[a] {
			c.add(a.String(), "row", nothing, "a run")
		}
	}
	return c.found
}

// lineOf is where the i-th row stands, below the head.
func lineOf(i int) string { return "line " + strconv.Itoa(i+2) }

// table gives the rows of a CSV, each by the names of its columns.
func table(text string) ([]map[string]string, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	if len(rows) == 0 {
		return nil, errors.New("read rows: there is no head")
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for k, name := range rows[0] {
			cells[name] = row[k]
		}
		all = append(all, cells)
	}
	return all, nil
}

// Cells holds a CSV, as it lies on disk, against the same made anew, cell by cell.
func Cells(says, gives string) []Mismatch {
	a, errA := table(says)
	b, errB := table(gives)
	if errA != nil || errB != nil || len(a) != len(b) {
		return Text(says, gives)
	}
	var found []Mismatch
	for i := range a {
		for _, name := range slices.Sorted(maps.Keys(b[i])) {
			if x, ok := a[i][name]; !ok || x != b[i][name] {
				found = append(found, Mismatch{lineOf(i), name, strconv.Quote(x), strconv.Quote(b[i][name])})
			}
		}
	}
	if len(found) == 0 && says != gives {
		return Text(says, gives)
	}
	return found
}

var errNoRun = errors.New("no such run")

func (c *checker) runOf(cells map[string]string) (attempt, *record.Run, error) {
	a := attempt{step: record.Step{Target: cells["target"], Scenario: cells["scenario"]}}
	block, err := strconv.Atoi(cells["block"])
	if err != nil {
		return a, nil, errNoRun
	}
	a.step.Block = block
	n, err := strconv.Atoi(cells["attempt"])
	if err != nil {
		return a, nil, errNoRun
	}
	trial, _ := strconv.Atoi(cells["trial"]) // a column of sessions that search alone
	a.step.Trial = trial
	for key, r := range c.runs {
		if key.step.Trial == trial && key.n == n && key.step.Block == block && record.InCSV(key.step.Target) == cells["target"] && record.InCSV(key.step.Scenario) == cells["scenario"] {
			return key, r, nil
		}
	}
	return a, nil, errNoRun
}

// row: the counters that any run has, and the numbers of one that counts.
func (c *checker) row(a attempt, r *record.Run, cells map[string]string) {
	c.cell(a, "counted", cells, map[bool]string{true: "yes", false: "no"}[c.counts(r)])
	c.cell(a, "plan_sha256", cells, r.PlanSHA256)
	if l := r.Load; l != nil {
		for name, n := range map[string]uint64{
			"planned": l.Counts.Planned, "ok": l.Counts.OK, "miss": l.Counts.Miss, "failed": l.Counts.Failed, "timed_out": l.Counts.TimedOut,
			"unfinished": l.Counts.Unfinished, "in_window": l.Counts.InWindow, "window_ns": uint64(l.Window),
		} {
			c.cell(a, name, cells, strconv.FormatUint(n, 10))
		}
	}
	claim := func(name string) *float64 {
		v, err := strconv.ParseFloat(cells[name], 64)
		if err != nil {
			return nil
		}
		return &v
	}
	if c.counts(r) {
		c.run(a, r, claim)
	}
}

func (c *checker) cell(a attempt, name string, cells map[string]string, gives string) {
	if says, ok := cells[name]; ok && says != gives {
		c.add(a.String(), name, says, gives)
	}
}

// Text holds a text, as it lies on disk, against the same text made anew, and says
// which word of which line differs.
func Text(says, gives string) []Mismatch {
	const most = 10
	var found []Mismatch
	a, b := strings.Split(says, "\n"), strings.Split(gives, "\n")
	for i := range max(len(a), len(b)) {
		x, y := line(a, i), line(b, i)
		if x == y && (i < len(a)) == (i < len(b)) {
			continue
		}
		if len(found) == most {
			return append(found, Mismatch{Where: fmt.Sprintf("line %d", i+1), What: "text", Says: "more that differs", Gives: "other lines"})
		}
		x, y = word(x, y)
		found = append(found, Mismatch{Where: fmt.Sprintf("line %d", i+1), What: "text", Says: quote(x), Gives: quote(y)})
	}
	return found
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}

// word gives the first words that differ, or what one line has more.
func word(x, y string) (string, string) {
	a, b := strings.Fields(x), strings.Fields(y)
	for i := range max(len(a), len(b)) {
		if p, q := line(a, i), line(b, i); p != q {
			return p, q
		}
	}
	return x, y // they differ in spaces
}
