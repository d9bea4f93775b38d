package load

import (
	"context"
	"runtime"
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
	procs int // the runtime's processors, without that of the pacer
	// pool holds readers that no reply has in hand. A reply nearly always comes in
	// one piece, so one reader serves all connections of a CPU in turn, and its
	// buffer stays in the processor's cache.
	pool sync.Pool

	mu     sync.Mutex    // guards the phase, its recorder and what follows
	idle   []*netLane    // in the order in which they fell idle
	freed  chan struct{} // a lane fell idle
	live   int
	cut    atomic.Bool // requests in flight are to be given up
	cancel context.CancelFunc
}

func newNetEngine(spec *record.LoadSpec, s *stream, c clock) *netEngine {
	e := &netEngine{spec: spec, clock: c, procs: runtime.GOMAXPROCS(0)}
	e.pool.New = func() any { return newReader(keepFor(s)) }
	for i := range spec.Connections {
		l := &netLane{lane: newLane(i, s), wake: make(chan struct{}, 1)}
		l.step = func(fd uintptr) bool { return e.advance(l, int(fd)) }
		e.lanes = append(e.lanes, l)
	}
	return e
}

// connect dials every connection, or none is left open. Where each request has
// a connection of its own it dials one, to learn whether the server is there.
func (e *netEngine) connect(ctx context.Context) error {
	e.live = len(e.lanes)
	lanes := e.lanes
	if e.spec.NewConns {
		lanes = lanes[:1]
		defer e.close()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	gate := make(chan struct{}, dialAtOnce)
	for _, l := range lanes {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			if err := e.dial(ctx, l); err != nil {
				cancel(err) // the first is the cause, the rest are its echo
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (e *netEngine) close() {
	for _, l := range e.lanes {
		l.hangUp()
	}
}

func (e *netEngine) established() int { return e.live }

func (e *netEngine) cpus() int { return e.procs }

// run sends what the phase asks for and comes back when all of it is answered
// or given up.
func (e *netEngine) run(ctx context.Context, p *phase) error {
	// Dials, unlike reads, can be ended by a context alone.
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	e.cancel = cancel
	done := make(chan struct{})
	var helpers, lanes sync.WaitGroup
	e.idle, e.freed = e.idle[:0], make(chan struct{}, 1)
	helpers.Go(func() { e.watch(ctx, p, done) })
	for _, l := range e.lanes {
		if !l.gone {
			lanes.Go(func() { e.drive(inner, l, p) })
		}
	}
	if p.open != nil {
		helpers.Go(func() { e.pace(p, done) })
	}
	lanes.Wait()
	e.outlast(ctx, p)
	close(done)
	helpers.Wait()
	p.finish(e.clock.now(), e.cut.Load())
	return p.verdict(ctx, e.live)
}

// outlast waits for the window's end, unless nothing is to be waited for.
func (e *netEngine) outlast(ctx context.Context, p *phase) {
	e.mu.Lock()
	now := e.clock.now()
	over := p.over(now)
	e.mu.Unlock()
	if over {
		return
	}
	select {
	case <-time.After(p.end - now):
	case <-ctx.Done():
	}
}

// drive is the life of a connection in one phase.
func (e *netEngine) drive(ctx context.Context, l *netLane, p *phase) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.next(l, p) {
		e.mu.Unlock()
		f := e.exchange(ctx, l)
		e.mu.Lock()
		l.freeAt = l.x.done
		p.settle(&l.lane, f, e.cut.Load())
		if e.spec.NewConns {
			p.rec.newDials++
		}
		if p.hopeless() {
			e.halt(p)
		}
		if !e.spec.NewConns && l.ends {
			e.redial(ctx, l, p)
		}
	}
}

// next gives the lane its next request; false ends its phase. Between two
// requests it leaves the lock only to rest.
func (e *netEngine) next(l *netLane, p *phase) bool {
	for now := e.clock.now(); !l.gone; now = e.clock.now() {
		if l.given || p.give(&l.lane, now, e.freeSince(l)) {
			l.given = false
			l.x.sent = e.clock.now()
			p.rec.sent(&l.x, l.size())
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

// freeSince is when a request that this lane takes could have been sent: while
// others are idle, at any time.
func (e *netEngine) freeSince(l *netLane) time.Duration {
	if len(e.idle) > 0 {
		return 0
	}
	return l.freeAt
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
	p.stopped = true
	e.cut.Store(true)
	e.release()
	for _, l := range e.lanes {
		if l.overdue.Load() > 0 {
			l.interrupt()
		}
	}
	e.cancel()
}
