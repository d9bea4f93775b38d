package load

import (
	"slices"
	"time"

	"gonogo/runner/record"
)

const (
	pauseThreshold = time.Millisecond // less is the scheduler's grain
	pauseRoom      = 512              // entries; the longest is known beyond them
)

// pauses notes when a loop that turns at least every so often did not: the
// process was stopped, or had no CPU. Without it a closed loop cannot tell its
// own stop from the server's: a reply that waits in a socket looks like one
// that has not come. It allocates nothing after its first turn of a run.
type pauses struct {
	known  bool // the engine has a loop
	turned time.Duration
	max    time.Duration
	list   []record.Pause // Start is on the run's clock
}

// begin is called when the loop starts.
func (p *pauses) begin(now time.Duration) {
	if p.list == nil {
		p.list = make([]record.Pause, 0, pauseRoom)
	}
	p.known, p.turned, p.max, p.list = true, now, 0, p.list[:0]
}

// turn is called at each turn; rest is how long the loop may have slept.
func (p *pauses) turn(now, rest time.Duration) {
	late := now - p.turned - rest
	if late > pauseThreshold && len(p.list) < pauseRoom {
		p.list = append(p.list, record.Pause{Start: now - late, Length: late})
	}
	p.max = max(p.max, late)
	p.turned = now
}

// result counts from the window's first edge.
func (p *pauses) result(start time.Duration) ([]record.Pause, *record.Nanos) {
	if !p.known {
		return nil, nil
	}
	list, longest := slices.Clone(p.list), p.max
	for i := range list {
		list[i].Start -= start
	}
	return list, &longest
}
