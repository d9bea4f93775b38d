package sut

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"gonogo/runner/record"
)

// How long the kernel may take for what it must do: end a KILLed process, and
// close the port of an ended one.
const (
	killTimeout = 5 * time.Second
	portTimeout = 500 * time.Millisecond
)

// Stop ends the target: TERM to the group, the grace time, KILL to the group.
// It returns when the group is verified empty and the port refuses connections,
// or with an error that names what is left. It may be called more than once;
// the first call does the work.
//
// TERM goes to the whole group, as a terminal and a service manager send it,
// and not to the primary alone: a target started through a wrapper (npm, sh -c)
// has a primary that does not pass it on, and would be KILLed each time. The
// price is that the workers of a cluster get it too and must not be reforked.
func (p *Process) Stop() (record.Stop, error) {
	p.once.Do(func() {
		p.stop, p.stopErr = p.end(p.spec.Grace)
		if p.stopErr != nil {
			p.stopErr = fmt.Errorf("stop %s: %w", p.spec.Target.Name, p.stopErr)
		}
	})
	return p.stop, p.stopErr
}

// end is Stop for a target that may never have been ready. With no grace time
// it begins with KILL.
func (p *Process) end(grace time.Duration) (s record.Stop, err error) {
	begin := time.Now()
	if p.cmd == nil { // it was not started here, and goes on
		return s, nil
	}
	select {
	case <-p.exited:
	default:
		p.stopped.Store(true)
	}
	s.Killed, err = p.endProcesses(grace)
	if err == nil && p.port != 0 && p.ready != 0 {
		err = awaitRefused(p.Address())
	}
	err = errors.Join(err, p.endCompanions(&s))
	s.Took = time.Since(begin)
	if p.part() {
		return s, err
	}
	return s, errors.Join(err, p.log.trim())
}

// endProcesses leaves the guard's list as it is unless all are gone.
func (p *Process) endProcesses(grace time.Duration) (killed bool, err error) {
	pgid := p.PID()
	// The primary is not reaped before its group is gone. Until then its number
	// cannot be given to another process, so that these signals cannot go astray.
	if grace > 0 {
		deadline := time.Now().Add(grace)
		signalGroup(pgid, p.signal())
		select {
		case <-p.exited:
			awaitEmpty(pgid, time.Until(deadline)) // workers may take longer than their primary
		case <-time.After(grace):
		}
	}
	if !empty(pgid) {
		killed = true
		signalGroup(pgid, syscall.SIGKILL)
	}
	select {
	case <-p.exited:
	case <-time.After(killTimeout):
		return killed, fmt.Errorf("pid %d is not gone %v after KILL", pgid, killTimeout)
	}
	strays, err := sweep(p.token)
	killed = killed || len(strays) > 0
	if err != nil {
		return killed, err
	}
	reap(p.cmd)
	if err := awaitEmpty(pgid, killTimeout); err != nil {
		return killed, err
	}
	return killed, errors.Join(p.guard.tell("-group", fmt.Sprint(pgid)), p.guard.tell("-token", p.token))
}

// signalGroup is the only place that signals a group. To kill(2), -1 is every
// process there is and 0 the caller's own group: neither is ever a target.
func signalGroup(pgid int, sig syscall.Signal) error {
	if pgid <= 1 {
		return syscall.EINVAL
	}
	return syscall.Kill(-pgid, sig)
}

// awaitEmpty waits until no process of the group lives.
func awaitEmpty(pgid int, limit time.Duration) error {
	for deadline := time.Now().Add(limit); !empty(pgid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			left, _ := living(pgid)
			return fmt.Errorf("process group %d is not empty after %v: %v", pgid, limit, left)
		}
	}
	return nil
}

// empty reports whether no process of the group lives. Zombies that their
// parent has not reaped hold no memory and no port, and do not count.
func empty(pgid int) bool {
	if errors.Is(signalGroup(pgid, 0), syscall.ESRCH) {
		return true
	}
	members, err := living(pgid)
	return err == nil && len(members) == 0
}

// awaitRefused waits until nobody answers on the target's port. Whoever still
// does when the target is gone is not ours, and is left alone.
func awaitRefused(address string) error {
	for deadline := time.Now().Add(portTimeout); ; time.Sleep(time.Millisecond) {
		c, err := net.DialTimeout("tcp", address, portTimeout)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if err == nil {
			c.Close()
			err = errors.New("it answers")
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("port %s does not refuse connections though every process of the target is gone: %w", address, err)
		}
	}
}
