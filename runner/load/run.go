// Package load is the generator: closed and open loops of HTTP/1.1 requests
// over kept connections, every reply checked and every latency recorded.
//
// A run is: dial all connections, warm up over them, wait until nothing is in
// flight, open the window, send, close the window, wait for what is still in
// flight, and only then close the connections. A request belongs to the window
// in which it was sent (closed loop) or due (open loop), and is recorded even
// when its reply comes while draining. Nothing is retried, redirected or
// pipelined.
package load

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonogo/runner/record"
)

// engine keeps the connections and moves requests over them.
type engine interface {
	// connect establishes all connections, or fails; close is called in any case.
	connect(context.Context) error
	// run carries out a phase and returns when nothing is in flight any more.
	run(context.Context, *phase) error
	// established is the number of connections that live.
	established() int
	// cpus is how many CPUs it can use at once.
	cpus() int
	close()
}

// The engines by name.
const (
	engineEpoll = "epoll"
	engineNet   = "net"
)

// forever stands for no end of the window: the number of requests ends it.
const forever = time.Duration(math.MaxInt64 / 4)

// warmBase is added to the request numbers of the warm-up, so that what it
// sends, which depends on the server's speed, leaves the window's numbers alone.
const warmBase = 1 << 62

// Run carries out a load specification. If edge is not nil it is called with
// "warm" when nothing is in flight before the window opens, and with "done"
// when the window is closed and drained, before the connections are closed; an
// error from it ends the run.
//
// For its duration Run turns the garbage collector of the whole process off,
// under a memory limit: a generator should be a process of its own.
//
// When the context ends or the server cannot be loaded, the error says why, and
// the result holds what was measured until then; it is nil if the window had
// not been opened.
func Run(ctx context.Context, spec record.LoadSpec, edge func(event string) error) (*record.LoadResult, error) {
	return RunWatched(ctx, spec, Hooks{Edge: edge})
}

// Hooks are what a run calls; each may be nil.
type Hooks struct {
	Edge func(event string) error
	// Second is told each second of the warm-up and of the window when it is over.
	// It is called on the way of the requests: it must not wait for anything.
	Second func(record.Slice)
	// Ceiling is what an engine can do on this machine, requests per second, or nil.
	Ceiling func(engine string) *float64
}

// RunWatched is Run with all its hooks.
func RunWatched(ctx context.Context, spec record.LoadSpec, h Hooks) (*record.LoadResult, error) {
	if err := check(&spec); err != nil {
		return nil, err
	}
	s, err := newStream(&spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	width := cmp.Or(spec.Slice, time.Second)
	r := &run{
		spec: &spec, clock: clock{time.Now()}, ceiling: h.Ceiling,
		rec: newRecorder(spec.Kind == record.Open, int((spec.Warmup+spec.Window)/width)+8, width),
	}
	r.rec.second, r.rec.keepIntervals = h.Second, spec.Intervals
	if r.engine, err = newEngine(&spec, s, r.clock); err != nil {
		return nil, err
	}
	if h.Edge == nil {
		h.Edge = func(string) error { return nil }
	}
	defer r.engine.close()
	if err := r.engine.connect(ctx); err != nil {
		return nil, fmt.Errorf("%w to %s: %w", ErrConnect, spec.Address, err)
	}
	defer quiet()()
	return r.phases(ctx, h.Edge)
}

// run is one run under way.
type run struct {
	spec   *record.LoadSpec
	clock  clock
	engine engine
	rec    *recorder

	ceiling     func(engine string) *float64
	opened      time.Time // wall time of the window's first edge
	warmup      time.Duration
	before, end usage // of this process, at the window's edges
}

func (r *run) phases(ctx context.Context, edge func(string) error) (*record.LoadResult, error) {
	if r.spec.Warmup > 0 {
		start := r.clock.now()
		p := r.phase(start, start+r.spec.Warmup, warmBase, 0)
		if err := r.engine.run(ctx, p); err != nil {
			return nil, fmt.Errorf("warm up: %w", err)
		}
		r.warmup = r.spec.Warmup
	}
	if err := edge("warm"); err != nil {
		return nil, err
	}
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	if err := r.window(ctx); err != nil {
		return r.result(), err
	}
	if err := edge("done"); err != nil {
		return r.result(), err
	}
	return r.result(), nil
}

// wait lets workers on several machines open their windows together.
func (r *run) wait(ctx context.Context) error {
	if r.spec.StartAt == nil {
		return nil
	}
	left := time.Until(*r.spec.StartAt)
	if left < 0 {
		return fmt.Errorf("%w: open the window at %v: connecting and warming up took %v longer; agree on a later time",
			ErrSpec, r.spec.StartAt.Format(time.RFC3339Nano), -left.Round(time.Millisecond))
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *run) window(ctx context.Context) error {
	var err error
	if r.before, err = readUsage(); err != nil {
		return err
	}
	r.opened = time.Now()
	start := r.clock.now()
	end := start + forever
	if r.spec.Window > 0 {
		end = start + r.spec.Window
	}
	p := r.phase(start, end, 0, r.spec.Count)
	var closing error
	p.onClose = func() { r.end, closing = readUsage() }
	if err := r.engine.run(ctx, p); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return closing
}

// drainMargin is how much later than the last time-out draining is given up.
const drainMargin = 500 * time.Millisecond

func (r *run) phase(start, end time.Duration, base, limit uint64) *phase {
	r.rec.begin(start, end)
	step := uint64(max(r.spec.Workers, 1))
	p := &phase{
		rec: r.rec, clock: r.clock, timeout: r.spec.Timeout,
		patience: 100 + 2*r.spec.Connections, onClose: func() {},
		feed: feed{start: start, end: end, last: end, base: base, limit: limit, next: uint64(r.spec.Worker), step: step},
	}
	if r.spec.Kind == record.Open {
		s := Schedule{RatePerSec: r.spec.RatePerSec, Window: end - start, Poisson: r.spec.Arrivals == poisson, Seed: r.spec.Seed + base}
		p.open = s.arrivals(p.next, step)
		if base == 0 { // a backlog of the window counts, one of the warm-up is dropped
			p.last += r.spec.Timeout
		}
	}
	p.giveUp = p.last + r.spec.Timeout + drainMargin
	return p
}
