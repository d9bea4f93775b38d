package overload

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// client is one that never does its part: it opens a connection, sends prefix and
// then each a piece, until the server ends the connection; then it opens another.
type client struct {
	prefix, each string
	finish       bool // send FIN after prefix, and never read
	deaf         bool // never read, so that only a failed write tells of an end
}

// sendEach is the time between two pieces: a byte in each keeps a connection busy
// for every limit but one on the whole.
const sendEach = 200 * time.Millisecond

// tally is what all clients of a fault saw. It is safe for concurrent use.
type tally struct {
	mu                     sync.Mutex
	opened, ended, refused uint64
	heldMax                time.Duration
}

func (y *tally) life(age time.Duration, ended bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.heldMax = max(y.heldMax, age)
	if ended {
		y.ended++
	}
}

func (y *tally) open(err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if err != nil {
		y.refused++
		return
	}
	y.opened++
}

// held is a fault of so many such clients at once.
func held(c client) func(context.Context, *subject, *OverloadTrial) error {
	return func(ctx context.Context, s *subject, t *OverloadTrial) error {
		end, cancel := context.WithTimeout(ctx, s.size.hold)
		if c.deaf {
			cancel()
			end, cancel = context.WithTimeout(ctx, s.size.unread)
		}
		defer cancel()
		var y tally
		var wg sync.WaitGroup
		for range s.size.slow {
			wg.Go(func() {
				for end.Err() == nil {
					c.live(end, s.p.Address(), &y)
				}
			})
		}
		wg.Wait()
		t.Connections, t.Opened, t.Ended, t.Refused = s.size.slow, y.opened, y.ended, y.refused
		t.HeldMax = &y.heldMax
		return ctx.Err()
	}
}

// live is the life of one connection.
func (c client) live(ctx context.Context, address string, y *tally) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if ctx.Err() != nil {
		return
	}
	y.open(err)
	if err != nil {
		pause(ctx, sendEach)
		return
	}
	defer conn.Close()
	born := time.Now()
	ended := c.misbehave(ctx, conn)
	y.life(time.Since(born), ended)
}

// misbehave reports whether the server ended the connection, rather than the fault.
func (c client) misbehave(ctx context.Context, conn net.Conn) (ended bool) {
	if _, err := io.WriteString(conn, c.prefix); err != nil {
		return true
	}
	if c.finish {
		// What the server does with it shows in its descriptors: to look at the
		// connection here would be to read.
		conn.(*net.TCPConn).CloseWrite()
		pause(ctx, 10*sendEach)
		return false
	}
	buf := make([]byte, 1024)
	for ctx.Err() == nil {
		conn.SetDeadline(time.Now().Add(sendEach))
		if _, err := io.WriteString(conn, c.each); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
		if c.deaf {
			pause(ctx, sendEach)
			continue
		}
		for {
			if _, err := conn.Read(buf); errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				return true
			}
		}
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
