package load

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
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
	carries    bool          // the dial is for a request, which is in flight
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
	r := e.readers.get(&l.lane)
	for {
		space := r.space()
		n, errno := receive(l.fd, space)
		if errno == unix.EINTR {
			continue
		}
		if errno == unix.EAGAIN {
			e.readers.put(&l.lane, r, r.begun())
			return
		}
		now := e.clock.now()
		if errno != 0 {
			e.readers.put(&l.lane, r, false)
			l.x.done = now
			e.fail(l, socketFault("read", errno))
			return
		}
		ended, f := l.take(r, n, woke, now)
		if ended {
			e.readers.put(&l.lane, r, false)
			e.complete(l, f)
			return
		}
		if n < len(space) && !l.hangup {
			e.readers.put(&l.lane, r, true)
			return
		}
	}
}

// complete takes the end of a request into account and sends the next.
func (e *epollEngine) complete(l *epollLane, f *fault) {
	if l.x.done > l.overdue {
		f = l.late(e.spec.Timeout)
	}
	e.settle(l, f)
	switch {
	case e.spec.NewConns:
		e.hangUp(l)
		if f != nil { // not at once: a server that only fails must not keep the loop in here
			e.idle.push(l)
			return
		}
	case l.hangup || l.ends || len(l.pending) > 0:
		e.replace(l)
		return
	}
	e.next(l, l.x.done)
}

// fail ends a request that got no reply.
func (e *epollEngine) fail(l *epollLane, f *fault) {
	l.ends = true
	e.readers.drop(&l.lane)
	e.complete(l, l.blame(f))
}

func (e *epollEngine) settle(l *epollLane, f *fault) {
	if l.x.first == 0 || l.x.first > l.x.done {
		l.x.first = l.x.done
	}
	e.busy--
	l.state = idle
	l.freeAt = l.x.done
	e.p.settle(&l.lane, f, false)
}

// next sends the lane's next request, if there is one now, or lets it rest.
func (e *epollEngine) next(l *epollLane, now time.Duration) {
	free := l.freeAt
	if e.idle.n > 0 { // so another could have taken it before
		free = 0
	}
	if !e.p.give(&l.lane, now, free) {
		e.idle.push(l)
		return
	}
	e.busy++
	if e.spec.NewConns {
		l.carries, l.x.dialled = true, true
		l.x.sent = e.clock.now()
		e.p.rec.sent(&l.x, l.size())
		e.p.rec.newDials++
		e.dial(l)
		return
	}
	e.out = l.render(e.out[:0])
	l.x.sent = e.clock.now()
	e.p.rec.sent(&l.x, len(e.out))
	e.send(l)
}

// send writes the request that e.out holds. What the kernel does not take at
// once, which is rare, moves to the lane.
func (e *epollEngine) send(l *epollLane) {
	l.state = busy
	l.overdue = l.x.sent + e.spec.Timeout
	l.pending = e.out
	if !e.flush(l) {
		return
	}
	if len(l.pending) > 0 {
		l.pending = slices.Clone(l.pending)
	}
	if l.hangup { // the server closed its side when it accepted: there is no event to come
		e.receive(l, l.x.sent)
	}
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

// replace dials again. A connection that cannot be replaced is gone for good: a
// server that refuses is not asked again and again.
func (e *epollEngine) replace(l *epollLane) {
	e.drop(l)
	e.live++
	e.dial(l)
}

// drop ends a lane.
func (e *epollEngine) drop(l *epollLane) {
	e.hangUp(l)
	l.state = gone
	e.live--
}

// hangUp closes the connection, which takes it out of the epoll set.
func (e *epollEngine) hangUp(l *epollLane) {
	if l.fd >= 0 {
		unix.Close(l.fd)
		l.fd = -1
		l.generation++
	}
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
