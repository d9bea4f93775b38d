package sut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel KILL the child when the thread that forks it
// ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// pin sets the affinity of the current thread and returns what undoes it. The
// goroutine must be locked to the thread.
func pin(cpus []int) (unpin func() error, err error) {
	if len(cpus) == 0 {
		return func() error { return nil }, nil
	}
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, err
	}
	for _, c := range cpus {
		set.Set(c)
		if !set.IsSet(c) {
			return nil, fmt.Errorf("CPU %d is out of range", c)
		}
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return nil, err
	}
	return func() error { return unix.SchedSetaffinity(0, &before) }, nil
}

// awaitExit returns how the process ended, and leaves it as a zombie that reap
// takes. A test by signal 0 would not do: a zombie passes it.
func awaitExit(cmd *exec.Cmd) string {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return "unknown: " + err.Error()
		}
	}
	// x/sys leaves the union of siginfo_t unnamed. It follows three ints, aligned
	// like a pointer, and for a child holds pid, uid, status.
	const pointer = unsafe.Sizeof(uintptr(0))
	const status = (3*4+pointer-1)/pointer*pointer + 2*4
	value := *(*int32)(unsafe.Add(unsafe.Pointer(&info), status))
	const exited, dumped = 1, 3 // CLD_EXITED, CLD_DUMPED; CLD_KILLED is 2
	switch info.Code {
	case exited:
		return fmt.Sprintf("exit status %d", value)
	case dumped:
		return fmt.Sprintf("signal: %v (core dumped)", syscall.Signal(value))
	}
	return fmt.Sprintf("signal: %v", syscall.Signal(value))
}

// reap takes an ended process off the kernel's table.
func reap(cmd *exec.Cmd) error { return cmd.Wait() }

// living lists the processes of a group that are not zombies, in rising order.
// A zombie with other threads is one that still ends.
func living(pgid int) ([]int, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list process group %d: %w", pgid, err)
	}
	var pids []int
	for _, proc := range procs {
		s, err := proc.Stat()
		if err != nil || s.PGRP != pgid || s.State == "Z" && s.NumThreads <= 1 {
			continue // an error: it ended while we looked
		}
		pids = append(pids, proc.PID)
	}
	slices.Sort(pids)
	return pids, nil
}

// sweep KILLs every process whose environment holds the token: one that left
// its group (a daemon), or one forked before its group was known. It returns
// those it found.
func sweep(token string) (killed []int, err error) {
	want := tokenName + "=" + token
	for deadline := time.Now().Add(killTimeout); ; time.Sleep(time.Millisecond) {
		found, err := killHolders(want)
		if err != nil || len(found) == 0 {
			return killed, err
		}
		for _, pid := range found {
			if !slices.Contains(killed, pid) {
				killed = append(killed, pid)
			}
		}
		if time.Now().After(deadline) {
			return killed, fmt.Errorf("processes %v survive KILL for %v", found, killTimeout)
		}
	}
}

// killHolders looks at each environment through a descriptor of the process
// before it signals through that descriptor, so that a number given to another
// process in between is not hit.
func killHolders(want string) (found []int, err error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("look for strays: %w", err)
	}
	holds := func(p procfs.Proc) bool {
		env, err := p.Environ()
		return err == nil && slices.Contains(env, want)
	}
	for _, proc := range procs {
		if !holds(proc) {
			continue
		}
		fd, err := unix.PidfdOpen(proc.PID, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("end stray %d: %w", proc.PID, err)
		}
		if holds(proc) {
			found = append(found, proc.PID)
			err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return found, fmt.Errorf("end stray %d: %w", proc.PID, err)
		}
	}
	return found, nil
}

// threads lists the threads of a process.
func threads(pid int) ([]int, error) {
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, err
	}
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}
