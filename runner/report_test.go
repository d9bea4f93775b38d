package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

// gonogo runs a command line as main does.
func gonogo(args ...string) (code int, out, err string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

// archived writes a session of report's testdata as compare would, run by run,
// and gives its id.
func archived(t testing.TB, out, name string, finish bool) string {
	t.Helper()
	s, err := archive.Load(filepath.Join("report", "testdata", "sessions", name, "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := archive.Create(out, &s.Plan, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddContract(s.Contract); err != nil {
		t.Fatal(err)
	}
	for i := range s.Runs {
		if err := w.Append(&s.Runs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if finish {
		if err := w.Finish(nil); err != nil {
			t.Fatal(err)
		}
	}
	return w.ID()
}

// TestReportOfAnyReference: however a session is named, the report is the same to
// the byte, from its folder or from its benchmark.json.
func TestReportOfAnyReference(t *testing.T) {
	out := t.TempDir()
	id := archived(t, out, "standard", true)
	s, err := archive.Load(filepath.Join(out, id))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := archive.Publish(file, s); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"table", "md", "csv", "json"} {
		_, want, _ := gonogo("report", id, "--out", out, "--format", format)
		if !strings.Contains(want, id) {
			t.Fatalf("%s does not name the session:\n%s", format, want)
		}
		for _, ref := range []string{"latest", id[:20], filepath.Join(out, id), file} {
			code, got, errs := gonogo("report", ref, "--out", out, "--format", format)
			if code != exitDone || errs != "" || got != want {
				t.Errorf("report %s as %s: exit %d, %q, %d bytes for %d", ref, format, code, errs, len(got), len(want))
			}
		}
	}
}

func TestReportExitCodes(t *testing.T) {
	out := t.TempDir()
	id := archived(t, out, "incomplete", false)
	damaged := archived(t, out, "standard", true)
	if err := os.Truncate(filepath.Join(out, damaged, "plan.json"), 100); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args      []string
		code      int
		out, errs string // parts
	}{
		{[]string{"report", id, "--out", out}, exitInvalid, "INCOMPLETE SESSION", "gonogo: hint: the notes"},
		{[]string{"report", damaged, "--out", out}, exitFailed, "", "plan.json: truncated"},
		{[]string{"report", "19990101", "--out", out}, exitFailed, "", "gonogo: hint: newest in " + out},
		{[]string{"report", "--out", t.TempDir()}, exitFailed, "", "gonogo: hint: gonogo compare makes one"},
		{[]string{"report", id, "--out", out, "--format", "pdf"}, exitUsage, "", `must be one of "table","md","csv","json"`},
	} {
		code, got, errs := gonogo(c.args...)
		if code != c.code || !strings.Contains(got, c.out) || c.out == "" && got != "" || !strings.Contains(errs, c.errs) {
			t.Errorf("%v: exit %d\nstdout %.200s\nstderr %s", c.args, code, got, errs)
		}
	}
}

// TestReportWithoutAPlace: a writer that fails is an error, not a short report.
func TestReportWithoutAPlace(t *testing.T) {
	out := t.TempDir()
	archived(t, out, "standard", true)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer full.Close()
	var errs bytes.Buffer
	if code := run(context.Background(), []string{"report", "--out", out}, streams{nil, full, &errs}); code != exitFailed {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// TestBenchmarkOfTheKit: the benchmark.json that is kept with the kit, if there
// is one, can be read and is what it has to be.
func TestBenchmarkOfTheKit(t *testing.T) {
	s, err := archive.Load(filepath.Join("..", "benchmark.json"))
	if os.IsNotExist(err) || err != nil && strings.Contains(err.Error(), "no such file") {
		t.Skip("there is none yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !s.Complete() || s.Plan.Quick || s.Finished.IsZero() || s.SchemaVersion != record.SchemaVersion {
		t.Errorf("session %s: complete %v, quick %v, finished %v", s.ID, s.Complete(), s.Plan.Quick, s.Finished)
	}
}
