package sut

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

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
