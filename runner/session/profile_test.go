package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// The Node server itself, untouched: its run carries what the profiler yields, the
// window's requests are counted, and the archive takes it in a session of profiles alone.
func TestProfiledRunOfTheNodeServer(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no node")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sc := closedLoop(200 * time.Millisecond)
	sc.Profile = record.ProfileWaits
	p := planOf([]record.Scenario{sc}, record.Target{Name: "node-1", Argv: []string{"node", "server-node/server.mjs"}, Workers: 1})
	p.Kind = record.Profiling
	var o outcome
	c := config(t, p, &o, nil)
	dir := t.TempDir()
	c.Root = root
	c.LogName = func(st record.Step, _ int) string { return strings.ReplaceAll(st.Key(), "/", ".") + ".log" }
	c.LogPath = func(st record.Step, n int) string { return filepath.Join(dir, c.LogName(st, n)) }
	c.ProfileDir = func(record.Step, int) (string, string) { return filepath.Join(dir, "profiles", "x"), "profiles/x" }
	if err := Execute(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	r := o.runs[0]
	if r.Outcome != record.Done {
		t.Fatalf("%s: %s", r.Outcome, r.Reason)
	}
	if r.Profile == nil || r.Profile.Loop == nil || r.Profile.Loop.Samples == 0 || r.Traced != "trace-gc" || r.Served == nil || *r.Served == 0 {
		t.Fatalf("profile %+v, traced %q", r.Profile, r.Traced)
	}
	if !slices.ContainsFunc(r.Profile.Files, func(f record.ProfileFile) bool { return f.Name == "profiles/x/window-0.json" }) {
		t.Errorf("files %+v", r.Profile.Files)
	}
	for _, a := range r.Profile.Argv {
		if strings.Contains(a, dir) {
			t.Errorf("the archived command %q holds a path of this machine", a)
		}
	}
	s := record.Session{SchemaVersion: record.SchemaVersion, Plan: *p, Runs: []record.Run{*r}}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Plan.Kind = ""
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "carried a profiler in a session that measures") {
		t.Errorf("in a comparison: %v", err)
	}
}
