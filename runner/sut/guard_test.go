package sut

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// victim is a runner that starts targets and then waits to be killed. Its
// arguments are guarded or unguarded, a folder, and the mark of the test.
func victim(args []string) {
	how, dir, mark := args[0], args[1], args[2]
	interrupted := make(chan os.Signal, 9)
	signal.Notify(interrupted, os.Interrupt)
	targets := [][]string{{}}
	var g *Guard
	if how == "guarded" {
		targets = append(targets, []string{"-workers", "3", "-busy-worker"}, []string{"-daemon", "-grandchild", "-ignore-term"})
		var err error
		if g, err = StartGuard(os.Args[0], "guard"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	for i, flags := range targets {
		_, err := Start(context.Background(), g, Spec{
			Target:  record.Target{Name: "stub", Argv: stub.Argv(flags...), Env: []string{markName + "=" + mark}},
			LogPath: filepath.Join(dir, fmt.Sprint(i)), ReadyTimeout: patience,
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("up")
	<-interrupted
	fmt.Println("interrupted")
	time.Sleep(time.Hour)
}

// processesOfVictim: one, a primary with three workers, one with two others.
const processesOfVictim = 1 + 4 + 3

// startVictim starts one in a process group of its own, and returns what checks
// the next line that it prints.
func startVictim(t *testing.T, how, mark string) (cmd *exec.Cmd, expect func(string)) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "runner", how, t.TempDir(), mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, func(want string) {
		t.Helper()
		line := make([]byte, 200)
		n, err := out.Read(line)
		if string(line[:n]) != want+"\n" {
			t.Fatalf("runner says %q (%v), want %q", line[:n], err, want)
		}
	}
}

// C43: a runner that is killed leaves nothing, whether alone or with its whole
// process group; and a Ctrl-C does not reach its targets.
func TestKilledRunnerLeavesNothing(t *testing.T) {
	for _, whole := range []bool{false, true} {
		mark := rand.Text()
		cmd, expect := startVictim(t, "guarded", mark)
		expect("up")
		signalGroup(cmd.Process.Pid, syscall.SIGINT)
		expect("interrupted")
		if n := len(marked(t, mark)); n != processesOfVictim {
			t.Fatalf("%d processes after an interrupt, want %d", n, processesOfVictim)
		}
		if whole {
			signalGroup(cmd.Process.Pid, syscall.SIGKILL)
		} else {
			cmd.Process.Kill()
		}
		eventually(t, "nothing is left", func() bool { return len(marked(t, mark)) == 0 })
	}
}

// What was spawned carries no token: the guard knows it by its group alone.
func TestGuardEndsWhatWasSpawned(t *testing.T) {
	f := newFixture(t)
	g, err := StartGuard(os.Args[0], "guard")
	if err != nil {
		t.Fatal(err)
	}
	argv := stub.Argv("-ignore-term", "-grandchild")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), markName+"="+f.mark, "PORT=0")
	if err := Spawn(g, cmd, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both run", func() bool { return len(marked(t, f.mark)) == 2 })
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if left := marked(t, f.mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	cmd.Wait()
}

// A second signal: closing the guard ends what runs, at once.
func TestGuardCloseEndsAll(t *testing.T) {
	f := newFixture(t)
	g, err := StartGuard(os.Args[0], "guard")
	if err != nil {
		t.Fatal(err)
	}
	s := f.spec("-ignore-term", "-workers", "2")
	p, err := Start(t.Context(), g, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	<-p.Exited()
	if _, err := p.Stop(); err == nil || !strings.Contains(err.Error(), "tell guard") {
		t.Errorf("a stop that cannot reach the guard says %v", err)
	}
}

func TestStartWithoutItsGuard(t *testing.T) {
	f := newFixture(t)
	g, err := StartGuard(os.Args[0], "guard")
	if err != nil {
		t.Fatal(err)
	}
	g.cmd.Process.Kill()
	g.cmd.Wait()
	if _, err := Start(t.Context(), g, f.spec()); err == nil || !strings.Contains(err.Error(), "tell guard") {
		t.Errorf("started unguarded: %v", err)
	}
}

func TestStartGuardThatIsNone(t *testing.T) {
	if _, err := StartGuard("/nonexistent/gonogo"); err == nil {
		t.Error("no error")
	}
	argv := stub.Argv("-exit-at-once", "-exit-code", "5")
	if _, err := StartGuard(argv[0], argv[1:]...); err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("got %v", err)
	}
}

// sleeper is a group that nobody but its test knows of.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func TestRunGuardKeepsItsList(t *testing.T) {
	on, off, cut := sleeper(t), sleeper(t), sleeper(t)
	script := fmt.Sprintf("+group %d\n+group %d\n-group %d\n+group %d", on.Process.Pid, off.Process.Pid, off.Process.Pid, cut.Process.Pid)
	done := make(chan error, 1)
	go func() { done <- RunGuard(strings.NewReader(script), &bytes.Buffer{}) }()
	if got := awaitExit(on); got != "signal: killed" {
		t.Errorf("registered: %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	for name, cmd := range map[string]*exec.Cmd{"taken off": off, "cut short": cut} {
		if members, err := living(cmd.Process.Pid); err == nil && len(members) != 1 {
			t.Errorf("%s: it is gone", name)
		}
	}
}

// The lines go to take alone, which signals nothing: to kill(2) some of these
// numbers are every process of the machine.
func TestGuardListRefuses(t *testing.T) {
	l := list{groups: map[int]bool{}, tokens: map[string]bool{}}
	for _, line := range []string{"+group 1\n", "+group -5\n", "+group 0\n", "+group x\n", "-group x\n", "+token \n", "kill 7\n", "\n"} {
		if err := l.take(line); err == nil {
			t.Errorf("%q: taken", line)
		}
	}
	if len(l.groups)+len(l.tokens) != 0 {
		t.Errorf("on the list: %+v", l)
	}
}

// Signal 0 asks and does nothing.
func TestSignalGroupRefusesMoreThanOneGroup(t *testing.T) {
	for _, pgid := range []int{1, 0, -1, -7} {
		if err := signalGroup(pgid, 0); err != syscall.EINVAL {
			t.Errorf("group %d: %v", pgid, err)
		}
	}
}
