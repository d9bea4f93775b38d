package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// clock counts from the run's beginning.
type clock struct{ base time.Time }

// now costs one reading of the monotonic clock; time.Now would cost two.
func (c clock) now() time.Duration { return time.Since(c.base) }

// phase is warm-up or window, as an engine sees it. Whatever is not marked
// otherwise is guarded by the engine's own lock, if it has one.
type phase struct {
	feed
	rec     *recorder
	clock   clock
	timeout time.Duration
	// giveUp is when draining ends. By then every request has been answered or
	// has timed out, or the engine is broken.
	giveUp time.Duration
	// patience is how many wrong answers in a row end the run: a server that
	// does nothing but refuse is not worth a window.
	patience int
	onClose  func() // called once, at the window's second edge

	closing sync.Once
}

// shut ends the window, once.
func (p *phase) shut(now time.Duration) {
	p.closing.Do(func() {
		p.rec.close(now)
		p.onClose()
	})
}

// hopeless reports whether the run must end because nothing right comes.
func (p *phase) hopeless() bool { return p.rec.badInARow > p.patience }

// give loads the lane with the next request, if one is to be sent now. free is
// the time from which a connection has been free to take it.
func (p *phase) give(l *lane, now, free time.Duration) bool {
	number, intended, ok := p.take(now)
	if ok {
		p.rec.counts.Planned++
		l.load(number, intended)
		l.x.free = free
	}
	return ok
}

// settle takes the outcome of a lane's request into account.
func (p *phase) settle(l *lane, f *fault, cut bool) {
	switch {
	case f == nil:
		p.rec.right(&l.x, l.bytes)
	case cut:
		p.rec.abandoned(&l.x, l.x.done)
	default:
		p.rec.wrong(&l.x, l.bytes, f.kind, f.text)
	}
}

// finish closes the account when no request is in flight any more.
func (p *phase) finish(now time.Duration, interrupted bool) {
	n := p.rest(now)
	p.rec.counts.Planned += n
	p.rec.counts.Unfinished += n
	if p.limit > 0 && !interrupted {
		now = p.rec.lastDone // a fixed number of requests: the window ends with the last
	}
	p.shut(now)
}

// verdict says why a phase ended before its time, if it did.
func (p *phase) verdict(ctx context.Context, live int) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.hopeless():
		return fmt.Errorf("nothing right in %d answers; last: %s", p.rec.badInARow, p.rec.lastBad)
	case live == 0:
		return fmt.Errorf("no connection left; last: %s", p.rec.lastBad)
	case p.rec.inFlight > 0:
		return fmt.Errorf("%d requests are neither answered nor timed out", p.rec.inFlight)
	}
	return nil
}
