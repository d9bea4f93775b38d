package report

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"
)

// TestTableKeepsWords prints what a table library likes to change: units in
// headers, long names, cells with a pipe, a newline, wide characters, an escape
// sequence (C58).
func TestTableKeepsWords(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	g := grid{title: "C58", names: 1,
		header: []string{"target", "p99_ms", "p99.9 (µs)", "req/s", "RSS MiB", "Mb", "MB"},
		rows: [][]string{
			{"a server with a name that is a good deal longer than forty columns", "1.5", "12", "100000", "7", "8", "1"},
			{"pipe | in it", "11.5", "1", "9", "70.25", "", "-"},
			{"new\nline", "", "", "", "", "", ""},
			{"wide 表 é µ", "1", "2", "3", "4", "5", "6"},
			{"red \x1b[31m \u202e \xff", "1", "2", "3", "4", "5", "6"},
		}}
	var b bytes.Buffer
	if err := g.text(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "words.golden"), b.Bytes())
	for _, h := range append(g.header, g.rows[0][0], g.rows[1][0], `new\nline`, `red \x1b[31m \u202e \xff`) {
		if !strings.Contains(b.String(), h) {
			t.Errorf("%q is not in the table", h)
		}
	}
	b.Reset()
	g.markdown(&b)
	golden(t, filepath.Join("testdata", "words.md.golden"), b.Bytes())
	if lines := strings.Count(strings.TrimSpace(b.String()), "\n") + 1; lines != 9 {
		t.Errorf("%d lines of Markdown: a cell broke its row", lines)
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		smallest float64
		want     int
	}{{12345, 0}, {100, 0}, {99.9, 1}, {10, 1}, {9.99, 2}, {1, 2}, {0.999, 3}, {0.0001, 3}} {
		if got := decimals(c.smallest); got != c.want {
			t.Errorf("decimals(%v) = %d, want %d", c.smallest, got, c.want)
		}
	}
}

func TestCSVDisarmsFormulas(t *testing.T) {
	for in, want := range map[string]string{"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "go-1": "go-1", "": ""} {
		if got := inCSV(in); got != want {
			t.Errorf("inCSV(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCSVDisarmsNames: a target named by a stranger reaches a spreadsheet as text.
func TestCSVDisarmsNames(t *testing.T) {
	s := newSession(1, twoTargets()[1:])
	s.Plan.Targets[0].Name = "=cmd"
	for i := range s.Runs {
		s.Runs[i].Step.Target, s.Runs[i].Reason, s.Runs[i].LogFile = "=cmd", "@x", "+y"
	}
	rows, err := csv.NewReader(bytes.NewReader(write(t, CSV, s))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[1]; r[1] != "'=cmd" || r[7] != "'@x" || r[9] != "'+y" {
		t.Errorf("got %q", r[:10])
	}
}

func TestWrapNeverCutsAWord(t *testing.T) {
	long := strings.Repeat("x", 200)
	got := wrap("one "+long+" two", "  ")
	if got != "one\n  "+long+"\n  two\n" {
		t.Errorf("got %q", got)
	}
}
