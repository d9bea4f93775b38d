package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/record"
)

// midRun starts a session of one target and returns when its first run is kept
// and a later one is under load: the runner, its guard, a server and a generator
// live. The runner leads a process group, as a command of a shell does.
func (u *user) midRun(target string) *job {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, "benchmark.json"), []byte("old\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	cmd := u.command("compare", "--quick", "--targets", target, "--seed", "1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	j := u.startCommand(cmd)
	j.target = target
	j.await("\nstep 1 of ")
	j.awaitLoad()
	return j
}

// awaitLoad waits until the target is under load.
func (j *job) awaitLoad() {
	j.t.Helper()
	want := map[string]int{"gonogo compare": 1, "gonogo guard": 1, "load --spec -": 1, "bin/server-go": 1}
	if strings.HasPrefix(j.target, "node-") {
		delete(want, "bin/server-go")
		want["server-node/server.mjs"] = 1
	}
	if strings.HasPrefix(j.target, "node-cluster-") {
		delete(want, "server-node/server.mjs")
		want["server-node/cluster.mjs"] = 3 // or more workers
	}
	eventually(j.t, func() string { return fmt.Sprintf("a later run is under load; these live: %v", j.processes()) }, func() bool {
		live := j.processes()
		for text, n := range want {
			if count(live, text) < n {
				return false
			}
		}
		return true
	})
}

// awaitRun waits until another run is kept.
func (j *job) awaitRun() {
	j.t.Helper()
	told := func() int { return strings.Count(j.err.String(), "\nstep ") }
	before := told()
	eventually(j.t, func() string { return "another run is kept:\n" + j.err.String() }, func() bool { return told() > before })
}

func (j *job) signal(s syscall.Signal) {
	j.t.Helper()
	if err := j.cmd.Process.Signal(s); err != nil {
		j.t.Fatal(err)
	}
}

// signalToTheEnd signals until the command has ended.
func (j *job) signalToTheEnd(s syscall.Signal) {
	for {
		select {
		case <-j.ended:
			return
		default:
			j.cmd.Process.Signal(s) // fails when it has just ended
			time.Sleep(time.Millisecond)
		}
	}
}

func (j *job) signalGroup(s syscall.Signal) {
	j.t.Helper()
	if err := syscall.Kill(-j.cmd.Process.Pid, s); err != nil {
		j.t.Fatal(err)
	}
}

// signalGuard signals the guard, which no terminal and no group reaches.
func (j *job) signalGuard(signals ...syscall.Signal) {
	j.t.Helper()
	for _, p := range j.processes() {
		if strings.HasSuffix(p.argv, "gonogo guard") {
			for _, s := range signals {
				if err := syscall.Kill(p.pid, s); err != nil {
					j.t.Fatal(err)
				}
			}
			return
		}
	}
	j.t.Fatal("no guard")
}

// none fails if anything that was started from here lives.
func (u *user) none() {
	u.t.Helper()
	if left := u.processes(); len(left) > 0 {
		u.t.Errorf("left behind: %v", left)
	}
}

// awaitNone waits until nothing that was started from here lives.
func (u *user) awaitNone() {
	u.t.Helper()
	eventually(u.t, func() string { return fmt.Sprintf("nothing is left; these live: %v", u.processes()) }, func() bool { return len(u.processes()) == 0 })
}

// cutShort checks what an ended session leaves: its runs, the last of them marked
// if it was interrupted, a report without a conclusion, and the benchmark.json of
// before.
func (u *user) cutShort(interrupted bool) {
	t := u.t
	t.Helper()
	s := u.load()
	runs := s.Runs
	if interrupted {
		last := len(runs) - 1
		if runs[last].Outcome != record.Interrupted || runs[last].Reason == "" {
			t.Errorf("the last run is %s: %s", runs[last].Outcome, runs[last].Reason)
		}
		runs = runs[:last]
	}
	for _, run := range runs {
		if !kept(run.Outcome) {
			t.Errorf("%s: %s: %s", run.Step.Key(), run.Outcome, run.Reason)
		}
	}
	if len(runs) == 0 || !s.Finished.IsZero() {
		t.Errorf("%d runs kept, finished %v", len(runs), s.Finished)
	}
	r := u.run("report", "latest")
	if r.code != exitInvalid || !strings.Contains(r.out, "INCOMPLETE: NOT EVIDENCE") || !twoLines.MatchString(r.err) {
		t.Errorf("report: exit %d, %d bytes, %s", r.code, len(r.out), r.err)
	}
	if data, err := os.ReadFile(filepath.Join(u.dir, "benchmark.json")); err != nil || string(data) != "old\n" {
		t.Errorf("benchmark.json is %q, %v", data, err)
	}
}

// TestKilled: however the runner is killed, what it started ends too, and what
// it has finished can be read. Signals that reach the guard before, as from a
// service manager that ends all it sees, do not hinder that.
func TestKilled(t *testing.T) {
	t.Parallel()
	needNode(t)
	for name, kill := range map[string]func(*job){
		"the runner": func(j *job) { j.signal(syscall.SIGKILL) },
		"its group, after signals to the guard": func(j *job) {
			for range 3 {
				j.signalGuard(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			}
			j.awaitRun() // without its guard it would have failed
			j.awaitLoad()
			j.signalGroup(syscall.SIGKILL)
		},
		"the runner and its guard": func(j *job) {
			j.signalGuard(syscall.SIGKILL)
			j.signal(syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, theKit(t))
			j := u.midRun(clusterTarget(t))
			kill(j)
			u.awaitNone()
			u.cutShort(false)
		})
	}
}

// TestInterrupted: a signal ends the session in order.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	needNode(t)
	for name, c := range map[string]struct {
		target string
		signal func(*job)
	}{
		"INT":              {"go-1", func(j *job) { j.signal(syscall.SIGINT) }},
		"TERM":             {"node-1", func(j *job) { j.signal(syscall.SIGTERM) }},
		"HUP, many times":  {"go-1", func(j *job) { j.signalToTheEnd(syscall.SIGHUP) }},
		"INT to the group": {clusterTarget(t), func(j *job) { j.signalGroup(syscall.SIGINT) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, theKit(t))
			j := u.midRun(c.target)
			c.signal(j)
			r := j.wait()
			u.none()
			r.refused(t, exitInterrupted, "compare: interrupted by a signal; no conclusion is drawn",
				"the finished runs are kept in results/", "interrupted: interrupted by a signal\n")
			u.cutShort(true)
		})
	}
}

// TestASecondSignalEndsAtOnce, while the first one still waits for a server that
// ignores TERM.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	needNode(t)
	u := newUser(t, alteredKit(t, "listen.mjs", "process.on('SIGTERM', stop);", "process.on('SIGTERM', () => {});"))
	j := u.midRun("node-1")
	j.signal(syscall.SIGINT)
	j.signalToTheEnd(syscall.SIGINT) // the first may not have been dealt with yet
	if ws := j.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, not by the second signal", j.cmd.ProcessState)
	}
	u.awaitNone()
	u.cutShort(false)
}

// TestSignalsThatAreIgnored: under nohup, and in the background of a shell, a
// session goes on when the terminal closes or somebody types Ctrl-C.
func TestSignalsThatAreIgnored(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	u.wrap = []string{"/bin/sh", "-c", `trap "" HUP INT; exec "$0" "$@"`}
	j := u.midRun("go-1")
	j.signal(syscall.SIGHUP)
	j.signal(syscall.SIGINT)
	j.awaitRun()
	if said := j.err.String(); strings.Contains(said, "interrupted") {
		t.Errorf("it heeded what was to be ignored:\n%s", said)
	}
	j.signal(syscall.SIGTERM)
	j.wait().refused(t, exitInterrupted)
	u.none()
}

// TestInterruptedBeforeTheFirstRun, wherever the runner is then.
func TestInterruptedBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	needNode(t)
	t.Run("in the preflight", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, theKit(t))
		u.fakeNode("exec sleep 1000")
		j := u.start("compare", "--quick")
		eventually(t, func() string { return "node is asked for its version" }, func() bool { return u.count("sleep 1000") == 1 })
		j.signal(syscall.SIGINT)
		j.wait().refused(t, exitInterrupted, "interrupted by a signal")
		u.none()
		if dirs := u.sessions(); len(dirs) > 0 {
			t.Errorf("it left %q", dirs)
		}
	})
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"in the proof, by TERM": {syscall.SIGTERM, exitInterrupted}, "in the proof, by KILL": {syscall.SIGKILL, -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A server that is never ready.
			u := newUser(t, alteredKit(t, "server.mjs", "printReady(port, [process.pid])", "{}"))
			j := u.start("compare", "--quick", "--targets", "go-1,node-1")
			eventually(t, func() string { return "node is started" }, func() bool { return u.count("server-node/server.mjs") == 1 })
			j.signal(c.signal)
			r := j.wait()
			if c.code == exitInterrupted {
				u.none()
				r.refused(t, c.code, "nothing was timed")
			} else {
				u.awaitNone()
			}
			if s := u.load(); len(s.Runs) != 0 || s.Complete() {
				t.Errorf("%d runs", len(s.Runs))
			}
		})
	}
}

// TestOthersInterrupted: the other commands that take long end in order too.
func TestOthersInterrupted(t *testing.T) {
	t.Parallel()
	needNode(t)
	for name, c := range map[string]struct {
		args  []string
		ready func(u *user) bool
	}{
		"check":  {[]string{"check", "--fuzz", "100000000"}, func(u *user) bool { return u.count("server-node/cluster.mjs") == 3 }},
		"doctor": {[]string{"doctor", "--for", "1h"}, func(u *user) bool { return u.count("doctor") == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, theKit(t))
			j := u.start(c.args...)
			if name == "doctor" {
				j.await("watching the machine") // the handler is there
			}
			eventually(t, func() string { return "it works" }, func() bool { return c.ready(u) })
			j.signal(syscall.SIGINT)
			j.wait().refused(t, exitInterrupted, "interrupted by a signal")
			u.none()
			if left, _ := os.ReadDir(filepath.Join(u.dir, "tmp")); len(left) > 0 {
				t.Errorf("left in the folder for temporary files: %v", left)
			}
		})
	}
}
