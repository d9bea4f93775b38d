package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonicAt is a moment of this process on CLOCK_MONOTONIC, which all processes
// of a machine share: there a run can be laid beside what others noted meanwhile.
// It reads two clocks, and what comes between the readings makes the moment seem
// earlier, so the latest of a few tries is the best.
func monotonicAt(t time.Time) *time.Duration {
	var at time.Duration
	for range 5 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return nil
		}
		at = max(at, time.Duration(ts.Nano())-time.Since(t))
	}
	return &at
}
