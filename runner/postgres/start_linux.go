package postgres

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts a command on some CPUs. When this process dies, however, the kernel has
// the server end at once and without care: nobody needs its data. The thread is kept, for
// it is the end of the thread that the kernel goes by.
func start(cmd *exec.Cmd, cpus []int) error {
	runtime.LockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	if len(cpus) > 0 {
		var before, set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &before); err != nil {
			return fmt.Errorf("read affinity: %w", err)
		}
		for _, c := range cpus {
			set.Set(c)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("set affinity to %v: %w", cpus, err)
		}
		defer unix.SchedSetaffinity(0, &before)
	}
	return cmd.Start()
}
