package load

import (
	"context"
	"time"
)

// watch cuts off requests that are overdue, ends the window at its edge, and
// halts the phase when the run is interrupted or draining takes too long.
func (e *netEngine) watch(ctx context.Context, p *phase, done <-chan struct{}) {
	edge := time.NewTimer(p.end - e.clock.now())
	defer edge.Stop()
	end := time.NewTimer(p.giveUp - e.clock.now())
	defer end.Stop()
	tick := time.NewTicker(max(time.Millisecond, min(100*time.Millisecond, p.timeout/20)))
	defer tick.Stop()
	for stop := ctx.Done(); ; {
		select {
		case <-done:
			return
		case <-stop:
			stop = nil
			e.stop(p)
		case <-end.C:
			e.stop(p)
		case <-edge.C:
			e.mu.Lock()
			p.shut(p.end)
			e.mu.Unlock()
		case <-tick.C:
			e.expire()
		}
	}
}

func (e *netEngine) stop(p *phase) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.halt(p)
}

// expire cuts off every request whose reply is overdue.
func (e *netEngine) expire() {
	now := int64(e.clock.now())
	for _, l := range e.lanes {
		l.expire(now)
	}
}

// pace gives every request of an open loop to an idle lane as it falls due. If
// all are busy the request waits, and the first lane that is free takes it.
func (e *netEngine) pace(p *phase, done <-chan struct{}) {
	s, wake := newSleeper()
	defer wake()
	for {
		e.mu.Lock()
		now := e.clock.now()
		if p.finished(now) {
			e.release()
			e.mu.Unlock()
			return
		}
		at, _ := p.due()
		wait, busy := at-now, len(e.idle) == 0
		if wait <= 0 && !busy {
			l := e.idle[0]
			e.idle = append(e.idle[:0], e.idle[1:]...)
			l.given = p.give(&l.lane, now, 0)
			l.wake <- struct{}{}
		}
		freed := e.freed
		e.mu.Unlock()
		switch {
		case wait > 0:
			s.sleep(wait)
		case busy:
			select {
			case <-freed:
			case <-done:
				return
			}
		}
	}
}
