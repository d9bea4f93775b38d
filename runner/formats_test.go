package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
)

// The summary of a CI job that runs these tests is not theirs to write.
func init() { os.Unsetenv("GITHUB_STEP_SUMMARY") }

// TestEveryFormat: each format that report offers is made from the archive alone,
// and begins as its readers expect.
func TestEveryFormat(t *testing.T) {
	out := t.TempDir()
	id := archived(t, out, "standard", true)
	begins := map[string]string{
		"table": "", "md": "# ", "csv": "session,", "json": "{", "html": "<!DOCTYPE html>\n", "bench": "session: ", "hlog": "#[Histogram log format version 1.3]\n",
		"hgrm": "#[Cell = go-1/get-c50", "hyperfine": "{\n  \"results\": [", "github": "[\n  {\n    \"name\": ", "junit": "<?xml ", "prometheus": "# HELP gonogo_",
	}
	field, _ := reflect.TypeFor[reportCmd]().FieldByName("Format")
	offered := strings.Split(field.Tag.Get("enum"), ",")
	if len(offered) != len(begins) || len(offered) != len(written) {
		t.Errorf("%d formats offered, %d known here, %d made", len(offered), len(begins), len(written))
	}
	for _, format := range offered {
		code, got, errText := gonogo("report", id, "--out", out, "--format", format)
		if begin, ok := begins[format]; code != exitDone || !ok || !strings.HasPrefix(got, begin) || len(got) < 100 {
			t.Errorf("%s: exit %d, %q, begins %.60q", format, code, errText, got)
		}
	}
}

// TestOneCell: HdrHistogram's plotter draws one distribution a file, so one can be
// had alone; where a cell makes no sense, and where there is none of the name, the
// error says what does.
func TestOneCell(t *testing.T) {
	out := t.TempDir()
	id := archived(t, out, "standard", true)
	code, got, _ := gonogo("report", id, "--out", out, "--format", "hgrm", "--cell", "node-1/get-c50")
	if code != exitDone || strings.Count(got, "#[Cell = ") != 1 || !strings.HasPrefix(got, "#[Cell = node-1/get-c50,") || strings.Count(got, "Total count") != 1 {
		t.Errorf("exit %d, %.200q", code, got)
	}
	code, got, _ = gonogo("report", id, "--out", out, "--format", "hlog", "--cell", "node-1/get-c50")
	if code != exitDone || strings.Count(got, "Tag=") == 0 || strings.Count(got, "Tag=") != strings.Count(got, "Tag=node-1/get-c50/") {
		t.Errorf("exit %d, %.200q", code, got)
	}
	for _, c := range [][3]string{{"hgrm", "node-1/none", "go-1/get-c50"}, {"table", "node-1/get-c50", "hgrm or hlog"}} {
		if code, got, errText := gonogo("report", id, "--out", out, "--format", c[0], "--cell", c[1]); code != exitUsage || got != "" || !strings.Contains(errText, c[2]) {
			t.Errorf("%v: exit %d, %q", c, code, errText)
		}
	}
}

// TestSummary: what other steps wrote stays, and without a file there is none.
func TestSummary(t *testing.T) {
	s, err := archive.Load(filepath.Join("report", "testdata", "sessions", "standard", "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	if err := summarize("", s, e); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(path, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := summarize(path, s, e); err != nil {
		t.Fatal(err)
	}
	_, md, _ := gonogo("report", filepath.Join("report", "testdata", "sessions", "standard", "benchmark.json"), "--format", "md")
	if got, err := os.ReadFile(path); err != nil || string(got) != "before\n"+md {
		t.Errorf("%v: %d bytes, want %d", err, len(got), len("before\n"+md))
	}
	if err := summarize(filepath.Join(path, "no"), s, e); err == nil {
		t.Error("a summary that cannot be written is no error")
	}
}
