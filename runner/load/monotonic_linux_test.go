package load

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMonotonicAt(t *testing.T) {
	clock := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	before := clock()
	moment := time.Now()
	after := clock()
	// The conversion reads two clocks one after the other, so that being late
	// between them makes it too early by as much: the best of some is meant.
	best := time.Duration(0)
	for range 100 {
		best = max(best, *monotonicAt(moment))
	}
	if best < before-time.Millisecond || best > after {
		t.Errorf("a moment between %v and %v is at %v", before, after, best)
	}
}
