//go:build !linux

package sut

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"gonogo/runner/record"
)

// unavailable is an errors.ErrUnsupported that says what is missing.
func unavailable(what string) error {
	return fmt.Errorf("%s: not available on this system: %w", what, errors.ErrUnsupported)
}

// dieWithParent has no equivalent: the guard alone ends what is left behind.
func dieWithParent(*syscall.SysProcAttr) {}

// pin refuses rather than start a target that is said to be pinned and is not.
func pin(cpus []int) (unpin func() error, err error) {
	if len(cpus) > 0 {
		return nil, unavailable("affinity")
	}
	return func() error { return nil }, nil
}

// awaitExit returns how the process ended. There is no portable way to learn of
// it without reaping.
func awaitExit(cmd *exec.Cmd) string {
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return "unknown: " + err.Error()
	}
	return cmd.ProcessState.String()
}

// reap has nothing left to do after awaitExit but to say what it saw.
func reap(cmd *exec.Cmd) error {
	if cmd.ProcessState != nil && cmd.ProcessState.Success() {
		return nil
	}
	return &exec.ExitError{ProcessState: cmd.ProcessState}
}

func living(int) ([]int, error) { return nil, unavailable("list of a process group") }

// sweep needs other processes' environments. Without them a process that has
// left its group is not found.
func sweep(string) ([]int, error) { return nil, nil }

// CPU is not available here.
func (p *Process) CPU() (record.CPUTime, error) {
	return record.CPUTime{}, unavailable("CPU time of another process")
}

// CPUsAllowed is not available here.
func (p *Process) CPUsAllowed() ([]int, error) { return nil, unavailable("CPUs of another process") }
