package host

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC, which all processes of a machine share, and which
// is also what Go's own monotonic readings count.
func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // fails for clocks that do not exist only
	return time.Duration(ts.Nano())
}

func sleepUntil(due time.Duration) error {
	ts := unix.NsecToTimespec(int64(due))
	for {
		// Go's scheduler interrupts threads; the time is absolute, so sleep on.
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// pinThread ties the goroutine to a thread and the thread to a CPU for the rest
// of their lives: when the goroutine ends, so does the thread, and no other
// goroutine inherits the CPU.
func pinThread(cpu int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}

// sharpenTimers sets the thread's timer slack to 1 ns. By default the kernel may
// wake a thread 50 us late to save power. Where it is refused hiccups come out
// that much longer.
func sharpenTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
