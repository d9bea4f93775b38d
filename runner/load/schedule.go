package load

import (
	"math"
	"time"
)

// Schedule fixes when each request of an open loop is due. It holds no clock,
// so its tests need none.
type Schedule struct {
	RatePerSec float64       // offered load over all workers, requests per second; > 0
	Window     time.Duration // a request due at or after Window is not sent
	Poisson    bool          // exponential gaps instead of equal ones
	Seed       uint64        // of the gaps
}

// Due returns the due time of request i of a constant schedule, from the
// window's start, and false once i falls outside the window. It divides i by
// the rate rather than summing a rounded gap, so it never drifts.
func (s Schedule) Due(i uint64) (time.Duration, bool) {
	due := time.Duration(float64(i) / s.RatePerSec * 1e9)
	return due, due < s.Window
}

// arrivals walks a schedule: the due times of requests first, first+step, ...
type arrivals struct {
	schedule Schedule
	step     uint64
	i        uint64  // request that at belongs to
	at       float64 // Poisson: due time of request i, nanoseconds
}

// arrivals starts at request first; step is the number of workers.
func (s Schedule) arrivals(first, step uint64) *arrivals {
	a := &arrivals{schedule: s, step: step}
	if s.Poisson {
		a.at = s.gap(0)
		a.forward(first)
		return a
	}
	a.i = first
	return a
}

// due is the due time of the request at hand; false when it lies outside the window.
func (a *arrivals) due() (time.Duration, bool) {
	if !a.schedule.Poisson {
		return a.schedule.Due(a.i)
	}
	d := time.Duration(a.at)
	return d, d < a.schedule.Window
}

// next goes on to this worker's next request.
func (a *arrivals) next() {
	if a.schedule.Poisson {
		a.forward(a.step)
		return
	}
	a.i += a.step
}

// forward sums the gaps of the other workers' requests too, so that all
// workers see one and the same process.
func (a *arrivals) forward(n uint64) {
	for range n {
		a.i++
		a.at += a.schedule.gap(a.i)
	}
}

// gap is the exponential gap before request i, nanoseconds: -ln(u) / rate with
// u uniform in (0, 1].
func (s Schedule) gap(i uint64) float64 {
	u := float64(mix(s.Seed^gapStream, i)>>11+1) / (1 << 53)
	return -math.Log(u) / s.RatePerSec * 1e9
}

// gapStream keeps the gaps independent of the requests' ids, which the same
// seed draws.
const gapStream = 0x6a09e667f3bcc909
