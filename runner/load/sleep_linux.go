package load

import (
	"runtime"
	"syscall"
	"time"
)

// sleepMost bounds a sleep, so that a run that was cut short ends soon.
const sleepMost = 20 * time.Millisecond

// sleeper waits in the kernel, on a thread of its own with exact timers: a timer
// of Go's fires when its poller wakes, which counts in milliseconds.
type sleeper struct{}

// newSleeper takes the goroutine's thread, and a processor of the runtime's beside
// those of the connections, which must not wait for the one that sleeps.
func newSleeper() (s sleeper, back func()) {
	runtime.LockOSThread() // never unlocked: the thread, whose timers are changed, ends with the goroutine
	sharpen()
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + 1)
	return sleeper{}, func() { runtime.GOMAXPROCS(n) }
}

// sleep may return early.
func (sleeper) sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(min(d, sleepMost)))
	syscall.Nanosleep(&t, nil) // interrupted by a signal it is early
}
