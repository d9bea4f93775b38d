package sut

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Guard is a process that outlives this one and ends what this one started,
// even when this one is gone by SIGKILL. Linux's parent-death signal reaches
// only the processes forked here; the guard reaches their children too.
//
// It runs in a session of its own: neither a Ctrl-C nor a kill of the runner's
// whole process group finds it. It holds one end of a pipe; the other end
// closes with this process, however this process ends.
type Guard struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// guardUp is what a guard prints when it listens.
const guardUp = "guarding\n"

// StartGuard starts exe with args, which must call RunGuard with its standard
// input, and returns when it listens.
func StartGuard(exe string, args ...string) (*Guard, error) {
	cmd := exec.Command(exe, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	said := make([]byte, len(guardUp))
	if n, err := io.ReadFull(out, said); err != nil || string(said) != guardUp {
		in.Close()
		return nil, fmt.Errorf("start guard: %s says %q, not that it guards: %w", exe, said[:n], errors.Join(err, cmd.Wait()))
	}
	return &Guard{cmd: cmd, pipe: in}, nil
}

// tell sends the guard one line. A guard that is gone is an error: nothing may
// be started that nobody would end.
func (g *Guard) tell(what, which string) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := io.WriteString(g.pipe, what+" "+which+"\n"); err != nil {
		return fmt.Errorf("tell guard %s: %w", what, err)
	}
	return nil
}

// Close lets the guard KILL whatever is still registered, and waits for it. On
// a second signal this is the quickest way to end all that runs.
func (g *Guard) Close() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := errors.Join(g.pipe.Close(), g.cmd.Wait()); err != nil {
		return fmt.Errorf("close guard: %w", err)
	}
	return nil
}

// RunGuard is the guard's body: it keeps the list that arrives on r, and when r
// ends it KILLs what is on it and verifies that it is gone. w gets one line as
// soon as it listens.
func RunGuard(r io.Reader, w io.Writer) error {
	if _, err := io.WriteString(w, guardUp); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	groups, tokens := map[int]bool{}, map[string]bool{}
	in := bufio.NewReader(r)
	for {
		// A line cut short by the runner's death has no newline and is dropped.
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		what, which, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		pgid, _ := strconv.Atoi(which)
		switch {
		case what == "+group" && pgid > 1:
			groups[pgid] = true
		case what == "-group":
			delete(groups, pgid)
		case what == "+token" && which != "":
			tokens[which] = true
		case what == "-token":
			delete(tokens, which)
		default:
			return fmt.Errorf("guard: read %q", line)
		}
	}
	return endAll(groups, tokens)
}

// endAll signals first and verifies afterwards, so that one that is slow to die
// does not keep the others alive. The runner died just now, and numbers are
// given out in turn, so a registered number cannot be somebody else's yet.
func endAll(groups map[int]bool, tokens map[string]bool) error {
	var errs []error
	for pgid := range groups {
		syscall.Kill(-pgid, syscall.SIGKILL)
	}
	for token := range tokens {
		if _, err := sweep(token); err != nil {
			errs = append(errs, err)
		}
	}
	for pgid := range groups {
		if err := awaitEmpty(pgid, killTimeout); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return fmt.Errorf("guard: %w", errors.Join(errs...))
	}
	return nil
}
