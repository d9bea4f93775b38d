//go:build !linux

package host

import (
	"errors"
	"time"
)

var errNotHere = errors.New("not available on this system")

// clockStart makes times of this process comparable with each other, and with
// nobody else's: this system's clock of the machine is not read here.
var clockStart = time.Now()

func monotonic() time.Duration { return time.Since(clockStart) }

func sleepUntil(time.Duration) error { return errNotHere }

func pinThread(int) error { return errNotHere }

func sharpenTimers() {}
