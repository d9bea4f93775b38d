// Package histogram keeps latencies: an HdrHistogram of nanoseconds with the
// exact minimum, maximum and sum beside it. It is the only package that knows
// the HdrHistogram library.
package histogram

import (
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The geometry of every histogram: 1 ns to 1 h with 3 digits, so a value is
// known to 0.1 %. One geometry for all makes every merge exact.
const (
	lowest  = 1
	highest = int64(time.Hour)
	digits  = 3
)

// H is a histogram of durations. It must not be copied or used by two
// goroutines at once.
type H struct {
	counts   *hdr.Histogram
	min, max time.Duration // exact; max is -1 while empty
	sum      time.Duration // exact below 292 years in all
}

// New returns an empty histogram.
func New() *H {
	h := &H{counts: hdr.New(lowest, highest, digits)}
	h.Reset()
	return h
}

// Record adds one value and allocates nothing. A value above an hour counts at
// an hour in the distribution but is exact in Max; a negative one counts as 0.
func (h *H) Record(d time.Duration) {
	if d < 0 {
		d = 0
	}
	h.min = min(h.min, d)
	h.max = max(h.max, d)
	h.sum += d
	// The value is within the range now, so there is no error to check.
	_ = h.counts.RecordValue(min(int64(d), highest))
}

// Merge adds all values of another histogram. It is exact: the counts add up
// as if every value had been recorded here.
func (h *H) Merge(from *H) {
	h.counts.Merge(from.counts)
	h.min = min(h.min, from.min)
	h.max = max(h.max, from.max)
	h.sum += from.sum
}

// Reset empties the histogram and keeps its memory.
func (h *H) Reset() {
	h.counts.Reset()
	h.min, h.max, h.sum = math.MaxInt64, -1, 0
}

// Count is the number of values.
func (h *H) Count() uint64 { return uint64(h.counts.TotalCount()) }

// Min is the exact smallest value, 0 when empty.
func (h *H) Min() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return h.min
}

// Max is the exact largest value, 0 when empty.
func (h *H) Max() time.Duration { return max(h.max, 0) }

// Sum is the exact sum of all values.
func (h *H) Sum() time.Duration { return h.sum }

// Mean is the exact mean, rounded down to a nanosecond; 0 when empty.
func (h *H) Mean() time.Duration {
	if n := h.Count(); n > 0 {
		return h.sum / time.Duration(n)
	}
	return 0
}

// Quantile is the nearest-rank quantile: the smallest value v such that at
// least q of all values are <= v, for q in 0..1. The answer is exact for q = 0
// and q = 1, otherwise at most 0.1 % too high, and never outside Min..Max. An
// empty histogram gives 0.
func (h *H) Quantile(q float64) time.Duration {
	n := h.counts.TotalCount()
	switch {
	case n == 0:
		return 0
	case !(q > 0): // NaN too
		return h.min
	}
	// q*n can end a hair above the whole number that it means (0.07*100), which
	// would move the rank by one.
	rank := int64(math.Ceil(q * float64(n) * (1 - 1e-14)))
	switch {
	case rank >= n:
		return h.max
	case rank <= 1:
		return h.min
	}
	// The library rounds q*n to the nearest rank; given rank/n it has no choice.
	v := time.Duration(h.counts.ValueAtPercentile(100 * float64(rank) / float64(n)))
	return min(max(v, h.min), h.max)
}
