package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what a person types and sees.
type terminal struct {
	keyboard *os.File // the master's side
	screen   *transcript
}

// openTerminal gives a terminal and the side of it that is a command's.
func openTerminal(t *testing.T) (terminal, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	conn, err := master.SyscallConn() // Fd would make reads of it block for ever
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var failed error
	if err := conn.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			n, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	term := terminal{master, &transcript{}}
	go io.Copy(term.screen, master)
	return term, slave
}

// sit starts compare at a terminal, as the leader of its session, and returns
// when the screen shows text and a process with argv lives.
func (u *user) sit(targets, text, argv string) (*job, terminal) {
	u.t.Helper()
	term, slave := openTerminal(u.t)
	cmd := u.command("compare", "--quick", "--targets", targets, "--seed", "1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	j := u.startCommand(cmd)
	slave.Close()
	eventually(u.t, func() string { return text + " is shown: " + term.screen.String() }, func() bool {
		return strings.Contains(term.screen.String(), text) && u.count(argv) == 1
	})
	return j, term
}

// TestCtrlCAtATerminal: progress is one line that is rewritten; Ctrl-C ends the
// session in order, and the error stands on a line of its own.
func TestCtrlCAtATerminal(t *testing.T) {
	t.Parallel()
	needNode(t)
	for name, c := range map[string]struct {
		broken                     bool // with a server that is never ready
		targets, text, argv, after string
	}{
		"in the proof": {true, "node-1", "\r\x1b[Kproving", "server-node/server.mjs", "run it again"},
		"in a run":     {false, "go-1", "\r\x1b[Kstep 1 of ", "load --spec -", "the finished runs are kept in results/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := theKit(t)
			if c.broken {
				kit = alteredKit(t, "server.mjs", "printReady(port, [process.pid])", "{}")
			}
			u := newUser(t, kit)
			j, term := u.sit(c.targets, c.text, c.argv)
			if shown := term.screen.String(); strings.Contains(shown, "\nstep ") || strings.Contains(shown, "\nproving") {
				t.Errorf("progress is not one line that is rewritten: %q", shown)
			}
			if _, err := term.keyboard.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
			r := j.wait()
			u.none()
			if r.code != exitInterrupted {
				t.Errorf("exit %v", r.state)
			}
			eventually(t, func() string { return "the hint is shown: " + term.screen.String() }, func() bool {
				return strings.Contains(term.screen.String(), "\ngonogo: hint: "+c.after)
			})
			before, _, _ := strings.Cut(term.screen.String(), "gonogo: error: ")
			if !strings.HasSuffix(before, "\r\x1b[K") {
				t.Errorf("the error is on a line with other text: %q", before)
			}
		})
	}
}

// TestTheTerminalCloses while a session runs: nothing is left, the run is marked.
func TestTheTerminalCloses(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	j, term := u.sit("go-1", "step 1 of ", "load --spec -")
	if err := term.keyboard.Close(); err != nil {
		t.Fatal(err)
	}
	r := j.wait()
	u.none()
	if s := u.load(); r.code != exitInterrupted || len(s.Runs) == 0 || s.Complete() {
		t.Errorf("exit %v, %d runs", r.state, len(s.Runs))
	}
}
