package sut

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonicAt is a moment of this process on CLOCK_MONOTONIC, which all processes of
// a machine share. What comes between the two readings makes the moment seem earlier,
// so the latest of a few tries is the best.
func monotonicAt(t time.Time) (at time.Duration, ok bool) {
	for range 5 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0, false
		}
		at = max(at, time.Duration(ts.Nano())-time.Since(t))
	}
	return at, true
}
