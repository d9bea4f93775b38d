package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"gonogo/runner/record"
)

// classify names the kind of an error of the network.
func classify(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, context.DeadlineExceeded):
		return record.ErrTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return record.ErrRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return record.ErrReset
	case errors.Is(err, io.EOF):
		return record.ErrClosed
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return record.ErrFiles
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return record.ErrPorts
	case errors.As(err, &dns), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, os.ErrNotExist):
		return record.ErrDial
	}
	return record.ErrOther
}

// socketFault is the fault of a system call on a connection.
func socketFault(call string, errno syscall.Errno) *fault {
	return &fault{classify(errno), os.NewSyscallError(call, errno).Error()}
}
