package load

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the hot path are raw: none of them can block for longer
// than the engine asks for, and telling Go's scheduler about each costs more
// than some of them take.

// event is struct epoll_event.
type event = unix.EpollEvent

// pollWait waits for events at most so long, to the nanosecond. An interrupted
// wait returns no events.
func pollWait(epfd int, events []event, wait time.Duration) (int, syscall.Errno) {
	ts := unix.NsecToTimespec(int64(max(wait, 0)))
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	switch errno {
	case 0:
		return int(n), 0
	case unix.EINTR:
		return 0, 0
	case unix.ENOSYS:
		return pollWaitOld(epfd, events, ts)
	}
	return 0, errno
}

// pollWaitOld is for kernels before 5.11: ppoll waits to the nanosecond, and the
// epoll descriptor is readable when it holds events.
func pollWaitOld(epfd int, events []event, ts unix.Timespec) (int, syscall.Errno) {
	fd := unix.PollFd{Fd: int32(epfd), Events: unix.POLLIN}
	n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return 0, errno
	}
	if n == 0 || errno == unix.EINTR {
		return 0, 0
	}
	n, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno == unix.EINTR {
		return 0, 0
	}
	return int(n), errno
}

// peek looks at what has come and leaves it there.
func peek(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// receive and send are recv and send rather than read and write: the same for
// a socket, without the detour over the file system layer.
func receive(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func send(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// sharpen makes timers of this thread exact: by default the kernel may let one
// fire 50 µs late.
func sharpen() {
	syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
}
