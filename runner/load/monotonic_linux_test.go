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
	if at := *monotonicAt(moment); at < before-time.Millisecond || at > after {
		t.Errorf("a moment between %v and %v is at %v", before, after, at)
	}
}
