// Package sut ("system under test") starts one fresh server process, proves
// that it is ready and is the one that was asked for, takes its accounts, and
// stops it so that nothing of it is left.
//
// Every target leads a process group of its own, writes its output straight
// into a file, and carries a random token in its environment. The group and the
// token are all that this package ever signals: a process that was not started
// here is never touched, whatever it answers on whatever port.
package sut

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gonogo/runner/record"
)

// ErrSettings marks a target that runs with other settings than it was given.
var ErrSettings = errors.New("settings not honoured")

// Spec is how to start a target.
type Spec struct {
	Target       record.Target
	Dir          string        // working folder; a relative Argv[0] with a slash is looked up in it
	LogPath      string        // must not exist: a log is never overwritten
	ReadyTimeout time.Duration // from exec to ready; must be > 0
	Grace        time.Duration // from TERM to KILL; 0 counts as 2 s
	Trace        bool          // have the runtime write its pauses into the log; see Pauses
	Place        Place         // nil: nowhere in particular
}

// Place readies the start of a process so that it is where it belongs before its first
// instruction: in a control group, say. It is called on the thread that forks, which is
// locked; leave is called there when the process exists, or does not.
type Place func(*syscall.SysProcAttr) (leave func() error, err error)

// Process is a target that was ready once. Its methods may be called from
// several goroutines; Stop must be called, also when the target has ended.
type Process struct {
	spec    Spec
	guard   *Guard
	cmd     *exec.Cmd
	log     *logFile
	token   string
	padding int
	begun   time.Time

	port     int
	pids     []int // sorted
	ready    time.Duration
	settings record.Settings

	exited  chan struct{} // closed when the primary has ended
	status  string        // how; written before exited is closed
	stopped atomic.Bool   // by us, so that its end says nothing about it

	once    sync.Once
	stop    record.Stop
	stopErr error

	foreign *foreign // nil for a server of ours
}

// maxPadding bounds the random size of the environment: one page covers every
// stack alignment that the size can give (Mytkowicz 2009, method D3).
const maxPadding = 4096

// Start starts a target and waits until it is ready: its ready line is in the
// log, GET /healthz on the port named there answers with our token, the process
// still lives, and it runs with the settings that it was given. On any error,
// and when ctx ends first, nothing of it is left. g may be nil: then only Linux
// ends the target when this process dies.
func Start(ctx context.Context, g *Guard, s Spec) (*Process, error) {
	if s.Grace == 0 {
		s.Grace = 2 * time.Second
	}
	if s.Target.Foreign != nil {
		return startForeign(ctx, g, s)
	}
	if len(s.Target.Argv) == 0 {
		return nil, fmt.Errorf("start %s: no command", s.Target.Name)
	}
	p := newProcess(g, s)
	if err := p.launch(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Target.Name, err)
	}
	err := p.awaitReady(ctx)
	if err == nil {
		err = p.identify()
	}
	if err != nil {
		_, endErr := p.end(0)
		return nil, fmt.Errorf("start %s: %w", s.Target.Name, errors.Join(err, endErr))
	}
	return p, nil
}

func newProcess(g *Guard, s Spec) *Process {
	return &Process{spec: s, guard: g, token: rand.Text(), padding: mathrand.IntN(maxPadding), exited: make(chan struct{})}
}

// launch runs the command with its output in the log.
func (p *Process) launch() error {
	t := p.spec.Target
	log, err := p.openLog()
	if err != nil {
		return err
	}
	p.log = log
	defer log.file.Close() // the child has its own descriptor
	if p.spec.Trace {
		t = log.trace(t)
	}
	p.cmd = exec.Command(t.Argv[0], t.Argv[1:]...)
	p.cmd.Dir = p.spec.Dir
	p.cmd.Env = environment(t.Env, p.token, p.padding)
	p.cmd.Stdout, p.cmd.Stderr = log.file, log.file
	// The guard hears of the token before there is a process, so that there is
	// no moment in which a process exists that it does not know of.
	if err := p.guard.tell("+token", p.token); err != nil {
		return err
	}
	if p.begun, err = fork(p.guard, p.cmd, t.CPUs, p.spec.Place); err != nil {
		return errors.Join(err, p.guard.tell("-token", p.token))
	}
	if !p.part() {
		go log.watch(func() { signalGroup(p.PID(), syscall.SIGKILL) })
	}
	go func() {
		p.status = awaitExit(p.cmd)
		close(p.exited)
	}()
	return nil
}

// environment is all that a target sees: a runner's own environment, which
// differs from shell to shell, would be one more difference between machines.
func environment(extra []string, token string, padding int) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "NODE_ENV=production", "HOST=127.0.0.1", "PORT=0")
	env = append(env, extra...) // of two equal names exec takes the last
	return append(env, tokenName+"="+token, "GONOGO_PADDING="+strings.Repeat("x", padding))
}

const tokenName = "GONOGO_TOKEN"

// identify takes the list of processes and holds the target against its spec.
func (p *Process) identify() error {
	members, err := living(p.PID())
	switch {
	case errors.Is(err, errors.ErrUnsupported): // the ready line's word is all there is
		if len(p.pids) == 0 {
			p.pids = []int{p.PID()}
		}
	case err != nil:
		return err
	case !slices.Contains(members, p.PID()):
		<-p.exited
		return p.withTail(fmt.Errorf("it ended as soon as it was ready: %s", p.status))
	default:
		for _, pid := range p.pids {
			if !slices.Contains(members, pid) {
				return fmt.Errorf("pid %d of its ready line is not in its process group %v", pid, members)
			}
		}
		p.pids = members
	}
	return p.checkSettings()
}

// checkSettings compares what the live process says and what the kernel says
// with what was asked for.
func (p *Process) checkSettings() error {
	t := p.spec.Target
	if err := p.checkEnvironment(); err != nil {
		return err
	}
	if t.Workers > 0 {
		name, got := "workers", p.settings.Workers
		if p.settings.Runtime == "go" {
			name, got = "GOMAXPROCS", p.settings.GOMAXPROCS
		}
		if got != t.Workers {
			return fmt.Errorf("%w: %s is %d, want %d", ErrSettings, name, got, t.Workers)
		}
	}
	return p.checkCPUs()
}

// checkCPUs holds the CPUs that the kernel lets the target run on against its own.
func (p *Process) checkCPUs() error {
	t := p.spec.Target
	if len(t.CPUs) == 0 {
		return nil
	}
	allowed, err := p.CPUsAllowed()
	if err != nil {
		return err
	}
	if want := slices.Sorted(slices.Values(t.CPUs)); !slices.Equal(allowed, want) {
		return fmt.Errorf("%w: it may run on CPUs %v, want %v", ErrSettings, allowed, want)
	}
	return nil
}
