package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/record"
)

var update = flag.Bool("update", false, "rewrite testdata")

// golden compares got with a file. On a difference it leaves what it got beside
// the file, as .got-NAME.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	left := filepath.Join(filepath.Dir(path), ".got-"+filepath.Base(path))
	if err := os.WriteFile(left, got, 0o644); err != nil {
		t.Error(err)
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s line %d\n got %q\nwant %q\nall of it is in %s", path, i+1, g[i], w[i], left)
		}
	}
	t.Fatalf("%s: %d lines, want %d; all of them are in %s", path, len(g), len(w), left)
}

// load reads an archived case as `report` does.
func load(t *testing.T, name string) *record.Session {
	t.Helper()
	if s, ok := loaded[name]; ok {
		return s
	}
	file := filepath.Join("testdata", "sessions", name, "benchmark.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := json.MarshalIndent(cases[name](), "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := archive.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	loaded[name] = s
	return s
}

func write(t *testing.T, w Writer, s *record.Session) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w(&b, s, evaluate(s)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// evaluations keeps what takes most of the time of these tests.
var evaluations = map[*record.Session]findings.Evaluation{}

func evaluate(s *record.Session) findings.Evaluation {
	e, ok := evaluations[s]
	if !ok {
		e = findings.Evaluate(s)
		evaluations[s] = e
	}
	return e
}

// loaded keeps sessions too: no test may change one.
var loaded = map[string]*record.Session{}

func TestGolden(t *testing.T) {
	for name := range cases {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			dir := filepath.Join("testdata", "sessions", name)
			golden(t, filepath.Join(dir, "report.golden"), write(t, Table, s))
			golden(t, filepath.Join(dir, "report.md.golden"), write(t, Markdown, s))
			golden(t, filepath.Join(dir, "runs.csv.golden"), write(t, CSV, s))
			golden(t, filepath.Join(dir, "findings.golden"), write(t, onlyFindings, s))
		})
	}
}

// onlyFindings leaves out the numbers, which the other golden files hold.
func onlyFindings(w io.Writer, _ *record.Session, e findings.Evaluation) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"findings": e.Findings, "discarded": e.Discarded})
}

// TestReportHangsOnTheSessionAlone: neither the environment nor the last report
// shows in a report.
func TestReportHangsOnTheSessionAlone(t *testing.T) {
	s := load(t, "every-doubt")
	want := write(t, Table, s)
	twwidth.SetEastAsian(true) // what the library does by itself under some of these
	for _, env := range [][2]string{{"COLUMNS", "40"}, {"LANG", "ja_JP.UTF-8"}, {"LC_ALL", "zh_CN.UTF-8"}, {"RUNEWIDTH_EASTASIAN", "1"}, {"NO_COLOR", "1"}, {"TERM", "dumb"}, {"TZ", "Asia/Tokyo"}} {
		t.Setenv(env[0], env[1])
	}
	write(t, Table, load(t, "standard"))
	twwidth.SetEastAsian(true)
	if got := write(t, Table, s); !bytes.Equal(got, want) {
		t.Error("the bytes differ")
	}
}

func TestNothingToObeyOrToBreak(t *testing.T) {
	for name := range cases {
		s := load(t, name)
		for format, w := range map[string]Writer{"table": Table, "md": Markdown} {
			out := string(write(t, w, s))
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }) {
				t.Errorf("%s %s: control characters", name, format)
			}
			if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
				t.Errorf("%s %s: not a number", name, format)
			}
			for line := range strings.Lines(out) {
				if strings.TrimRight(line, " \n")+"\n" != line {
					t.Errorf("%s %s: blanks end the line %q", name, format, line)
				}
				if format == "table" && utf8.RuneCountInString(line) > 120 {
					t.Errorf("%s: %d characters: %s", name, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

func TestSharedIsSaidWhereverItApplies(t *testing.T) {
	for line := range strings.Lines(string(write(t, Table, load(t, "standard")))) {
		f := strings.Fields(line)
		named := len(f) > 3 && (f[0] == "go-2" || f[0] == "node-cluster-2" || f[1] == "go-2" || f[1] == "node-cluster-2")
		if named && !strings.Contains(line, "shared") {
			t.Errorf("no label: %s", line)
		}
	}
}

// fullAfter fails once n bytes are written, as a full disk or a closed pipe.
type fullAfter struct{ n int }

func (f *fullAfter) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return f.n, errors.New("full")
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	s := load(t, "standard")
	e := evaluate(s)
	for name, w := range Formats {
		whole := len(write(t, w, s))
		for _, n := range []int{0, 1, whole / 2, whole - 1} {
			if err := w(&fullAfter{n}, s, e); err == nil {
				t.Errorf("%s: no error after %d bytes", name, n)
			}
		}
		if err := w(&fullAfter{whole}, s, e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCSVHoldsEachRun checks a row against the session by hand: 40 000 requests
// in 2 s, 2 s of CPU, 8 bytes of log name and so on.
func TestCSVHoldsEachRun(t *testing.T) {
	s := load(t, "crash-in-repeat-2")
	rows, err := csv.NewReader(bytes.NewReader(write(t, CSV, s))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(s.Runs) {
		t.Fatalf("%d rows for %d runs", len(rows), len(s.Runs))
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "target", "go-1"}, {1, "outcome", "done"}, {1, "rate_per_sec", "20000"}, {1, "server_cpu_ns_per_request", "50000"},
		{1, "generator_cpu_ns_per_request", "30000"}, {1, "max_ns", "1999000"}, {1, "latency_samples", "40000"}, {1, "errors", "0"}, {1, "idle_pss_bytes", ""},
		{3, "scenario", "memory-c300"}, {3, "idle_pss_bytes", "12582912"}, {3, "load_pss_bytes", "20971520"}, {3, "p50_ns", ""},
		{6, "target", "node-1"}, {6, "outcome", "failed"}, {6, "rate_per_sec", ""}, {6, "planned", ""},
	} {
		if got := rows[c.row][at[c.column]]; got != c.want {
			t.Errorf("row %d %s: got %q, want %q", c.row, c.column, got, c.want)
		}
	}
}
