package sut

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// starter is the one thread that forks. The parent-death signal is tied to the
// thread that forked, not to the process, so that thread must live as long as
// its children: it is locked to a goroutine that never returns. It is also the
// only thread whose affinity is ever changed, and a locked thread is not cloned
// for new ones, so the change cannot leak into the rest of the runner.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// fork starts cmd as the leader of its own process group, on the CPUs given
// (none: not pinned) and in its place (nil: anywhere), and registers the group with the
// guard. It returns the time just before the fork.
func fork(g *Guard, cmd *exec.Cmd, cpus []int, place Place) (time.Time, error) {
	var begun time.Time
	var err error
	done := make(chan struct{})
	starter() <- func() {
		defer close(done)
		begun, err = forkHere(g, cmd, cpus, place)
	}
	<-done
	return begun, err
}

// forkHere is fork on the current thread. The affinity is set on the thread and
// inherited, not set on the child: then no instruction of the child, and no
// worker that it forks at once, runs elsewhere.
func forkHere(g *Guard, cmd *exec.Cmd, cpus []int, place Place) (begun time.Time, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
	unpin, err := pin(cpus)
	if err != nil {
		return begun, fmt.Errorf("pin to CPUs %v: %w", cpus, err)
	}
	leave := func() error { return nil }
	if place != nil {
		if leave, err = place(cmd.SysProcAttr); err != nil {
			return begun, errors.Join(err, unpin())
		}
	}
	begun = time.Now()
	err = cmd.Start()
	started := err == nil
	if started {
		err = g.tell("+group", fmt.Sprint(cmd.Process.Pid))
	}
	if e := leave(); e != nil {
		err = errors.Join(err, fmt.Errorf("leave the place of the target: %w", e))
	}
	if e := unpin(); e != nil {
		err = errors.Join(err, fmt.Errorf("unpin the starting thread: %w", e))
	}
	if err != nil && started {
		signalGroup(cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	}
	return begun, err
}

// Spawn starts cmd the way targets are started: own process group, pinned to
// cpus before exec (none: not pinned), registered with the guard, dead when
// this process dies. Its streams and environment are the caller's. End it with
// Reap, not with cmd.Wait.
func Spawn(g *Guard, cmd *exec.Cmd, cpus []int) error {
	_, err := fork(g, cmd, cpus, nil)
	return err
}

// Reap ends what Spawn started. It waits up to 1 s for the process to end by
// itself, KILLs what is left of its group, calls cmd.Wait, verifies that the
// group is empty, and only then takes it off the guard's list. It returns the
// error of cmd.Wait, which is nil after exit 0. As with cmd.Wait, read a
// StdoutPipe to its end before. cmd.Process.Kill may be called at any time.
func Reap(g *Guard, cmd *exec.Cmd) error {
	ended := make(chan struct{})
	go func() {
		awaitExit(cmd)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Second):
	}
	// Until it is reaped its number cannot belong to anybody else.
	signalGroup(cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	err := reap(cmd)
	if e := awaitEmpty(cmd.Process.Pid, killTimeout); e != nil {
		return errors.Join(err, e)
	}
	return errors.Join(err, g.tell("-group", fmt.Sprint(cmd.Process.Pid)))
}
