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
	lost error
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
		g.lost = fmt.Errorf("tell guard %s: %w", what, err)
		return g.lost
	}
	return nil
}

// Lost says why the guard cannot be reached any more; nil while it can. Nothing
// more can be started then, so there is no point in going on.
func (g *Guard) Lost() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost
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
	l := list{groups: map[int]bool{}, tokens: map[string]bool{}}
	in := bufio.NewReader(r)
	for {
		// A line cut short by the runner's death has no newline and is dropped.
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		if err := l.take(line); err != nil {
			return errors.Join(err, l.end())
		}
	}
	return l.end()
}

// list is what a guard has to end.
type list struct {
	groups map[int]bool
	tokens map[string]bool
}

// take follows one line of the runner. It signals nothing, and lets no number
// into the list that kill(2) takes for more than one group.
func (l *list) take(line string) error {
	what, which, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	pgid, err := strconv.Atoi(which)
	switch {
	case what == "+group" && err == nil && pgid > 1:
		l.groups[pgid] = true
	case what == "-group" && err == nil:
		delete(l.groups, pgid)
	case what == "+token" && which != "":
		l.tokens[which] = true
	case what == "-token":
		delete(l.tokens, which)
	default:
		return fmt.Errorf("guard: read %q", line)
	}
	return nil
}

// end signals first and verifies afterwards, so that one that is slow to die
// does not keep the others alive. The runner died just now, and numbers are
// given out in turn, so a registered number cannot be somebody else's yet.
func (l *list) end() error {
	var errs []error
	for pgid := range l.groups {
		signalGroup(pgid, syscall.SIGKILL)
	}
	for token := range l.tokens {
		if _, err := sweep(token); err != nil {
			errs = append(errs, err)
		}
	}
	for pgid := range l.groups {
		if err := awaitEmpty(pgid, killTimeout); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return fmt.Errorf("guard: %w", errors.Join(errs...))
	}
	return nil
}
