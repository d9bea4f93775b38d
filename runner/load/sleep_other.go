//go:build !linux

package load

import "time"

// sleepMost bounds a sleep, so that a run that was cut short ends soon.
const sleepMost = 20 * time.Millisecond

// sleeper waits with Go's timers, which are as exact as the system's poller.
type sleeper struct{}

func newSleeper() (s sleeper, back func()) { return sleeper{}, func() {} }

// sleep may return early.
func (sleeper) sleep(d time.Duration) { time.Sleep(min(d, sleepMost)) }
