package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/diff"
	"gonogo/runner/record"
)

// twoSessions archives the standard session and a changed copy of it.
func twoSessions(t *testing.T, out string, change func(s *record.Session)) (a, b string) {
	t.Helper()
	a = archived(t, out, "standard", true)
	s, err := archive.Load(filepath.Join(out, a))
	if err != nil {
		t.Fatal(err)
	}
	change(s)
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
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return a, w.ID()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	a, b := twoSessions(t, out, func(s *record.Session) { s.Host.NodeVersion = "v22.0.0" })
	r := inProcess("diff", a, b, "--out", out)
	for _, text := range []string{"plan: alike\n", "contract: alike\n", "versions: 1 difference\n  node_version: \"v20.20.2\" -> \"v22.0.0\"\n", "machine: alike\n",
		"A  " + a + "  complete, 48 runs of 6 blocks", "get-c50      node-1          rate_per_sec", "NO DIFFERENCE SHOWN"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("lacks %q:\n%s", text, r.out)
		}
	}
	if r.code != exitDone || r.err != "" || strings.Contains(r.out, "TWO MACHINES") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	var v struct {
		A, B side
		diff.Result
	}
	if r := inProcess("diff", a, b, "--out", out, "--json"); json.Unmarshal([]byte(r.out), &v) != nil || v.A.ID != a || v.B.ID != b || len(v.Effects) == 0 || len(v.Versions) != 1 {
		t.Errorf("JSON: %s", r.out)
	}
	inProcess("diff", a, "19990101", "--out", out).refused(t, exitFailed, "newest in "+out)
	inProcess("diff", a, "--out", out).refused(t, exitUsage)
}

// TestDiffOfTwoMachines: no number unless forced, and then every line says it.
func TestDiffOfTwoMachines(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	a, b := twoSessions(t, out, func(s *record.Session) { s.Host.CPUModel = "Other CPU" })
	r := inProcess("diff", a, b, "--out", out)
	if r.code != exitInvalid || !twoLines.MatchString(r.err) || !strings.Contains(r.err, "they are of two machines: cpu_model") || !strings.Contains(r.err, "--force") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	if !strings.Contains(r.out, "cpu_model: Example CPU @ 2.00GHz -> Other CPU") || strings.Contains(r.out, "rate_per_sec") {
		t.Errorf("numbers, or no reason:\n%s", r.out)
	}
	r = inProcess("diff", a, b, "--out", out, "--force")
	if r.code != exitDone || r.err != "" {
		t.Errorf("forced: exit %d\n%s", r.code, r.err)
	}
	rows := 0
	for line := range strings.Lines(r.out) {
		if strings.Contains(line, "rate_per_sec") || strings.Contains(line, "_bytes") || strings.Contains(line, "SCENARIO") {
			rows++
			if !strings.HasPrefix(line, "TWO MACHINES  ") {
				t.Errorf("a line that does not say it: %s", line)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows:\n%s", rows, r.out)
	}
	var v diff.Result
	r = inProcess("diff", a, b, "--out", out, "--force", "--json")
	if err := json.Unmarshal([]byte(r.out), &v); err != nil || len(v.Effects) == 0 {
		t.Fatalf("%v: %s", err, r.out)
	}
	for _, e := range v.Effects {
		if !e.Other {
			t.Errorf("a row that does not say it: %+v", e)
		}
	}
}

// TestDiffOfNoEvidence: a smoke run is compared, marked, and is no success.
func TestDiffOfNoEvidence(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := archived(t, out, "quick", true)
	r := inProcess("diff", id, id, "--out", out)
	if r.code != exitInvalid || !strings.Contains(r.out, "NOT EVIDENCE: A is a smoke run") || !twoLines.MatchString(r.err) {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
