package session

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// clockStepMax is how far the wall clock may move against the monotonic one. ntpd
// sets the clock when it is off by more than 128 ms (ntpd(8)); what is less it
// slews, and slewing moves both clocks alike.
const clockStepMax = 100 * time.Millisecond

// wallClock watches the wall clock beside the monotonic one. Nothing is timed by it:
// it dates runs, and whoever lays them beside another log has to know of a step.
type wallClock struct {
	read       func() time.Time
	wall, mono time.Time // when it was last asked
}

func watchWallClock(read func() time.Time) *wallClock {
	if read == nil {
		read = time.Now
	}
	c := &wallClock{read: read}
	c.moved()
	return c
}

func (c *wallClock) now() time.Time { return c.read().UTC() }

// moved is by how much the wall clock moved against the monotonic one since it was
// last asked. Between the two readings the process may lose its CPU, so they are
// repeated until they lie close together.
func (c *wallClock) moved() time.Duration {
	var wall, mono time.Time
	for range 10 {
		mono = time.Now()
		wall = c.read().Round(0) // without the monotonic part, by which Sub would go
		if time.Since(mono) < time.Millisecond {
			break
		}
	}
	by := wall.Sub(c.wall) - mono.Sub(c.mono)
	c.wall, c.mono = wall, mono
	return by
}

// check says whether the clock was set, or the machine suspended, since the last check.
func (c *wallClock) check() record.Check {
	by := c.moved()
	return record.Check{Name: "steps of the wall clock", OK: by.Abs() <= clockStepMax,
		Observed: fmt.Sprintf("%+.3f s", by.Seconds()), Limit: fmt.Sprintf("±%.1f s; no duration is taken from it", clockStepMax.Seconds())}
}
