package load

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

const (
	// longestWait is how long the loop sleeps at most: then it looks for
	// time-outs and for the end, and yields.
	longestWait = 4 * time.Millisecond
	// yieldEvery is how often it lets the rest of the process run. Go's monitor
	// asks a goroutine that has run for 10 ms to yield, by a signal; one that
	// yields by itself before is left in peace.
	yieldEvery   = 4 * time.Millisecond
	eventsAtOnce = 256
)

// epollEngine is the engine for Linux: one goroutine, one epoll set, no
// allocation and no other goroutine on the way of a request.
//
// The goroutine is not locked to a thread. In a generator process GOMAXPROCS is
// 1, so nothing can take its thread, and to yield costs some 0.3 µs; a locked
// goroutine that yields costs two thread switches.
type epollEngine struct {
	spec    *record.LoadSpec
	clock   clock
	target  unix.Sockaddr
	family  int
	epfd    int
	events  []event
	lanes   []*epollLane
	readers readers
	out     []byte // the request that is being written
	idle    ring
	dials   int // under way
	live    int // lanes that are connected or about to be
	busy    int // requests in flight

	p          *phase
	nextDue    time.Duration // open loop: when the next request is due
	checked    time.Duration // time-outs were looked for
	checkEvery time.Duration
	yielded    time.Duration
	cut        atomic.Bool
	failed     error // of connect
}

func newEpollEngine(spec *record.LoadSpec, s *stream, c clock) *epollEngine {
	e := &epollEngine{
		spec: spec, clock: c, epfd: -1, events: make([]event, eventsAtOnce),
		readers: readers{keep: keepFor(s)}, checkEvery: min(spec.Timeout/50, 50*time.Millisecond),
	}
	lanes := make([]epollLane, spec.Connections) // side by side, for the processor's cache
	for i := range lanes {
		lanes[i] = epollLane{lane: newLane(i, s), fd: -1}
		e.lanes = append(e.lanes, &lanes[i])
	}
	e.idle.lanes = make([]*epollLane, 2*len(e.lanes))
	return e
}

// connect dials every connection, some at a time. Where each request has a
// connection of its own it dials one, to learn whether the server is there.
func (e *epollEngine) connect(ctx context.Context) error {
	if err := e.resolve(ctx); err != nil {
		return err
	}
	var err error
	if e.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create", err)
	}
	lanes := e.lanes
	if e.spec.NewConns {
		lanes = lanes[:1]
	}
	for next := 0; next < len(lanes) || e.dials > 0; e.expire(e.clock.now()) {
		if next < len(lanes) && e.dials < dialAtOnce {
			e.dial(lanes[next])
			next++
		} else if err := e.turn(longestWait); err != nil {
			return err
		}
		if e.failed == nil && ctx.Err() != nil {
			e.failed = context.Cause(ctx)
		}
		if e.failed != nil {
			break
		}
	}
	if e.failed != nil {
		return e.failed
	}
	e.live = len(e.lanes)
	if e.spec.NewConns {
		e.hangUp(e.lanes[0])
		for _, l := range e.lanes {
			l.state = idle
		}
	}
	return nil
}

func (e *epollEngine) resolve(ctx context.Context) error {
	network, address := splitAddress(e.spec.Address)
	if network == "unix" {
		e.target, e.family = &unix.SockaddrUnix{Name: address}, unix.AF_UNIX
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return err
	}
	ip := ips[0].Unmap()
	if ip.Is4() {
		e.target, e.family = &unix.SockaddrInet4{Port: number, Addr: ip.As4()}, unix.AF_INET
	} else {
		e.target, e.family = &unix.SockaddrInet6{Port: number, Addr: ip.As16()}, unix.AF_INET6
	}
	return nil
}

func (e *epollEngine) close() {
	for _, l := range e.lanes {
		if l.fd >= 0 {
			unix.Close(l.fd)
			l.fd = -1
		}
	}
	if e.epfd >= 0 {
		unix.Close(e.epfd)
		e.epfd = -1
	}
}

func (e *epollEngine) established() int { return e.live }

func (e *epollEngine) cpus() int { return 1 }

// run sends what the phase asks for and comes back when all of it is answered
// or given up.
func (e *epollEngine) run(ctx context.Context, p *phase) error {
	stop := context.AfterFunc(ctx, func() { e.cut.Store(true) })
	defer stop()
	e.p = p
	defer func() { e.p = nil }()
	sharpen()
	now := e.clock.now()
	e.checked, e.yielded = now, now
	p.rec.pauses.begin(now)
	for _, l := range e.lanes {
		if l.state == idle {
			e.idle.push(l)
		}
	}
	for {
		now = e.clock.now()
		p.rec.pauses.turn(now, longestWait)
		e.dispatch(now)
		if now >= p.end {
			p.shut(p.end)
		}
		if e.cut.Load() || now >= p.giveUp || p.hopeless() || e.live == 0 {
			e.abandon()
			break
		}
		if e.busy == 0 && p.over(now) {
			break
		}
		if err := e.turn(e.patience(e.clock.now())); err != nil {
			return err
		}
		e.housekeeping(e.clock.now())
	}
	p.finish(e.clock.now(), p.stopped)
	return p.verdict(ctx, e.live)
}

// patience is how long the loop may sleep.
func (e *epollEngine) patience(now time.Duration) time.Duration {
	wait := longestWait
	if !e.p.rec.shut {
		wait = min(wait, e.p.end-now)
	}
	if e.idle.n > 0 {
		wait = min(wait, e.nextDue-now)
	}
	return wait
}

// turn waits for events and handles them.
func (e *epollEngine) turn(wait time.Duration) error {
	n, errno := pollWait(e.epfd, e.events, wait)
	if errno != 0 {
		return os.NewSyscallError("epoll_pwait2", errno)
	}
	if n == 0 {
		return nil
	}
	// Whatever is reported now had come by now: the closest that can be known
	// of when the first byte came.
	woke := e.clock.now()
	for i := range e.events[:n] {
		ev := &e.events[i]
		l := e.lanes[ev.Fd]
		if l.generation != ev.Pad { // of a connection that was replaced meanwhile
			continue
		}
		e.handle(l, ev.Events, woke)
		// What falls due meanwhile does not wait for the other events.
		if e.idle.n > 0 && l.x.done >= e.nextDue {
			e.dispatch(l.x.done)
		}
	}
	return nil
}

// dispatch sends what is to be sent now on idle connections, the one that has
// been idle longest first, so that all of them rest alike.
func (e *epollEngine) dispatch(now time.Duration) {
	e.nextDue = forever
	for !e.p.finished(now) && !e.p.hopeless() {
		if e.p.open != nil {
			if e.nextDue, _ = e.p.due(); e.nextDue > now {
				return
			}
		}
		l := e.idle.pop()
		if l == nil {
			return
		}
		e.next(l, now)
		now = e.clock.now()
	}
}

// housekeeping looks for time-outs and yields, every few milliseconds.
func (e *epollEngine) housekeeping(now time.Duration) {
	if now-e.checked >= e.checkEvery {
		e.checked = now
		e.expire(now)
	}
	if now-e.yielded >= yieldEvery {
		runtime.Gosched()
		sharpen() // the goroutine may go on on another thread
		e.yielded = e.clock.now()
	}
}

// expire gives up requests and dials that are overdue.
func (e *epollEngine) expire(now time.Duration) {
	for _, l := range e.lanes {
		if l.overdue >= now || l.state != busy && l.state != dialling {
			continue
		}
		if l.state == dialling {
			e.lost(l, &fault{record.ErrTimeout, fmt.Sprintf("no connection within %v", e.spec.Timeout)}, l.overdue)
			continue
		}
		e.readers.drop(&l.lane)
		l.x.done = now
		e.complete(l, nil) // which sees that it is late
	}
}

// abandon gives up what is in flight; its connections are of no use any more.
func (e *epollEngine) abandon() {
	e.p.stopped = true
	now := e.clock.now()
	for _, l := range e.lanes {
		if l.state == busy || l.carries {
			e.busy--
			e.p.rec.abandoned(&l.x, now)
			e.drop(l)
		}
	}
}
