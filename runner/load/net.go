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

// dialAtOnce bounds the dials under way while connecting, so that a backlog of
// 128 is not overrun.
const dialAtOnce = 32

// netEngine is the portable engine: a goroutine for each connection on net.Conn.
type netEngine struct {
	spec  *record.LoadSpec
	clock clock
	lanes []*netLane

	mu    sync.Mutex    // guards the phase, its recorder and what follows
	idle  []*netLane    // in the order in which they fell idle
	freed chan struct{} // a lane fell idle
	live  int
	cut   atomic.Bool // requests in flight are to be given up
}

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
	given   bool // loaded with a request by the pacer
	gone    bool // the connection could not be dialled again
}

const expired = -1

func newNetEngine(spec *record.LoadSpec, s *stream, c clock) *netEngine {
	e := &netEngine{spec: spec, clock: c}
	for i := range spec.Connections {
		l := &netLane{lane: newLane(i, s, keepFor(s)), wake: make(chan struct{}, 1)}
		l.step = func(fd uintptr) bool { return e.advance(l, int(fd)) }
		e.lanes = append(e.lanes, l)
	}
	return e
}

func (e *netEngine) dial(ctx context.Context) (net.Conn, error) {
	network, address := splitAddress(e.spec.Address)
	d := net.Dialer{Timeout: e.spec.Timeout, KeepAlive: -1}
	return d.DialContext(ctx, network, address)
}

// connect dials every connection, or none is left open.
func (e *netEngine) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	gate := make(chan struct{}, dialAtOnce)
	for _, l := range e.lanes {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			conn, err := e.dial(ctx)
			if err == nil {
				err = e.adopt(l, conn)
			}
			if err != nil {
				cancel(err) // the first is the cause, the rest are its echo
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		e.close()
		return err
	}
	e.live = len(e.lanes)
	return nil
}

func (e *netEngine) close() {
	for _, l := range e.lanes {
		if l.conn != nil {
			l.conn.Close()
			l.conn = nil
		}
	}
}

func (e *netEngine) established() int { return e.live }

// run sends what the phase asks for and comes back when all of it is answered
// or given up.
func (e *netEngine) run(ctx context.Context, p *phase) error {
	done := make(chan struct{})
	var helpers, lanes sync.WaitGroup
	helpers.Go(func() { e.watch(ctx, p, done) })
	e.idle, e.freed = e.idle[:0], make(chan struct{}, 1)
	for _, l := range e.lanes {
		if !l.gone {
			lanes.Go(func() { e.drive(ctx, l, p) })
		}
	}
	if p.open != nil {
		helpers.Go(func() { e.pace(p, done) })
	}
	lanes.Wait()
	close(done)
	helpers.Wait()
	p.finish(e.clock.now(), ctx.Err() != nil)
	return p.verdict(ctx, e.live)
}

// drive is the life of a connection in one phase.
func (e *netEngine) drive(ctx context.Context, l *netLane, p *phase) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.next(l, p) {
		e.mu.Unlock()
		f := e.exchange(l)
		e.mu.Lock()
		p.settle(&l.lane, f, e.cut.Load())
		if p.hopeless() {
			e.halt(p)
		}
		if f != nil && breaks(f.kind) || !l.reusable() {
			e.redial(ctx, l, p)
		}
	}
}

// breaks reports whether a connection is of no use after such an error. A
// complete reply with the wrong content leaves it whole.
func breaks(kind string) bool {
	return kind != record.ErrStatus && kind != record.ErrLength && kind != record.ErrBody
}

// next gives the lane its next request; false ends its phase. Between two
// requests it leaves the lock only to rest.
func (e *netEngine) next(l *netLane, p *phase) bool {
	for now := e.clock.now(); !l.gone; now = e.clock.now() {
		if l.given || p.give(&l.lane, now) {
			l.given = false
			l.x.sent = e.clock.now()
			p.rec.sent(l.x.sent, len(l.out))
			return true
		}
		if p.finished(now) {
			e.release()
			return false
		}
		e.idle = append(e.idle, l)
		select {
		case e.freed <- struct{}{}:
		default:
		}
		e.mu.Unlock()
		<-l.wake
		e.mu.Lock()
	}
	return false
}

// release wakes all idle lanes so that they see the end.
func (e *netEngine) release() {
	for _, l := range e.idle {
		l.wake <- struct{}{}
	}
	e.idle = e.idle[:0]
}

// halt ends the phase before its time. Requests in flight are cut off.
func (e *netEngine) halt(p *phase) {
	p.over = true
	e.cut.Store(true)
	e.release()
	past := time.Unix(1, 0)
	for _, l := range e.lanes {
		if l.overdue.Load() > 0 {
			l.conn.SetDeadline(past)
		}
	}
}

// exchange writes the request and reads its reply.
func (e *netEngine) exchange(l *netLane) *fault {
	due := l.x.sent + e.spec.Timeout
	l.overdue.Store(int64(due))
	if e.cut.Load() { // halted before it could see this request
		l.conn.SetDeadline(time.Unix(1, 0))
	}
	f := e.converse(l)
	late := l.overdue.Swap(0) == expired
	if late {
		l.x.done = due
	}
	if l.x.first == 0 || late && l.x.first > due {
		l.x.first = l.x.done
	}
	if late {
		return l.blame(&fault{record.ErrTimeout, fmt.Sprintf("no reply within %v, %d bytes of it came", e.spec.Timeout, l.bytes)})
	}
	if f != nil {
		return f
	}
	return l.judge()
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
			return l.blame(&fault{classify(err), "read: " + err.Error()})
		case len(l.unsent) > 0: // more than the kernel takes at once
			if _, err := l.conn.Write(l.unsent); err != nil {
				l.x.done = e.clock.now()
				return l.blame(&fault{classify(err), "write: " + err.Error()})
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
			return l.end(e.clock.now(), l.blame(socketFault("write", errno)))
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
		return l.end(l.x.done, l.blame(f))
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
	l.conn.Close()
	conn, err := e.dial(ctx)
	if err == nil {
		err = e.adopt(l, conn)
	}
	e.mu.Lock()
	if err == nil {
		l.dialledAt = e.clock.now()
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

// adopt makes a connection the lane's.
func (e *netEngine) adopt(l *netLane, conn net.Conn) (err error) {
	l.conn = conn
	l.raw, err = conn.(syscall.Conn).SyscallConn()
	return err
}
