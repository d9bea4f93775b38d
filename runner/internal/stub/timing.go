package stub

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Timing is when an answer comes.
type Timing struct {
	Delay      time.Duration
	Busy       bool
	Serial     bool
	Spin       int
	StallFor   time.Duration
	StallEvery time.Duration
	CollectFor time.Duration
	SlowFirst  int
	SlowDelay  time.Duration
}

// clock applies a Timing.
type clock struct {
	Timing
	begin   time.Time
	stalled atomic.Int64 // nanoseconds after begin until which a signal stalls

	place sync.Mutex
	free  time.Duration // after begin: when the one place of a serial server is free
}

// wait holds request n (counted from 1) for as long as the behaviour says.
func (c *clock) wait(n uint64) {
	now := time.Since(c.begin)
	if until := time.Duration(c.stalled.Load()); until > now {
		time.Sleep(until - now)
	}
	if c.StallEvery > 0 {
		// Frozen at the end of each period: the start is never frozen.
		if left := c.StallEvery - time.Since(c.begin)%c.StallEvery; left <= c.StallFor {
			time.Sleep(left)
		}
	}
	if n <= uint64(c.SlowFirst) {
		time.Sleep(c.SlowDelay)
	}
	runtime.KeepAlive(spin(c.Spin)) // or the loop would be left out
	switch {
	case c.Serial:
		time.Sleep(c.queue() - time.Since(c.begin))
	case c.Delay > 0 && c.Busy:
		for end := time.Now().Add(c.Delay); time.Now().Before(end); {
		}
	case c.Delay > 0:
		time.Sleep(c.Delay)
	}
}

// queue takes the one place of a serial server for Delay, and says when that is over.
// The place is free at a computed moment, not when a sleep ends: a sleep that is too
// long makes one answer late, and takes nothing from 1 / Delay requests a second.
func (c *clock) queue() time.Duration {
	c.place.Lock()
	defer c.place.Unlock()
	c.free = max(c.free, time.Since(c.begin)) + c.Delay
	return c.free
}

// spin is steps of xorshift64 (Marsaglia 2003), each of which needs the one before
// it. It is fixed work, where Busy is fixed time: a loop that waits for a moment
// ends at that moment also if something else had the CPU meanwhile, so a server
// that is slow by such a loop is steadier than any real one.
func spin(steps int) uint64 {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// stall freezes every answer for StallFor from now.
func (c *clock) stall() {
	c.stalled.Store(int64(time.Since(c.begin) + c.StallFor))
	if c.CollectFor > 0 {
		go c.collect()
	}
}

// collect makes the runtime pause: it has to stop all goroutines, and one of them
// calls nothing, so that it cannot be stopped where signals do not preempt. When the
// loop began and ended goes to stderr, in nanoseconds since 1970.
func (c *clock) collect() {
	const steps = 1 << 20
	begin := time.Now()
	runtime.KeepAlive(spin(steps))
	n := int(float64(c.CollectFor) / float64(time.Since(begin)) * steps)
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // one to loop, one to collect
	looping, done := make(chan bool), make(chan bool)
	go func() {
		begin := time.Now()
		close(looping)
		runtime.KeepAlive(spin(n))
		fmt.Fprintf(os.Stderr, "loop %d %d\n", begin.UnixNano(), time.Now().UnixNano())
		close(done)
	}()
	<-looping
	runtime.GC()
	<-done
}
