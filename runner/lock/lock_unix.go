//go:build linux || darwin

package lock

import (
	"errors"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK // a named pipe would wait for ever

// claim locks the file, if that is free: for good, or only to see whether it is.
// A look takes the shared form, so that two who look do not see each other.
func claim(f *os.File, keep bool) (free bool, err error) {
	how := syscall.LOCK_SH
	if keep {
		how = syscall.LOCK_EX
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err == nil && !keep {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	}
	return err == nil, err
}

// exists tells whether there is a process of that number, of whichever user.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
