package null

import (
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const edgeTriggered = 1 << 31

// serve is one thread on one epoll set: what it costs is what the kernel costs.
func serve(l *net.TCPListener, s Stall) error {
	runtime.LockOSThread()
	file, err := l.File()
	if err != nil {
		return err
	}
	defer file.Close()
	listener := int(file.Fd())
	if err := syscall.SetNonblock(listener, true); err != nil {
		return err
	}
	epfd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create", err)
	}
	defer syscall.Close(epfd)
	if err := watch(epfd, listener, syscall.EPOLLIN); err != nil {
		return err
	}
	begin, buf := time.Now(), make([]byte, 32<<10)
	for events := make([]syscall.EpollEvent, 256); ; {
		n, err := syscall.EpollWait(epfd, events, -1)
		if err != nil && err != syscall.EINTR {
			return os.NewSyscallError("epoll_wait", err)
		}
		freeze(s.left(time.Since(begin)))
		for i := range max(n, 0) {
			if fd := int(events[i].Fd); fd == listener {
				accept(epfd, listener)
			} else {
				answer(fd, buf)
			}
		}
	}
}

// freeze sleeps in the kernel. The runtime's own sleep is rounded up to 1 ms, which
// would make a freeze longer than it says (method G5).
func freeze(d time.Duration) {
	for end := time.Now().Add(d); d > 0; d = time.Until(end) {
		t := syscall.NsecToTimespec(int64(d))
		syscall.Nanosleep(&t, nil) // a signal ends it early: then the rest
	}
}

func watch(epfd, fd int, events uint32) error {
	ev := syscall.EpollEvent{Events: events, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(epfd, syscall.EPOLL_CTL_ADD, fd, &ev))
}

func accept(epfd, listener int) {
	for {
		fd, _, err := syscall.Accept4(listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		if watch(epfd, fd, syscall.EPOLLIN|edgeTriggered) != nil {
			syscall.Close(fd)
		}
	}
}

// answer reads what came and answers it; it closes the connection when there is
// nothing to read, which is its end.
func answer(fd int, buf []byte) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), syscall.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
	case errno != 0 || n == 0:
		syscall.Close(fd)
	default:
		syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&Reply[0])), uintptr(len(Reply)), syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	}
}
