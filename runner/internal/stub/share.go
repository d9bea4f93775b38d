package stub

import (
	"net"
	"sync/atomic"
	"time"
)

// turns is a worker's side of a socket on which the workers take connections in
// turn, so that none has one more than another, but for one. Left to the kernel, the
// worker that woke last takes the next.
type turns struct {
	net.Listener
	counts         *counts
	index, workers int
	closed         atomic.Bool
}

func (t *turns) Accept() (net.Conn, error) {
	for t.ahead() && !t.closed.Load() {
		time.Sleep(time.Millisecond)
	}
	return t.Listener.Accept()
}

func (t *turns) Close() error {
	t.closed.Store(true)
	return t.Listener.Close()
}

// ahead reports whether another worker has accepted fewer.
func (t *turns) ahead() bool {
	all := t.counts.list(accepts, t.workers)
	for _, n := range all {
		if n < all[t.index] {
			return true
		}
	}
	return false
}
