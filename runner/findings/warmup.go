package findings

import (
	"math"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Warmup is what the slices of a cell's processes say of its warm-up. A slice of
// 100 ms is noisy, so no process is judged alone: each slice is judged over all
// processes, which were all started afresh and are laid over one another by age.
type Warmup struct {
	Shape stats.Shape `json:"shape"`
	// Steady: the window neither drifts, nor differs from itself at fixed ages, nor do
	// half of the processes drift each in its own direction.
	Steady bool `json:"steady"`
	// After is when it is steady, from the first slice of the warm-up; absent if it is not.
	After *time.Duration `json:"steady_after_ns,omitempty"`
	// Drift is the speed in the window's second half over that in the first, less 1,
	// median over processes; speed is the rate, or in an open loop one over the largest
	// latency of a slice. P is how often chance gives so one-sided trends.
	Drift     float64 `json:"drift_ratio"`
	P         float64 `json:"p"`
	Unlike    int     `json:"slices_unlike"` // of Slices in the window, those that differ from the rest
	Slices    int     `json:"slices"`
	Trending  int     `json:"processes_trending"` // of Processes, those that drift by themselves
	Processes int     `json:"processes"`
}

// unlikeShare of a window's slices that differ from the rest make a pattern: of 16
// chance gives some 0.5.
const unlikeShare = 0.25

// lookAtWarmup fills in the warm-up of a cell. It stays absent below six processes,
// where no interval of a median exists, and without slices that are fine enough.
//
// The rule of method D5 (deviation of one-second slices, halves within 2 %, no trend)
// asks for windows of tens of seconds. In 1.6 s its deviation is the noise of a
// slice, not of the server's state, so the process takes the place of the slice: the
// halves of a window are compared within each process, and whether they differ is
// tested over processes, by the exact signed-rank test of their Mann-Kendall
// statistics. To test one profile, the slices' medians over processes, would take
// noise that lasts a few slices for a trend.
func (c *Cell) lookAtWarmup(rules record.SteadyRules) {
	limit := rules.RateDrift
	if c.Kind == record.Open {
		limit = rules.LatencyDrift
	}
	ps := c.profiles(rules.LatencyFloor)
	if limit <= 0 || !ps.enough() {
		return
	}
	w := &Warmup{Processes: len(ps), Slices: ps.shortest(profile.settled)}
	w.drift(ps, limit, rules)
	for k := range w.Slices {
		if ps.differ(limit, func(p profile) float64 { return p.late(k) }) != 0 {
			w.Unlike++
		}
	}
	drifts := math.Abs(w.Drift) > limit && w.P <= rules.P
	w.Steady = !drifts && float64(w.Unlike) < unlikeShare*float64(w.Slices) && 2*w.Trending < w.Processes
	signs := make([]int, ps.shortest(func(p profile) []float64 { return p.warm }))
	for k := range signs {
		signs[k] = ps.differ(limit, func(p profile) float64 { return p.early(k) })
	}
	w.shape(signs, ps[0].slice, drifts)
	c.Warmup = w
}

// drift measures that of the windows.
func (w *Warmup) drift(ps profiles, limit float64, rules record.SteadyRules) {
	var drifts, trends []float64
	for _, p := range ps {
		drift := p.halves() - 1
		trend, _ := stats.MannKendall(p.settled())
		drifts, trends = append(drifts, drift), append(trends, float64(trend.S))
		if math.Abs(drift) > limit && trend.P <= rules.TrendP {
			w.Trending++
		}
	}
	w.Drift, _ = stats.Median(drifts)
	test, _ := stats.WilcoxonSignedRank(trends)
	w.P = test.P
}

// shape finds the last slice of the warm-up that still differs. One alone, other than
// the first, is chance: at 12 slices of which each differs by chance in 1 to 3 of 100
// cells, one does in every fourth cell, and two in a row hardly ever.
func (w *Warmup) shape(signs []int, slice time.Duration, drifts bool) {
	after, sum := 0, 0
	for k, s := range signs {
		alone := k > 0 && signs[k-1] != s && (k+1 == len(signs) || signs[k+1] != s)
		if s != 0 && !alone {
			after = k + 1
		}
	}
	for _, s := range signs[:after] {
		sum += s
	}
	switch {
	case !w.Steady && drifts && w.Drift < 0:
		w.Shape = stats.SlowDown
		return
	case !w.Steady:
		w.Shape = stats.NoSteadyState
		return
	case after == 0:
		w.Shape = stats.Flat
	case sum < 0:
		w.Shape = stats.WarmUp
	default:
		w.Shape = stats.SlowDown
	}
	steady := time.Duration(after) * slice
	w.After = &steady
}
