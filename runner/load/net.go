package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
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
		e.lanes = append(e.lanes, &netLane{lane: newLane(i, s, keepFor(s)), wake: make(chan struct{}, 1)})
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
			var err error
			if l.conn, err = e.dial(ctx); err != nil {
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
	for e.next(l, p) {
		f := e.exchange(l)
		e.mu.Lock()
		p.settle(&l.lane, f, e.cut.Load())
		if p.hopeless() {
			e.halt(p)
		}
		e.mu.Unlock()
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

// next gives the lane its next request; false ends its phase.
func (e *netEngine) next(l *netLane, p *phase) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !l.gone {
		if l.given || p.give(&l.lane, e.clock.now()) {
			l.given = false
			l.x.sent = e.clock.now()
			p.rec.sent(l.x.sent, len(l.out))
			return true
		}
		if p.finished(e.clock.now()) {
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

func (e *netEngine) converse(l *netLane) *fault {
	if _, err := l.conn.Write(l.out); err != nil {
		l.x.done = e.clock.now()
		return l.blame(&fault{classify(err), "write: " + err.Error()})
	}
	for {
		n, err := l.conn.Read(l.in.space())
		l.x.done = e.clock.now()
		if n > 0 && l.x.first == 0 {
			l.x.first = l.x.done
		}
		l.bytes += n
		whole, f := false, (*fault)(nil)
		switch {
		case n > 0:
			whole, f = l.in.feed(n)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return &fault{record.ErrTimeout, ""}
		case classify(err) == record.ErrClosed:
			whole, f = l.in.eof()
		default:
			f = &fault{classify(err), "read: " + err.Error()}
		}
		if f != nil {
			return l.blame(f)
		}
		if whole {
			return nil
		}
	}
}

// redial replaces a connection. One that cannot be replaced is gone for good:
// a server that refuses is not asked again and again.
func (e *netEngine) redial(ctx context.Context, l *netLane, p *phase) {
	l.conn.Close()
	conn, err := e.dial(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		l.conn, l.dialledAt = conn, e.clock.now()
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
