package findings

import (
	"math"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// profile is how fast one process was, slice by slice. In a closed loop that is its
// rate. In an open one the rate is the schedule's, so there it is one over the
// slice's largest latency: more is faster in both.
type profile struct {
	warm, window []float64
	slice        time.Duration
	floor        time.Duration // latencies that differ by less count as equal; 0 for rates
	base         float64       // what is typical of the window
}

// leastSlices of a window show something: two halves of four after the first.
const leastSlices = 9

// profileOf cuts off a slice that is shorter than its fellows. False where the
// window has too few slices or the server stood still in most of them.
func profileOf(l *record.LoadResult, kind record.Kind, floor time.Duration) (profile, bool) {
	p := profile{}
	for _, s := range l.Timeline {
		p.slice = max(p.slice, s.Length)
	}
	if kind == record.Open {
		p.floor = floor
	}
	for _, s := range l.Timeline {
		if s.Length < p.slice {
			continue
		}
		speed := float64(s.Right)
		if kind == record.Open {
			speed = 0 // in a slice without an answer
			if s.Max > 0 {
				speed = 1 / float64(s.Max)
			}
		}
		if s.Start < 0 {
			p.warm = append(p.warm, speed)
		} else {
			p.window = append(p.window, speed)
		}
	}
	if len(p.window) < leastSlices {
		return p, false
	}
	p.base, _ = stats.Median(p.settled())
	return p, p.base > 0
}

// settled leaves out the window's first slice: it begins with nothing in flight, so
// the answers of one round trip are missing in it, a tenth of them at 300
// connections.
func (p profile) settled() []float64 { return p.window[1:] }

// ratio of two speeds, 1 if they are too close to matter.
func (p profile) ratio(speed, base float64) float64 {
	if p.floor > 0 && math.Abs(1/speed-1/base) < float64(p.floor) {
		return 1
	}
	return speed / base
}

// halves is the speed in the second half of the window over that in the first.
func (p profile) halves() float64 {
	xs := p.settled()
	first, _ := stats.Median(xs[:len(xs)/2])
	second, _ := stats.Median(xs[len(xs)/2:])
	if first == 0 {
		return 1
	}
	return p.ratio(second, first)
}

// early is the speed in slice k of the warm-up over what is typical of the window.
// The first slice is held against the window's first: both lack a round trip.
func (p profile) early(k int) float64 {
	if k == 0 && p.window[0] > 0 {
		return p.ratio(p.warm[0], p.window[0])
	}
	return p.ratio(p.warm[k], p.base)
}

// late is the speed in slice k of the settled window over what is typical of it.
func (p profile) late(k int) float64 { return p.ratio(p.settled()[k], p.base) }

// profiles are those of a cell's processes, laid over one another by age.
type profiles []profile

// profiles are none if a run lacks one, for it is not lacking by chance.
func (c *Cell) profiles(floor time.Duration) profiles {
	var ps profiles
	for _, p := range c.Processes {
		q, ok := profileOf(p.run.Load, c.Kind, floor)
		if !ok {
			return nil
		}
		ps = append(ps, q)
	}
	return ps
}

// enough reports whether a 95 % interval of a median exists: from six on.
func (ps profiles) enough() bool {
	need, _ := stats.SamplesNeeded(0.5, 0.95)
	return len(ps) >= need
}

// differ says whether the processes agree that they were slower (-1) or faster (+1)
// than is typical of them: the 95 % interval of the median ratio leaves 1 out (the
// sign test), and the median is beyond the limit.
func (ps profiles) differ(limit float64, of func(profile) float64) int {
	ratios := make([]float64, len(ps))
	for i, p := range ps {
		ratios[i] = of(p)
	}
	median, _ := stats.Median(ratios)
	interval, _ := stats.MedianInterval(ratios, 0.95)
	switch {
	case interval.Hi < 1 && median < 1-limit:
		return -1
	case interval.Lo > 1 && median > 1+limit:
		return +1
	}
	return 0
}

// shortest is how many slices all of them have.
func (ps profiles) shortest(of func(profile) []float64) int {
	n := len(of(ps[0]))
	for _, p := range ps {
		n = min(n, len(of(p)))
	}
	return n
}

// cold is the worst second of the start-up: the slowest in a closed loop, in an open
// one that with the largest latency. False where the warm-up has no whole second.
func cold(l *record.LoadResult, kind record.Kind) (ratePerSec float64, longest time.Duration, ok bool) {
	for i := range l.Timeline {
		var right uint64
		var lasted, worst time.Duration
		for _, s := range l.Timeline[i:] {
			if s.Start >= 0 || lasted >= time.Second {
				break
			}
			right, lasted, worst = right+s.Right, lasted+s.Length, max(worst, s.Max)
		}
		if lasted < time.Second {
			break
		}
		rate := float64(right) / lasted.Seconds()
		if !ok || kind == record.Open && worst > longest || kind != record.Open && rate < ratePerSec {
			ratePerSec, longest, ok = rate, worst, true
		}
	}
	return ratePerSec, longest, ok
}
