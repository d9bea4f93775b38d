package findings

import (
	"math"
	"slices"
	"time"
)

// band is a span of ages, counted from the first slice of the warm-up, in which the
// processes of a cell were slow. The zero band holds nothing.
type band struct {
	from, to time.Duration
	in, of   int // processes that were slow in it, and in all
}

const (
	bandWidth = 300 * time.Millisecond // three slices: a start does not repeat to the millisecond
	startsBy  = 5 * time.Second        // what is later is no start-up
	bandP     = 0.01
)

func (b band) holds(age time.Duration) bool { return b.in > 0 && b.from <= age && age <= b.to }

// age of the process at a time from the window's first edge: since its load began.
func (v *evidence) age(at time.Duration) time.Duration { return at + v.older() }

// older is the time from the first slice to the window's first edge.
func (v *evidence) older() time.Duration {
	if len(v.run.Load.Timeline) == 0 {
		return v.run.Load.Warmup
	}
	return max(0, -v.run.Load.Timeline[0].Start)
}

// lived is how long the process was watched.
func (v *evidence) lived() time.Duration { return v.age(v.run.Load.Window) }

// slowAges are the ages at which a request took longer than the limit and nothing
// outside the server was the cause. Of the warm-up no request was kept, but each of
// its slices knows its slowest.
func (v *evidence) slowAges(limit time.Duration) []time.Duration {
	var ages []time.Duration
	for _, s := range v.run.Load.Timeline {
		if s.Start < 0 && s.Max > limit {
			ages = append(ages, max(0, v.age(s.Start+s.Length/2-s.Max)))
		}
	}
	for _, s := range v.run.Load.Slowest {
		q := v.request(s)
		if class, _ := v.classify(q); q.latency > limit && !class.foreign() {
			ages = append(ages, v.age(q.from))
		}
	}
	return ages
}

// sameAge finds the ages at which most processes were slow, if that is a start-up:
// it recurs in enough of them, early, at an age that chance would not give to so
// many, and most of them are not slow later.
func sameAge(ages [][]time.Duration, lived time.Duration, needed int) band {
	best := band{of: len(ages)}
	for _, own := range ages {
		for _, from := range own {
			b := band{from: from, to: from + bandWidth, of: len(ages)}
			for _, other := range ages {
				if slices.ContainsFunc(other, func(a time.Duration) bool { return b.from <= a && a <= b.to }) {
					b.in++
				}
			}
			if b.in > best.in || b.in == best.in && b.from < best.from {
				best = b
			}
		}
	}
	slow, later := 0, 0
	for _, own := range ages {
		if len(own) > 0 {
			slow++
		}
		if slices.ContainsFunc(own, func(a time.Duration) bool { return a > best.to }) {
			later++
		}
	}
	if best.in < needed || best.to > startsBy || 2*later >= slow || coincidence(slow, best.in, bandWidth, lived) > bandP {
		return band{}
	}
	return best
}

// coincidence bounds the probability that k of n moments, each anywhere in a time,
// fall within a width of one another: n choose k groups, in each one of k is first
// and the others follow it within the width (the union bound of the scan statistic).
func coincidence(n, k int, width, in time.Duration) float64 {
	if in <= 0 || k < 1 || k > n {
		return 1
	}
	log, _ := math.Lgamma(float64(n + 1))
	a, _ := math.Lgamma(float64(k + 1))
	b, _ := math.Lgamma(float64(n - k + 1))
	share := math.Min(1, float64(width)/float64(in))
	return math.Min(1, float64(k)*math.Exp(log-a-b)*math.Pow(share, float64(k-1)))
}
