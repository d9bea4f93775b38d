package sut

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/internal/stub"
)

// C37: the target dies under load.
func TestTargetDies(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec("-exit-code", "3", "-stderr-before", "10"))
	syscall.Kill(p.PID(), syscall.SIGUSR2)
	<-p.Exited()
	if p.ExitStatus() != "exit status 3" {
		t.Errorf("exit status %q", p.ExitStatus())
	}
	if err := p.Alive(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("alive: %v", err)
	}
	stop(t, p, false)
	if p.ExitStatus() != "exit status 3" || !strings.Contains(p.LogTail(5), "bbb") {
		t.Errorf("after the stop: %q, %q", p.ExitStatus(), p.LogTail(5))
	}
	killed := f.start(f.spec())
	syscall.Kill(killed.PID(), syscall.SIGKILL)
	<-killed.Exited()
	if killed.ExitStatus() != "signal: killed" {
		t.Errorf("exit status %q", killed.ExitStatus())
	}
	stop(t, killed, false)
}

// A target may end between its first right answer and the look at its processes.
func TestTargetEndsAsSoonAsReady(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec("-exit-code", "3"))
	syscall.Kill(p.PID(), syscall.SIGUSR2)
	<-p.Exited()
	if err := p.identify(); err == nil || !strings.Contains(err.Error(), "ended as soon as it was ready: exit status 3") {
		t.Errorf("got %v", err)
	}
	stop(t, p, false)
}

// C37: a worker dies, and another takes its place or none does.
func TestWorkerDies(t *testing.T) {
	f := newFixture(t)
	for _, refork := range []bool{false, true} {
		flags := []string{"-workers", "2"}
		if refork {
			flags = append(flags, "-refork")
		}
		p := f.start(f.spec(flags...))
		for _, pid := range p.PIDs() {
			if pid != p.PID() {
				syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
		var err error
		eventually(t, "the change is seen", func() bool {
			err = p.Alive()
			return err != nil && strings.Contains(err.Error(), "is gone") && (!refork || strings.Contains(err.Error(), "is new"))
		})
		if strings.Contains(err.Error(), "is new") != refork {
			t.Errorf("refork %v: %v", refork, err)
		}
		select {
		case <-p.Exited():
			t.Error("the primary ended too")
		default:
		}
		stop(t, p, false)
	}
}

// C38: the primary is killed, and a busy worker still answers on the port.
func TestWorkersOutliveThePrimary(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-workers", "2", "-busy-worker")
	s.Grace = 200 * time.Millisecond
	p := f.start(s)
	syscall.Kill(p.PID(), syscall.SIGKILL)
	<-p.Exited()
	if left := marked(t, f.mark); len(left) == 0 {
		t.Fatal("no worker outlived its primary: the test shows nothing")
	}
	if err := p.Alive(); err == nil {
		t.Error("said to be alive")
	}
	stop(t, p, true)
	if left := marked(t, f.mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := net.Dial("tcp", p.Address()); err == nil {
		t.Error("the port answers")
	}
}

// C42: idle connections do not hold up a stop, but a target that ignores TERM
// gets KILL.
func TestStopWithIdleConnections(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 300}}
	defer client.CloseIdleConnections()
	var conns []net.Conn
	for range 300 {
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /users/500 HTTP/1.1\r\nHost: h\r\n\r\n")
		conns = append(conns, c)
	}
	for _, c := range conns {
		if n, err := c.Read(make([]byte, 4096)); n == 0 {
			t.Fatal(err)
		}
	}
	stop(t, p, false)

	s := f.spec("-ignore-term")
	s.Grace = 50 * time.Millisecond
	stop(t, f.start(s), true)
}

// What a target forks goes with it: within its group, and out of it.
func TestStopReachesDescendants(t *testing.T) {
	f := newFixture(t)
	for _, flag := range []string{"-grandchild", "-daemon"} {
		s := f.spec(flag)
		s.Grace = 100 * time.Millisecond
		p := f.start(s)
		if n := len(marked(t, f.mark)); n != 2 {
			t.Fatalf("%s: %d processes", flag, n)
		}
		stop(t, p, true)
		if left := marked(t, f.mark); len(left) > 0 {
			t.Errorf("%s: left %v", flag, left)
		}
	}
}

// KILL goes to the whole group: also to a member that ignores TERM and does not
// carry the token.
func TestStopKillsTheGroup(t *testing.T) {
	f := newFixture(t)
	s := f.spec()
	s.Grace = 100 * time.Millisecond
	p := f.start(s)
	member := exec.Command("sh", "-c", "trap '' TERM; echo up; exec sleep 60")
	member.Env = []string{"PATH=" + os.Getenv("PATH")}
	member.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.PID()}
	out, err := member.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := member.Start(); err != nil {
		t.Fatal(err)
	}
	defer member.Wait()
	defer member.Process.Kill()
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	stop(t, p, true)
	if status := awaitExit(member); status != "signal: killed" {
		t.Errorf("the member: %s", status)
	}
}

// Whoever answers on the port when the target is gone is not ours.
func TestPortAnsweredAfterStop(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := awaitRefused(l.Addr().String()); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("got %v", err)
	}
	l.Close()
	if err := awaitRefused(l.Addr().String()); err != nil {
		t.Error(err)
	}
}

// C40: a chatty target does not block, and its log is cut, not lost.
func TestChattyTarget(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-stderr-before", "1000000", "-stderr-each", "200")
	p := f.start(s)
	const requests = 1000
	for range requests {
		get(t, "http://"+p.Address()+"/users/500")
	}
	before, err := os.ReadFile(s.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(before), "\n"); got != 10_000+1+requests { // 1e6/100 lines, the ready line
		t.Errorf("%d lines", got)
	}
	if p.LogSize() != int64(len(before)) {
		t.Errorf("size %d, want %d", p.LogSize(), len(before))
	}
	stop(t, p, false)
	after, err := os.ReadFile(s.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	half := 512 << 10
	want := string(before[:half]) + fmt.Sprintf("\n[gonogo: %d bytes cut out here]\n", len(before)-2*half) + string(before[len(before)-half:])
	if string(after) != want {
		t.Errorf("the cut log has %d bytes, want %d", len(after), len(want))
	}
	if p.LogSize() != int64(len(before)) {
		t.Errorf("size %d after the cut, want %d", p.LogSize(), len(before))
	}
}

func TestLogTail(t *testing.T) {
	for _, row := range []struct {
		text  string
		lines int
		want  string
	}{
		{"", 3, ""},
		{"a", 3, "a"},
		{"a\nb\nc\n", 2, "b\nc"},
		{"a\nb\nc", 2, "b\nc"},
		{"a\nb\nc\n", 3, "a\nb\nc"},
		{"a\nb\nc\n", 9, "a\nb\nc"},
		{"\n\na\n\n", 1, "a"},
		{strings.Repeat("x", 9000) + "\nend\n", 5, strings.Repeat("x", 8192-5) + "\nend"}, // 8 KiB less "\nend\n"
	} {
		path := t.TempDir() + "/log"
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&logFile{path: path}).tail(row.lines); got != row.want {
			t.Errorf("last %d of %.20q: %.40q", row.lines, row.text, got)
		}
	}
	if got := (&logFile{path: "/nonexistent"}).tail(3); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func TestReap(t *testing.T) {
	f := newFixture(t)
	for _, row := range []struct {
		flags []string
		ends  bool
		want  string
	}{
		{[]string{"-exit-at-once"}, true, "<nil>"},
		{[]string{"-exit-at-once", "-exit-code", "7"}, true, "exit status 7"},
		{[]string{"-ignore-term", "-grandchild"}, false, "signal: killed"},
	} {
		argv := stub.Argv(row.flags...)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), markName+"="+f.mark, "PORT=0")
		if err := Spawn(f.guard, cmd, nil); err != nil {
			t.Fatal(err)
		}
		if pgid, err := syscall.Getpgid(cmd.Process.Pid); err == nil && pgid != cmd.Process.Pid {
			t.Errorf("in group %d", pgid)
		}
		if row.ends {
			awaitExit(cmd) // Reap waits 1 s, which a busy machine may need to start it
		}
		if got := fmt.Sprint(Reap(f.guard, cmd)); got != row.want {
			t.Errorf("%v: %s, want %s", row.flags, got, row.want)
		}
		if left := marked(t, f.mark); len(left) > 0 {
			t.Errorf("%v: left %v", row.flags, left)
		}
	}
	if err := Spawn(f.guard, exec.Command("/nonexistent/gonogo"), nil); err == nil {
		t.Error("started what is not there")
	}
}

// The status is read out of raw kernel memory.
func TestAwaitExit(t *testing.T) {
	var got []string
	for _, script := range []string{"exit 0", "exit 9", "kill -TERM $$"} {
		cmd := exec.Command("sh", "-c", script)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		got = append(got, awaitExit(cmd))
		reap(cmd)
	}
	if want := []string{"exit status 0", "exit status 9", "signal: terminated"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
