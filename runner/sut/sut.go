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

// Address is the target's host:port.
func (p *Process) Address() string {
	if p.foreign != nil {
		return p.foreign.address
	}
	return fmt.Sprintf("127.0.0.1:%d", p.port)
}

// Host is the value of the Host header that the target is asked with.
func (p *Process) Host() string {
	if p.foreign != nil {
		return p.foreign.host
	}
	return p.Address()
}

// PID is the primary's, and the number of the process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// PIDs are all processes of the target when it was ready, in rising order; none of a
// server that runs elsewhere.
func (p *Process) PIDs() []int {
	var all []int
	for _, m := range p.members() {
		all = append(all, m.pids...)
	}
	slices.Sort(all)
	return all
}

// Ready is the time from just before the fork to the first right answer of
// /healthz, found by polling: at most 1 ms or 1 % late, whichever is more.
func (p *Process) Ready() time.Duration { return p.ready }

// Begun is the time just before the fork.
func (p *Process) Begun() time.Time { return p.begun }

// EnvPadding is the random number of bytes, 0..4095, added to the environment.
func (p *Process) EnvPadding() int { return p.padding }

// Settings are what the live process said of itself when it was ready.
func (p *Process) Settings() record.Settings { return p.settings }

// Exited is closed as soon as the primary, or that of a companion, has ended, by
// itself or not.
func (p *Process) Exited() <-chan struct{} {
	if p.foreign != nil && p.foreign.ended != nil {
		return p.foreign.ended
	}
	return p.exited
}

// ExitStatus is how the primary ended by itself, such as "exit status 3". It is
// empty while the primary lives, and when Stop ended it.
func (p *Process) ExitStatus() string {
	for _, m := range p.members() {
		select {
		case <-m.exited:
			if m.stopped.Load() {
				continue
			}
			if m != p {
				return m.spec.Target.Name + ": " + m.status
			}
			return m.status
		default:
		}
	}
	return ""
}

// LogSize is the number of bytes that the target wrote, also after Stop cut
// the file.
func (p *Process) LogSize() int64 {
	p.log.sight()
	return p.log.size()
}

// LogCut is how many bytes of those are not in the file, after Stop: the middle of
// a log that was too long to keep.
func (p *Process) LogCut() int64 { return p.log.cut }

// LogTail is the last lines of the log, at most 8 KiB of them.
func (p *Process) LogTail(lines int) string { return p.log.tail(lines) }

// Alive reports whether the target is still the processes it was when ready.
// A worker that died, or one forked in its place, is an error: what was counted
// in the window is not all that ran in it. It scans /proc, so it is for use
// outside a window. Where there is no /proc only the primary is watched.
func (p *Process) Alive() error {
	for _, m := range p.members() {
		if err := m.alive(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) alive() error {
	name := p.spec.Target.Name
	if p.cmd == nil { // it runs elsewhere, and was not started by us
		return nil
	}
	select {
	case <-p.exited:
		return fmt.Errorf("check processes of %s: the primary ended: %s", name, p.status)
	default:
	}
	now, err := living(p.PID())
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check processes of %s: %w", name, err)
	}
	var changes []string
	for _, pid := range p.pids {
		if !slices.Contains(now, pid) {
			changes = append(changes, fmt.Sprintf("%d is gone", pid))
		}
	}
	for _, pid := range now {
		if !slices.Contains(p.pids, pid) {
			changes = append(changes, fmt.Sprintf("%d is new", pid))
		}
	}
	if changes != nil {
		return fmt.Errorf("check processes of %s: %s", name, strings.Join(changes, ", "))
	}
	return nil
}
