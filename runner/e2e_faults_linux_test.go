package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// builtStub builds the stub as a program, once.
var builtStub = sync.OnceValues(func() (string, error) {
	if _, err := builtKit(); err != nil { // which makes the root
		return "", err
	}
	path := filepath.Join(root, "stub")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./internal/stub/cmd").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build stub: %w\n%s", err, out)
	}
	return path, nil
})

// plant puts a script where a command is: in a step of a scenario named in faults
// it is the stub with those flags, and otherwise the real thing. A server can tell
// its step by the name of its log.
func plant(t *testing.T, path, real string, faults map[string]string) {
	t.Helper()
	stub, err := builtStub()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase \"$(readlink /proc/$$/fd/1)\" in\n"
	for scenario, flags := range faults {
		script += fmt.Sprintf("*.%s.b01*.log) exec %s %s;;\n", scenario, stub, flags)
	}
	script += fmt.Sprintf("esac\nexec %s \"$@\"\n", real)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path), os.WriteFile(path, []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// withOlder gives the user what a fault must leave as it is: a whole session and a
// benchmark.json. The function checks that.
func (u *user) withOlder() (untouched func()) {
	u.t.Helper()
	out := filepath.Join(u.dir, "results")
	older := filepath.Join(out, archived(u.t, out, "standard", true))
	benchmark := filepath.Join(u.dir, "benchmark.json")
	if err := os.WriteFile(benchmark, []byte("old\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	before := tree(u.t, older)
	return func() {
		u.t.Helper()
		if !maps.Equal(tree(u.t, older), before) {
			u.t.Error("the older session is another one now")
		}
		if data, err := os.ReadFile(benchmark); err != nil || string(data) != "old\n" {
			u.t.Errorf("benchmark.json is %.40q, %v", data, err)
		}
		if left, _ := filepath.Glob(filepath.Join(u.dir, "tmp", "*")); len(left) > 0 {
			u.t.Errorf("left in the folder for temporary files: %q", left)
		}
		if left, _ := filepath.Glob(filepath.Join(out, ".*")); len(left) > 0 {
			u.t.Errorf("left beside the archives: %q", left)
		}
		u.none()
	}
}

// newest is the session that was made last.
func (u *user) newest() *record.Session {
	u.t.Helper()
	dirs := u.sessions()
	s, err := archive.Load(dirs[len(dirs)-1])
	if err != nil {
		u.t.Fatal(err)
	}
	return s
}

// TestServersThatFail: in one session each scenario meets another fault of the
// server's process. Each run is judged by itself, the others go on, and no
// conclusion is drawn.
func TestServersThatFail(t *testing.T) {
	t.Parallel()
	needNode(t)
	kit := alteredKit(t, "server.mjs", "server", "server")
	other, err := stub.Listen(stub.Behaviour{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, port, _ := strings.Cut(other.Address(), ":")
	plant(t, filepath.Join(kit, "bin", "server-go"), filepath.Join(theKit(t), "bin", "server-go"), map[string]string{
		"get-c50":     "-exit-after 700ms -exit-code 3 -stderr-before 200", // C37
		"get-c300":    "-ignore-term -daemon -grandchild",                  // C38, C42
		"get-open":    "-exit-at-once -exit-code 7",                        // C36
		"post-c50":    "-say-port " + port,                                 // C35
		"post-c300":   "-stderr-before 1000000 -stderr-each 200",           // C40
		"memory-c300": "-late 3s",                                          // C36
	})
	u := newUser(t, kit)
	untouched := u.withOlder()
	r := u.run("compare", "--quick", "--targets", "go-1", "--seed", "1")
	untouched()
	s := u.newest()
	u.checkFailed(s, r, map[string]string{
		"get-c50":  "target ended under load: exit status 3",
		"get-open": "ended before it was ready: exit status 7; it wrote nothing",
		"post-c50": "port " + port + " is answered by another server",
	})
	for _, run := range s.Runs {
		name := run.Step.Scenario
		killed := run.Stop != nil && run.Stop.Killed
		if want := name == "get-c300"; killed != want {
			t.Errorf("%s: killed %v", name, killed)
		}
		switch name {
		case "get-c50":
			if run.ExitStatus != "exit status 3" || !strings.Contains(run.LogTail, "bbb") {
				t.Errorf("%s ended with %q, and wrote %.60q", name, run.ExitStatus, run.LogTail)
			}
		case "post-c300":
			if run.LogInWindow == 0 || run.LogBytes <= 1_000_000+run.LogInWindow {
				t.Errorf("%s wrote %d bytes, %d in the window", name, run.LogBytes, run.LogInWindow)
			}
			if info, err := os.Stat(filepath.Join(u.dir, "results", s.ID, run.LogFile)); err != nil || info.Size() > 1<<20+100 {
				t.Errorf("%s: its log was not cut: %v, %v", name, info, err)
			}
		case "memory-c300":
			if run.Ready < 3*time.Second {
				t.Errorf("%s was ready after %v", name, run.Ready)
			}
		}
	}
	if !strings.Contains(r.out, "go-1/post-c300: the server wrote to its log in the timed window") {
		t.Error("the report does not tell of the chatty server")
	}
	if _, err := net.Dial("tcp", other.Address()); err != nil {
		t.Errorf("the server that was not ours: %v", err)
	}
}

// checkFailed: those runs and no others failed, for those reasons; no number of
// theirs is in the report; and the exit code and the last lines say so.
func (u *user) checkFailed(s *record.Session, r result, failed map[string]string) {
	t := u.t
	t.Helper()
	if r.code != exitInvalid || s.Complete() || s.Finished.IsZero() {
		t.Errorf("exit %d, complete %v, finished %v\n%s", r.code, s.Complete(), s.Finished, r.err)
	}
	if !twoLines.MatchString(r.err) || !strings.Contains(r.err, "no conclusion can be drawn from it") || !strings.Contains(r.out, "INCOMPLETE: NOT EVIDENCE") {
		t.Errorf("it does not say that it failed:\n%s", r.err)
	}
	for _, run := range s.Runs {
		reason, fails := failed[run.Step.Scenario]
		if !fails {
			if !kept(run.Outcome) {
				t.Errorf("%s: %s: %s", run.Step.Key(), run.Outcome, run.Reason)
			}
			continue
		}
		if run.Outcome != record.Failed || !strings.Contains(run.Reason, reason) {
			t.Errorf("%s: %s: %s; want failed: %s", run.Step.Key(), run.Outcome, run.Reason, reason)
		}
		if !strings.Contains(r.err, run.Step.Key()+" failed: ") || !strings.Contains(r.out, run.Step.Key()+": failed: ") {
			t.Errorf("nobody is told that %s failed", run.Step.Key())
		}
	}
	if want := fmt.Sprintf("DISCARDED RUNS  %d of %d", len(failed), len(s.Runs)); !strings.Contains(r.out, want) {
		t.Errorf("the report lacks %q", want)
	}
	if n := strings.Count(r.out, " 0/1  no data"); n != len(failed) {
		t.Errorf("%d cells without data, want %d:\n%s", n, len(failed), r.out)
	}
}

// TestClusterThatFails: a worker that dies, with and without another in its place,
// and workers that outlive their primary.
func TestClusterThatFails(t *testing.T) {
	t.Parallel()
	needNode(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, theKit(t))
	untouched := u.withOlder()
	plant(t, filepath.Join(u.dir, "fake", "node"), node, map[string]string{
		"get-c50":  "-worker-exit 700ms -exit-code 5 -refork", // C37
		"get-open": "-worker-exit 700ms -exit-code 5",         // C37
		"get-c300": "-exit-after 700ms -busy-worker",          // C38
	})
	u.env[0] = "PATH=" + filepath.Join(u.dir, "fake") + ":" + os.Getenv("PATH")
	r := u.run("compare", "--quick", "--targets", clusterTarget(t), "--seed", "1")
	untouched()
	s := u.newest()
	u.checkFailed(s, r, map[string]string{"get-c50": "is new", "get-open": "is gone", "get-c300": "exit status 0"})
	for _, run := range s.Runs {
		if killed := run.Stop != nil && run.Stop.Killed; killed != (run.Step.Scenario == "get-c300") {
			t.Errorf("%s: killed %v", run.Step.Key(), killed)
		}
	}
}
