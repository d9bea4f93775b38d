package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gonogo/runner/record"
)

type netLane struct {
	lane
	conn net.Conn
	raw  syscall.RawConn
	step func(fd uintptr) bool // advance, once made into a function value
	// The state of a request between two calls of step.
	unsent []byte
	whole  bool
	fault  *fault

	wake chan struct{} // open loop: a request may be due
	// overdue is when the reply is late, on the run's clock; 0 while nothing
	// is in flight, expired once the watchdog has cut it off.
	overdue atomic.Int64
	guard   sync.Mutex // held while conn changes or is cut off
	given   bool       // loaded with a request by the pacer
	gone    bool       // the connection could not be dialled again
}

const expired = -1

// exchange writes the request and reads its reply.
func (e *netEngine) exchange(ctx context.Context, l *netLane) *fault {
	due := l.x.sent + e.spec.Timeout
	f := (*fault)(nil)
	if e.spec.NewConns {
		f = e.reach(ctx, l)
	}
	l.overdue.Store(int64(due))
	if e.cut.Load() { // halted before it could see this request
		l.interrupt()
	}
	if f == nil {
		f = e.converse(l)
	}
	if late := l.overdue.Swap(0) == expired; late || f != nil && f.kind == record.ErrTimeout {
		l.x.done = min(l.x.done, due)
		f = &fault{record.ErrTimeout, fmt.Sprintf("no reply within %v, %d bytes of it came", e.spec.Timeout, l.bytes)}
	}
	if e.spec.NewConns {
		l.hangUp()
	}
	if l.x.first == 0 || l.x.first > l.x.done {
		l.x.first = l.x.done
	}
	if f != nil {
		return l.blame(f)
	}
	return l.judge()
}

// reach dials for one request.
func (e *netEngine) reach(ctx context.Context, l *netLane) *fault {
	l.x.dialled = true
	err := e.dial(ctx, l)
	if err == nil {
		return nil
	}
	l.x.done = e.clock.now()
	return &fault{classify(err), err.Error()}
}

// interrupt ends whatever the connection waits for.
func (l *netLane) interrupt() {
	l.guard.Lock()
	defer l.guard.Unlock()
	if l.conn != nil {
		l.conn.SetDeadline(time.Unix(1, 0))
	}
}

// expire cuts the request off if it is overdue. The exchange fails when the
// reply came in between. When it succeeds the lane drops the connection, and
// must wait for the guard before it can have another: the deadline hits no
// later request.
func (l *netLane) expire(now int64) {
	due := l.overdue.Load()
	if due <= 0 || now < due {
		return
	}
	l.guard.Lock()
	defer l.guard.Unlock()
	if l.overdue.CompareAndSwap(due, expired) && l.conn != nil {
		l.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (l *netLane) hangUp() {
	l.guard.Lock()
	defer l.guard.Unlock()
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// dial makes a new connection the lane's.
func (e *netEngine) dial(ctx context.Context, l *netLane) error {
	network, address := splitAddress(e.spec.Address)
	d := net.Dialer{Timeout: e.spec.Timeout, KeepAlive: -1}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	l.guard.Lock()
	defer l.guard.Unlock()
	l.conn = conn
	l.raw, err = conn.(syscall.Conn).SyscallConn()
	return err
}

// converse writes the request and reads until its reply is whole.
//
// Both happen inside one RawConn.Read: it first calls step, which writes, and
// calls it again when there is something to read. Conn.Read would try to read
// before anything can have come, a system call in vain for each request.
func (e *netEngine) converse(l *netLane) *fault {
	l.unsent, l.fault, l.whole = l.out, nil, false
	for !l.whole {
		err := l.raw.Read(l.step)
		switch {
		case l.fault != nil:
			return l.fault
		case errors.Is(err, os.ErrDeadlineExceeded):
			l.x.done = e.clock.now()
			return &fault{record.ErrTimeout, ""}
		case err != nil:
			l.x.done = e.clock.now()
			return &fault{classify(err), "read: " + err.Error()}
		case len(l.unsent) > 0: // more than the kernel takes at once
			if _, err := l.conn.Write(l.unsent); err != nil {
				l.x.done = e.clock.now()
				return &fault{classify(err), "write: " + err.Error()}
			}
			l.unsent = nil
		}
	}
	return nil
}

// advance does what can be done without waiting. It returns false to wait until
// there is something to read, and true to leave RawConn.Read.
func (e *netEngine) advance(l *netLane, fd int) bool {
	if len(l.unsent) > 0 {
		n, errno := send(fd, l.unsent)
		switch {
		case errno == syscall.EAGAIN || errno == syscall.EINTR:
			return true
		case errno != 0:
			return l.end(e.clock.now(), socketFault("write", errno))
		}
		l.unsent = l.unsent[n:]
		return len(l.unsent) > 0
	}
	n, errno := receive(fd, l.in.space())
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return errno == syscall.EINTR
	}
	l.x.done = e.clock.now()
	var f *fault
	switch {
	case errno != 0:
		f = socketFault("read", errno)
	case n == 0:
		l.whole, f = l.in.eof()
	default:
		if l.x.first == 0 {
			l.x.first = l.x.done
		}
		l.bytes += n
		l.whole, f = l.in.feed(n)
	}
	if f != nil {
		return l.end(l.x.done, f)
	}
	return l.whole
}

func (l *netLane) end(now time.Duration, f *fault) bool {
	l.x.done, l.fault = now, f
	return true
}

// redial replaces a connection. One that cannot be replaced is gone for good:
// a server that refuses is not asked again and again. The lock is left while
// dialling.
func (e *netEngine) redial(ctx context.Context, l *netLane, p *phase) {
	e.mu.Unlock()
	l.hangUp()
	err := e.dial(ctx, l)
	e.mu.Lock()
	if err == nil {
		l.dialledAt = e.clock.now()
		l.freeAt = l.dialledAt
		p.rec.newDials++
		return
	}
	l.gone = true
	e.live--
	if ctx.Err() == nil {
		p.rec.fault(classify(err), err.Error())
	}
	if e.live == 0 {
		e.halt(p)
	}
}
