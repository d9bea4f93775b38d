package load

import (
	"context"
	"net"
	"slices"
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
	written, ended bool
	fault          *fault
	unsent         []byte // what the kernel did not take at once

	wake chan struct{} // open loop: a request may be due
	// overdue is when the reply is late, on the run's clock; 0 while nothing
	// is in flight, expired once the watchdog has cut it off.
	overdue atomic.Int64
	guard   sync.Mutex // held while conn changes or is cut off
	given   bool       // loaded with a request by the pacer
	gone    bool       // the connection could not be dialled again
	fresh   bool       // no request has gone over conn yet
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
	if late := l.overdue.Swap(0) == expired; late || l.x.done > due || f != nil && f.kind == record.ErrTimeout && !e.cut.Load() {
		f = l.late(e.spec.Timeout)
	}
	if l.in != nil { // a reply that will not be whole
		e.pool.Put(l.in)
		l.in = nil
	}
	if e.spec.NewConns {
		l.hangUp()
	}
	if l.x.first == 0 || l.x.first > l.x.done {
		l.x.first = l.x.done
	}
	return f
}

// reach dials for one request.
func (e *netEngine) reach(ctx context.Context, l *netLane) *fault {
	l.x.dialled = true
	err := e.dial(ctx, l)
	if err == nil {
		return nil
	}
	return l.broken(e.clock.now(), &fault{classify(err), err.Error()})
}

// broken ends a request that got no reply.
func (l *netLane) broken(now time.Duration, f *fault) *fault {
	l.x.done, l.ends = now, true
	return l.blame(f)
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
	l.conn, l.fresh = conn, true
	l.raw, err = conn.(syscall.Conn).SyscallConn()
	return err
}

// converse writes the request and reads until its reply is whole.
//
// Both happen inside one RawConn.Read: it first calls step, which writes, and
// calls it again when there is something to read. Conn.Read would try to read
// before anything can have come, a system call in vain for each request.
func (e *netEngine) converse(l *netLane) *fault {
	l.written, l.ended, l.fault, l.unsent = false, false, nil, nil
	for !l.ended {
		err := l.raw.Read(l.step)
		switch {
		case l.ended:
		case err != nil:
			return l.broken(e.clock.now(), &fault{classify(err), "read: " + err.Error()})
		case len(l.unsent) > 0: // more than the kernel takes at once
			if _, err := l.conn.Write(l.unsent); err != nil {
				return l.broken(e.clock.now(), &fault{classify(err), "write: " + err.Error()})
			}
			l.unsent = nil
		}
	}
	return l.fault
}

// advance does what can be done without waiting. It returns false to wait until
// there is something to read, and true to leave RawConn.Read.
func (e *netEngine) advance(l *netLane, fd int) bool {
	r := l.in
	if r == nil {
		r = e.pool.Get().(*reader)
	}
	if !l.written {
		leave := e.write(l, r, fd)
		e.pool.Put(r)
		return leave
	}
	if l.in == nil {
		r.reset(l.x.template.isHead)
	}
	l.in = nil
	for !l.ended {
		n, errno := receive(fd, r.space())
		now := e.clock.now()
		switch errno {
		case 0:
			l.ended, l.fault = l.take(r, n, now, now)
		case syscall.EAGAIN:
			// Only an empty socket tells of what comes next; its end may have come
			// together with a part of the reply.
			if r.begun() {
				l.in = r
			} else {
				e.pool.Put(r)
			}
			return false
		case syscall.EINTR:
		default:
			l.ended, l.fault = true, l.broken(now, socketFault("read", errno))
		}
	}
	e.pool.Put(r)
	return true
}

// write sends the request from the buffer of a reader that has nothing to read
// yet: it is in the processor's cache.
func (e *netEngine) write(l *netLane, r *reader, fd int) (leave bool) {
	l.written = true
	if f := l.disturbed(fd); f != nil {
		l.ended, l.fault = true, l.broken(e.clock.now(), f)
		return true
	}
	out := l.render(r.buf[:0])
	n, errno := send(fd, out)
	switch errno {
	case 0, syscall.EAGAIN, syscall.EINTR:
		l.unsent = nil
		if n < len(out) {
			l.unsent = slices.Clone(out[n:])
		}
		return n < len(out)
	}
	l.ended, l.fault = true, l.broken(e.clock.now(), socketFault("write", errno))
	return true
}

// rest is how long a connection must have been idle before it is looked at. In
// a closed loop the next request follows at once, and the look, a system call,
// would cost each of them something.
const rest = 100 * time.Microsecond

// disturbed looks at a connection that rested, or is new, before a request is
// sent: what came meanwhile raises no event any more, because RawConn.Read
// forgets it before its first step. What comes from now on does.
func (l *netLane) disturbed(fd int) *fault {
	if !l.fresh && l.x.sent-l.freeAt < rest {
		return nil
	}
	l.fresh = false
	var b [256]byte
	switch n, errno := peek(fd, b[:]); {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return nil
	case errno != 0:
		return socketFault("read on an idle connection", errno)
	case n == 0:
		return &fault{record.ErrClosed, "an idle connection was closed"}
	default:
		return &fault{record.ErrMalformed, "unasked on an idle connection: " + excerpt(b[:n])}
	}
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
