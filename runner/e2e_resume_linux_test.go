package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gonogo/runner/record"
)

// TestResume: one session at a time; one that was killed leaves no lock and goes on,
// by its own plan and on the same machine, and a finished one does not.
func TestResume(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	j := u.midRun("go-1")
	u.run("compare", "--quick", "--targets", "go-1").refused(t, exitPreflight, "another session measures on this machine",
		fmt.Sprintf("process %d (compare)", j.cmd.Process.Pid), "kill -INT")
	if dirs := u.sessions(); len(dirs) != 1 {
		t.Errorf("the refused session left something: %q", dirs)
	}
	j.signal(syscall.SIGKILL)
	u.awaitNone()
	before := u.load()

	u.run("compare", "--resume", "latest", "--seed", "1").refused(t, exitUsage, "its plan was fixed before its first run")
	u.wrap = []string{"/bin/sh", "-c", `ulimit -n 2000 && exec "$0" "$@"`}
	u.run("compare", "--resume", before.ID).refused(t, exitPreflight, "would not be comparable", "  file limit: ", " then, 2000 now")
	u.wrap = nil

	r := u.run("compare", "--resume", before.ID[:len(before.ID)-2])
	s := u.load()
	if r.code != exitDone && r.code != exitInvalid || s.Finished.IsZero() || len(s.Resumes) != 1 || s.ID != before.ID {
		t.Fatalf("exit %d, finished %v, %d resumes\n%s", r.code, s.Finished, len(s.Resumes), r.err)
	}
	if !strings.Contains(strings.Join(strings.Fields(r.out), " "), ", interrupted after "+s.Interruptions()[0].After+" and resumed ") || !strings.Contains(r.err, ": interrupted after "+s.Interruptions()[0].After) {
		t.Errorf("it does not say that it was interrupted:\n%s\n%s", r.err, r.out)
	}
	checkOrder(t, before, s)
	if got := u.run("verify", s.ID); got.code != exitDone {
		t.Errorf("verify: exit %d\n%s%s", got.code, got.out, got.err)
	}
	u.run("compare", "--resume", "latest").refused(t, exitPreflight, "it is finished")
	if data, err := os.ReadFile(filepath.Join(u.dir, "benchmark.json")); err != nil || string(data) != "old\n" {
		t.Errorf("benchmark.json is %q, %v", data, err)
	}
}

// checkOrder: every step has a run that counts, the runs of before are as they were,
// and the new ones were made in the plan's order.
func checkOrder(t *testing.T, before, s *record.Session) {
	t.Helper()
	counted := map[record.Step]bool{}
	var last record.Run
	for i, old := range s.Superseded() {
		r := s.Runs[i]
		if !old {
			counted[r.Step] = true
			if r.Started.Before(last.Started) {
				t.Errorf("%s ran before %s", r.Step.Key(), last.Step.Key())
			}
			last = r
		}
	}
	for _, st := range s.Plan.Steps {
		if !counted[st] {
			t.Errorf("%s has no run", st.Key())
		}
	}
	kept := 0
	for _, r := range s.Runs {
		for _, b := range before.Runs {
			if r.Step == b.Step && r.Attempt == b.Attempt && r.Started.Equal(b.Started) {
				kept++
			}
		}
	}
	if kept != len(before.Runs) || kept == 0 {
		t.Errorf("%d of the %d runs of before are there", kept, len(before.Runs))
	}
}
