package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

var words = []string{"BETTER", "WORSE", "EQUIVALENT", "INCONCLUSIVE", "INVALID"}

// page is what a session prints; verdict lines come with the line below.
func page(t *testing.T, s *record.Session) (lines []string) {
	t.Helper()
	return strings.Split(string(write(t, Table, s)), "\n")
}

func TestFiveWords(t *testing.T) {
	lines := page(t, load(t, "five-words"))
	for _, pair := range []string{"go-1 / node-1, CPUs of their own ---", "go-2 / node-cluster-2, CPUs shared with the generator ---"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, pair) }) {
			t.Errorf("no line %q", pair)
		}
	}
	for _, c := range []struct{ word, row, below string }{
		{"BETTER", "rate get-c50", ""},
		{"BETTER", "memory memory-c300", ""},
		{"WORSE", "CPU/request get-open", ""},
		{"EQUIVALENT", "CPU/request get-open", ""},
		{"INCONCLUSIVE", "p99 get-open", "blocks would settle it"},
		{"INVALID", "rate get-c300", "node-1 was bound by neither"},
	} {
		found := false
		for i, line := range lines {
			if strings.HasPrefix(strings.Join(strings.Fields(line), " "), c.word+" "+c.row) {
				found = true
				if c.below != "" && !strings.Contains(lines[i+1], c.below) {
					t.Errorf("%s: the line below is %q", c.word, lines[i+1])
				}
			}
		}
		if !found {
			t.Errorf("no line %s %s", c.word, c.row)
		}
	}
}

// TestNoWordsWithoutVerdicts: what is not evidence shows no word that could be
// quoted, whatever it measured.
func TestNoWordsWithoutVerdicts(t *testing.T) {
	judged := load(t, "five-words")
	quick, short, changed := *judged, *judged, *judged
	quick.Plan.Quick = true
	short.Finished = time.Time{}
	changed.Changes = []record.Check{{Name: "governor", Observed: "powersave", Limit: "performance"}}
	for mark, s := range map[string]*record.Session{"SMOKE RUN": &quick, "INCOMPLETE SESSION": &short, "VOID SESSION": &changed} {
		for name, w := range map[string]Writer{"table": Table, "md": Markdown} {
			out := string(write(t, w, s))
			if !strings.Contains(out, mark) {
				t.Errorf("%s %s: no watermark", mark, name)
			}
			for _, word := range words {
				if strings.Contains(out, word) {
					t.Errorf("%s %s: it says %s", mark, name, word)
				}
			}
		}
	}
}

// TestOnePage: no line of a page is wider than 100, and the page of a session
// with every kind of row fits on one screen of a printer.
func TestOnePage(t *testing.T) {
	lines := page(t, load(t, "five-words"))
	if len(lines) > 66 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestTimeouts: what ran into the timeout of 5 s is known from below only (G10).
func TestTimeouts(t *testing.T) {
	cellOf := func(seconds ...float64) *findings.Cell {
		c := &findings.Cell{Counts: record.Counts{TimedOut: 1}}
		for _, x := range seconds {
			c.Processes = append(c.Processes, findings.Process{Values: map[findings.Metric]float64{findings.P99: x * 1e9}})
		}
		return c
	}
	v := view{s: &record.Session{Plan: record.Plan{RequestTimeout: 5 * time.Second}}, ms: brief}
	for _, c := range []struct {
		median float64
		xs     []float64
		want   string
	}{
		{5, []float64{5, 5, 5}, ">= 5 s"},
		{5, []float64{0.001, 5, 5}, ">= 5 s"},
		{0.002, []float64{5, 0.002, 0.001}, "2.00"},
		{2.5005, []float64{5, 0.001}, ">= 2.5 s"}, // the mean of the two in the middle, at least
		{0.0025, []float64{0.002, 5, 0.003, 0.001}, "2.50"},
	} {
		if got := v.typicalLatency(cellOf(c.xs...), findings.P99, findings.Summary{Median: c.median * 1e9}); got != c.want {
			t.Errorf("%v: got %s, want %s", c.xs, got, c.want)
		}
	}
	c := cellOf(1, 5)
	if got := v.spanOf(c, findings.Summary{N: 2, Min: 1e9, Max: 5e9}); got != "1000..>= 5 s" {
		t.Errorf("range %s", got)
	}
	if got := v.spanOf(c, findings.Summary{N: 2, Min: 5e9, Max: 5e9}); got != ">= 5 s" {
		t.Errorf("range %s", got)
	}
	c.Counts.TimedOut = 0 // then a reply did take so long
	if got := v.latency(c, 5e9); got != "5000" {
		t.Errorf("without a timeout: %s", got)
	}
}

func TestRejectedMaximum(t *testing.T) {
	s := load(t, "lone-max")
	if out := string(write(t, Markdown, s)); !strings.Contains(out, "| ~~230~~ 2.00 |") {
		t.Error("Markdown does not strike 230 ms through beside 2.00 ms")
	}
	out := string(write(t, Table, s))
	if !strings.Contains(out, " 230* ") || !strings.Contains(out, "\n* ") || !strings.Contains(out, "2.00 ms") {
		t.Error("the page has no 230* with its footnote")
	}
	if out := string(write(t, Table, load(t, "common-max"))); strings.Contains(out, "230*") || !strings.Contains(out, " 230 ") {
		t.Error("a maximum that all runs have is rejected")
	}
	if out := string(write(t, Table, load(t, "timed-out"))); !strings.Contains(out, ">= 5 s? ") || !strings.Contains(out, "\n? maximum undetermined") {
		t.Error("a maximum of which too little is known has no mark")
	}
}

func TestLedger(t *testing.T) {
	title, lines := ledger([]findings.Discarded{
		{Step: "a/get/b01", Outcome: record.Void, Reason: "steal: 3 %", Repeated: true},
		{Step: "b/get/b01", Outcome: record.Done, Reason: "ran again", Repeated: true},
		{Step: "c/get/b01", Outcome: record.Done, Reason: "ran again", Repeated: true},
		{Step: "a/post/b02", Outcome: record.Failed, Reason: "it died"},
		{Step: "a/get/b01", Attempt: 1, Outcome: record.Void, Reason: "steal: 4 %"},
	}, 40)
	if !strings.Contains(title, "5 of 40") || !strings.Contains(title, "1 group ") || !strings.Contains(title, "2 done runs") {
		t.Errorf("title %q", title)
	}
	want := []string{"a/get/b01: void: steal: 3 %; likewise a/get/b01 (repeat 1).", "a/post/b02: failed: it died."}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", lines, want)
	}
	// Two failures to start are not alike because both are failures to start.
	_, lines = ledger([]findings.Discarded{
		{Step: "a/get/b01", Outcome: record.Failed, Reason: "start a: port 40001 is answered by another server"},
		{Step: "a/get/b02", Outcome: record.Failed, Reason: "start a: it ended before it was ready"},
		{Step: "a/get/b03", Outcome: record.Failed, Reason: "start a: port 40137 is answered by another server"},
	}, 40)
	want = []string{"a/get/b01: failed: start a: port 40001 is answered by another server; likewise a/get/b03.", "a/get/b02: failed: start a: it ended before it was ready."}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", lines, want)
	}
	var many []findings.Discarded
	for i := range 12 {
		many = append(many, findings.Discarded{Step: "a/get/b01", Outcome: record.Failed, Reason: strings.Repeat("x", i+1)})
	}
	if _, lines := ledger(many, 40); len(lines) != 9 || !strings.HasPrefix(lines[8], "4 more") {
		t.Errorf("%d lines for 12 reasons: %q", len(lines), lines)
	}
	if _, none := ledger(nil, 40); none != nil {
		t.Error("a ledger of nothing")
	}
}

// TestNotesAreShort: gravest first, what voids in full, a line for each kind of
// warning, notes by name.
func TestNotesAreShort(t *testing.T) {
	long := strings.Repeat("word ", 15) + "end"
	notes := short(gravestFirst([]record.Finding{
		{Code: "n", Severity: record.Note, Text: long, Observed: long, Threshold: long},
		{Code: "w", Severity: record.Warn, Text: "a/get: slow", Observed: "1", Threshold: "2", Steps: []string{"a/get/b01"}},
		{Code: "w", Severity: record.Warn, Text: "b/get: slow", Observed: "1", Threshold: "2", Steps: []string{"b/get/b01"}},
		{Code: "long", Severity: record.Warn, Text: "a/get: slow, " + long + " " + long, Observed: "1", Threshold: "2", Steps: []string{"a/get/b01"}},
		{Code: "longer", Severity: record.Warn, Text: "a/get: " + long + " " + long, Observed: "1", Threshold: "2", Steps: []string{"a/get/b01"}},
		{Code: "m", Severity: record.Note, Text: "short", Observed: "1", Threshold: "2"},
		{Code: "v", Severity: record.Voids, Text: long, Observed: long, Threshold: "2"},
	}))
	want := []string{"void: " + long + " (" + long + "; limit 2)", "warn: a/get: slow (1; limit 2) (and 1 alike)", "warn: a/get: slow", "warn: a/get: " + long + " " + long,
		"note: n, m (--format md has all in full)"}
	if strings.Join(notes, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", notes, want)
	}
}

// TestExploratory: a scenario that no primary question reads is a line on the page
// and a table in Markdown; where nothing is asked, all are tables.
func TestExploratory(t *testing.T) {
	s := *load(t, "five-words")
	s.Plan.Primary = slices.DeleteFunc(slices.Clone(s.Plan.Primary), func(q record.Primary) bool { return q.Scenario == "get-c300" })
	line, table := "\nget-c300 (exploratory): go-1 ", "\nget-c300: GET "
	if out := string(write(t, Table, &s)); !strings.Contains(out, line) || strings.Contains(out, table) {
		t.Errorf("the page has\n%s", out)
	}
	if out := string(write(t, Markdown, &s)); !strings.Contains(out, "\n**get-c300: GET ") {
		t.Error("Markdown has no table of it")
	}
	s.Plan.Primary = nil
	if out := string(write(t, Table, &s)); strings.Contains(out, line) || !strings.Contains(out, table) {
		t.Errorf("the page has\n%s", out)
	}
}

// TestCSVOfAConfirmation: a run that was made because of what was seen has no
// number among those that are compared.
func TestCSVOfAConfirmation(t *testing.T) {
	s := *load(t, "lone-max")
	st := record.Step{Index: len(s.Plan.Steps), Block: 4, Target: "go-1", Scenario: "get-c50"}
	r := s.Runs[0]
	r.Step = st
	s.Plan.Confirm, s.Runs = []record.Step{st}, append(s.Runs[:len(s.Runs):len(s.Runs)], r)
	out := strings.Split(strings.TrimSpace(string(write(t, CSV, &s))), "\n")
	if last := out[len(out)-1]; !strings.Contains(last, ",no,done,\"ran to confirm a maximum") || !strings.HasSuffix(last, ",,,,,,,,") {
		t.Errorf("got %s", last)
	}
}

// TestCSVTellsAttemptsApart: of two runs of one step the later alone has numbers.
func TestCSVTellsAttemptsApart(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(write(t, CSV, load(t, "five-words")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	var got []string
	for _, r := range rows[1:] {
		if r[at["target"]] != "node-1" || r[at["scenario"]] != "get-c50" || r[at["block"]] != "3" {
			continue
		}
		got = append(got, strings.Join([]string{r[at["attempt"]], r[at["counted"]], r[at["outcome"]], r[at["rate_per_sec"]], r[at["plan_sha256"]]}, " "))
	}
	if strings.Join(got, "\n") != "0 no void  5eed\n1 yes done 20150 5eed" { // 20 000/s and 0.75 %
		t.Errorf("got %q", got)
	}
}
