package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonicAt is a moment of this process on CLOCK_MONOTONIC, which all processes
// of a machine share: there a run can be laid beside what others noted meanwhile.
func monotonicAt(t time.Time) *time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return nil
	}
	at := time.Duration(ts.Nano()) - time.Since(t)
	return &at
}
