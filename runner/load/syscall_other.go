//go:build !linux

package load

import (
	"errors"
	"syscall"
)

func receive(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Read(fd, b)) }

func send(fd int, b []byte) (int, syscall.Errno) { return plain(syscall.Write(fd, b)) }

func plain(n int, err error) (int, syscall.Errno) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}
