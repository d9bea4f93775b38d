//go:build !linux

package load

import (
	"errors"
	"syscall"
)

func receive(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Read(fd, b)) }

func send(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Write(fd, b)) }

// peek looks at what has come and leaves it there.
func peek(fd int, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.Recvfrom(fd, b, syscall.MSG_PEEK)
	return plain(n, err)
}

func plain(n int, err error) (int, syscall.Errno) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}
