package load

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

// edgeTriggered is unix.EPOLLET, whose sign differs between systems.
const edgeTriggered = 1 << 31

// dial begins to connect.
func (e *epollEngine) dial(l *epollLane) {
	e.dials++
	l.state, l.hangup, l.pending = dialling, false, nil
	now := e.clock.now()
	l.overdue = now + e.spec.Timeout
	if err := e.open(l); err != nil {
		e.lost(l, &fault{classify(err), err.Error()}, now)
	}
}

func (e *epollEngine) open(l *epollLane) (err error) {
	l.fd, err = unix.Socket(e.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		l.fd = -1
		return os.NewSyscallError("socket", err)
	}
	if err := e.start(l.fd); err != nil {
		return os.NewSyscallError("connect", err)
	}
	// All that will ever be asked for, once: no call of epoll_ctl per request.
	ev := event{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | edgeTriggered, Fd: int32(l.x.connection), Pad: l.generation}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(e.epfd, unix.EPOLL_CTL_ADD, l.fd, &ev))
}

// start connects without waiting, but for a Unix socket: there a full backlog is
// an error to whoever does not wait.
func (e *epollEngine) start(fd int) error {
	if e.family != unix.AF_UNIX {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return err
		}
		if err := unix.Connect(fd, e.target); err != unix.EINPROGRESS {
			return err
		}
		return nil
	}
	wait := unix.NsecToTimeval(int64(e.spec.Timeout))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait); err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	if err := unix.Connect(fd, e.target); err != nil {
		return err
	}
	return unix.SetNonblock(fd, true)
}

// dialled ends a dial, well or not.
func (e *epollEngine) dialled(l *epollLane) {
	now := e.clock.now()
	code, err := unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	if err != nil {
		e.lost(l, socketFault("connect", err.(syscall.Errno)), now)
		return
	}
	e.dials--
	l.state = idle
	switch {
	case e.p == nil: // connecting before the first phase
	case l.carries:
		l.carries = false
		e.out = l.render(e.out[:0])
		e.send(l)
	default:
		l.dialledAt, l.freeAt = now, now
		e.p.rec.newDials++
		e.next(l, now)
	}
}

// lost ends a dial that failed. If it was for one request, that failed; else
// there will be one connection less.
func (e *epollEngine) lost(l *epollLane, f *fault, now time.Duration) {
	e.dials--
	switch {
	case l.carries:
		l.carries = false
		l.x.done = now
		e.fail(l, f)
	case e.p == nil:
		e.hangUp(l)
		l.state = gone
		e.failed = f
	default:
		e.drop(l)
		e.p.rec.fault(f.kind, f.text)
	}
}

// disturbed handles an event on a connection without a request: the server has
// closed it, or speaks unasked.
func (e *epollEngine) disturbed(l *epollLane) {
	var b [256]byte
	n, errno := receive(l.fd, b[:])
	var f *fault
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0:
		f = socketFault("read on an idle connection", errno)
	case n == 0:
		f = &fault{record.ErrClosed, "an idle connection was closed"}
	default:
		f = &fault{record.ErrMalformed, "unasked on an idle connection: " + excerpt(b[:n])}
	}
	if e.p == nil {
		e.failed = f
		return
	}
	e.p.rec.fault(f.kind, f.text)
	e.p.rec.badInARow++ // a server that closes whatever it accepts is not dialled for ever
	e.replace(l)
}
