package load

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

// The states of a connection.
const (
	gone     = iota // there is none, and there will be none
	dialling        //
	idle            // connected, no request in flight
	busy            // a request is in flight
)

type epollLane struct {
	lane
	fd         int
	generation int32 // of fd: events of an older one are void
	state      int
	queued     bool          // in the ring of idle lanes
	hangup     bool          // the server has closed its side
	pending    []byte        // of the request, not yet taken by the kernel
	overdue    time.Duration // when the reply, or the dial, is late
}

// handle takes the events of a connection.
func (e *epollEngine) handle(l *epollLane, events uint32, woke time.Duration) {
	if events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.hangup = true
	}
	switch l.state {
	case dialling:
		if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			e.dialled(l)
		}
	case busy:
		if len(l.pending) > 0 && events&unix.EPOLLOUT != 0 && !e.flush(l) {
			return
		}
		if events&^unix.EPOLLOUT != 0 {
			e.receive(l, woke)
		}
	case idle:
		if events&^unix.EPOLLOUT != 0 {
			e.disturbed(l)
		}
	}
}

// receive reads a reply. The connections are edge-triggered: a read that does
// not fill its space has emptied the socket, and what comes later is a new
// event. Only the end of a connection that was seen in the event is not.
func (e *epollEngine) receive(l *epollLane, woke time.Duration) {
	for {
		space := l.in.space()
		n, errno := receive(l.fd, space)
		if errno == unix.EAGAIN {
			return
		}
		if errno == unix.EINTR {
			continue
		}
		l.x.done = e.clock.now()
		whole, f := false, (*fault)(nil)
		switch {
		case errno != 0:
			f = socketFault("read", errno)
		case n == 0:
			whole, f = l.in.eof()
		default:
			if l.x.first == 0 {
				l.x.first = max(woke, l.x.sent)
			}
			l.bytes += n
			whole, f = l.in.feed(n)
		}
		switch {
		case f != nil:
			e.fail(l, f)
			return
		case whole:
			e.complete(l)
			return
		case n < len(space) && !l.hangup:
			return
		}
	}
}

// complete judges a reply and sends the next request.
func (e *epollEngine) complete(l *epollLane) {
	f := l.judge()
	e.busy--
	l.state = idle
	e.p.settle(&l.lane, f, false)
	if l.hangup || !l.reusable() {
		e.replace(l)
		return
	}
	e.next(l, l.x.done)
}

// fail takes a request that got no reply into account and replaces its connection.
func (e *epollEngine) fail(l *epollLane, f *fault) {
	if l.x.first == 0 || l.x.first > l.x.done {
		l.x.first = l.x.done
	}
	e.busy--
	l.state = idle
	e.p.settle(&l.lane, l.blame(f), false)
	e.replace(l)
}

// next sends the lane's next request, if there is one now, or lets it rest.
func (e *epollEngine) next(l *epollLane, now time.Duration) {
	if e.cut.Load() || !e.p.give(&l.lane, now) {
		e.idle.push(l)
		return
	}
	e.send(l)
}

func (e *epollEngine) send(l *epollLane) {
	l.state = busy
	e.busy++
	l.x.sent = e.clock.now()
	l.overdue = l.x.sent + e.spec.Timeout
	e.p.rec.sent(l.x.sent, len(l.out))
	l.pending = l.out
	e.flush(l)
}

// flush hands the request to the kernel and reports whether the connection lives.
func (e *epollEngine) flush(l *epollLane) bool {
	for len(l.pending) > 0 {
		n, errno := send(l.fd, l.pending)
		switch errno {
		case 0:
			l.pending = l.pending[n:]
		case unix.EAGAIN:
			return true // an event tells when there is room
		case unix.EINTR:
		default:
			l.x.done = e.clock.now()
			e.fail(l, socketFault("write", errno))
			return false
		}
	}
	return true
}

// disturbed handles an event on a connection without a request: the server has
// closed it, or speaks unasked.
func (e *epollEngine) disturbed(l *epollLane) {
	n, errno := receive(l.fd, l.in.buf)
	var f *fault
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0:
		f = socketFault("read on an idle connection", errno)
	case n == 0:
		f = &fault{record.ErrClosed, "an idle connection was closed"}
	default:
		f = &fault{record.ErrMalformed, fmt.Sprintf("%d bytes on an idle connection: %s", n, excerpt(l.in.buf[:n]))}
	}
	if e.p != nil {
		e.p.rec.fault(f.kind, f.text)
	}
	e.replace(l)
}

// replace dials again. A connection that cannot be replaced is gone for good: a
// server that refuses is not asked again and again.
func (e *epollEngine) replace(l *epollLane) {
	e.drop(l)
	e.dial(l)
}

func (e *epollEngine) drop(l *epollLane) {
	unix.Close(l.fd) // which takes it out of the epoll set
	l.fd = -1
	l.generation++
	l.state = gone
	e.live--
}

// dial begins to connect.
func (e *epollEngine) dial(l *epollLane) {
	fd, err := unix.Socket(e.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		e.refused(os.NewSyscallError("socket", err))
		return
	}
	l.fd, l.hangup, l.state = fd, false, dialling
	l.overdue = e.clock.now() + e.spec.Timeout
	e.live++
	e.dials++
	if e.family != unix.AF_UNIX {
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err := unix.Connect(fd, e.target); err != nil && err != unix.EINPROGRESS {
		e.lost(l, dialFault(err))
		return
	}
	// All that will ever be asked for, once: no call of epoll_ctl per request.
	ev := event{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | epollET, Fd: int32(l.x.connection), Pad: l.generation}
	if err := unix.EpollCtl(e.epfd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		e.lost(l, dialFault(os.NewSyscallError("epoll_ctl", err)))
	}
}

const epollET = 1 << 31 // unix.EPOLLET is negative on some systems

// dialled ends a dial, well or not.
func (e *epollEngine) dialled(l *epollLane) {
	code, err := unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	if err != nil {
		e.lost(l, dialFault(err))
		return
	}
	e.dials--
	l.state = idle
	if e.p == nil {
		return
	}
	l.dialledAt = e.clock.now()
	e.p.rec.newDials++
	e.next(l, l.dialledAt)
}

func dialFault(err error) *fault {
	err = os.NewSyscallError("connect", err)
	return &fault{classify(err), err.Error()}
}

// lost ends a dial that failed.
func (e *epollEngine) lost(l *epollLane, f *fault) {
	e.dials--
	e.drop(l)
	e.refused(f)
}

// refused notes that there will be one connection less.
func (e *epollEngine) refused(err error) {
	if e.p == nil {
		e.failed = err
		return
	}
	f, ok := err.(*fault)
	if !ok {
		f = &fault{classify(err), err.Error()}
	}
	e.p.rec.fault(f.kind, f.text)
}

// ring is a queue of idle lanes, first in, first out.
type ring struct {
	lanes   []*epollLane
	head, n int
}

func (r *ring) push(l *epollLane) {
	if !l.queued {
		l.queued = true
		r.lanes[(r.head+r.n)%len(r.lanes)] = l
		r.n++
	}
}

// pop returns nil when no lane is idle. A lane that was replaced while it
// rested is passed over.
func (r *ring) pop() *epollLane {
	for r.n > 0 {
		l := r.lanes[r.head]
		r.head = (r.head + 1) % len(r.lanes)
		r.n--
		if l.queued = false; l.state == idle {
			return l
		}
	}
	return nil
}
