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
	g := grid{title: "C58", lead: []string{"a pipe | in running text"}, foot: []string{"* a foot"}}
	for _, name := range []string{"target", "p99_ms", "p99.9 (µs)", "req/s", "RSS MiB", "Mb", "MB"} {
		g.columns = append(g.columns, heading{name: name, text: name == "target"})
	}
	g.columns[2].unit = "µs/req"
	for _, texts := range [][]string{
		{"a server with a name that is a good deal longer than forty columns", "1.5", "12", "100000", "7", "8", "1"},
		{"pipe | in it", "11.5", "1", "9", "70.25", "", "-"},
		{"new\nline", "", "", "", "", "", ""},
		{"wide 表 é µ", "1", "2", "3", "4", "5", "6"},
		{"red \x1b[31m \u202e \xff", "1", "2", "3", "4", "5", "6"},
	} {
		var r row
		for _, text := range texts {
			r.cells = append(r.cells, cell{text: text})
		}
		g.rows = append(g.rows, r)
	}
	g.rows[1].cells[6] = cell{text: "2", struck: "230"}
	g.rows[2].remark = "a remark | with *all*"
	g.rows[3].group = "a group ~ of two"
	var b bytes.Buffer
	if err := g.text(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "words.golden"), b.Bytes())
	for _, h := range []string{"p99_ms", "p99.9 (µs)", "µs/req", "req/s", "RSS MiB", "Mb", "MB", "230*", g.rows[0].cells[0].text, g.rows[1].cells[0].text, `new\nline`, `red \x1b[31m \u202e \xff`} {
		if !strings.Contains(b.String(), h) {
			t.Errorf("%q is not in the table", h)
		}
	}
	b.Reset()
	g.markdown(&b, "##")
	golden(t, filepath.Join("testdata", "words.md.golden"), b.Bytes())
	if rows := strings.Count(b.String(), "\n|"); rows != 5+2*2 { // two heads of two lines
		t.Errorf("%d lines of tables in Markdown: a cell broke its row", rows)
	}
	if !strings.Contains(b.String(), "| ~~230~~ 2 |") {
		t.Error("the rejected number is not struck through in Markdown")
	}
}

// TestDigits: three significant digits, all before the point; by hand.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		v           float64
		want, brief string
	}{
		{0, "0", "0"}, {39877, "39877", "39877"}, {261.8, "262", "262"}, {99.96, "100", "100"}, {93.06, "93.1", "93.1"}, {9.995, "9.99", "9.99"}, {9.996, "10.0", "10.0"},
		{1, "1.00", "1.00"}, {0.998, "0.998", "1.00"}, {0.659, "0.659", "0.66"}, {0.1, "0.100", "0.10"}, {0.0659, "0.0659", "0.0659"}, {2e-9, "2e-09", "2e-09"}, {1e300, "1e+300", "1e+300"},
	} {
		if got, short := digits(c.v), brief(c.v); got != c.want || short != c.brief {
			t.Errorf("digits(%v) = %s, want %s; brief %s, want %s", c.v, got, c.want, short, c.brief)
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
	if r := rows[1]; r[1] != "'=cmd" || r[9] != "'@x" || r[11] != "'+y" {
		t.Errorf("got %q", r[:12])
	}
}

func TestWrapNeverCutsAWord(t *testing.T) {
	long := strings.Repeat("x", 200)
	got := wrap("one "+long+" two", "  ")
	if got != "one\n  "+long+"\n  two\n" {
		t.Errorf("got %q", got)
	}
}
