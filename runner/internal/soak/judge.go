package soak

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"gonogo/runner/stats"
)

// settle is how many sessions are not judged: caches fill, pages of code are read
// for the first time, and the runtime starts the threads that it keeps.
const settle = 3

// least is how many sessions have to be judged: of six values, all rising, Mann and
// Kendall's P is 2/6! = 0.003; of five it is 0.017, which would not do.
const least = 6

// significance bounds the chance that one quantity without a trend is called
// growing; its growth has to matter, too.
const significance = 0.01

// quantity is one thing that must not grow.
type quantity struct {
	name, unit string
	scale      float64
	of         func(Sample) (float64, bool)
	// matters is the growth along the whole soak from which it is a leak, as a number
	// and as a share of the first value; below it a trend is of no consequence, such as
	// a table of the runtime that still fills.
	matters, share float64
	zero           bool // nothing may be there at the end, growing or not
}

var quantities = []quantity{
	{name: "descriptors", scale: 1, matters: 2, of: func(s Sample) (float64, bool) { return known(s.Descriptors) }},
	{name: "goroutines", scale: 1, matters: 2, of: func(s Sample) (float64, bool) { return float64(s.Goroutines), true }},
	{name: "threads", scale: 1, matters: 4, of: func(s Sample) (float64, bool) { return known(s.Threads) }},
	{name: "resident memory", unit: "MiB", scale: mebi, matters: 4 * mebi, of: func(s Sample) (float64, bool) { return known(s.ResidentBytes) }},
	{name: "heap in use", unit: "MiB", scale: mebi, matters: mebi / 2, of: func(s Sample) (float64, bool) { return float64(s.HeapBytes), true }},
	{name: "processes", scale: 1, matters: 1, zero: true, of: func(s Sample) (float64, bool) { return known(s.Processes) }},
	{name: "disk a session", unit: "MiB", scale: mebi, share: 0.1, of: func(s Sample) (float64, bool) { return float64(s.DiskBytes), s.ID != "" }},
	{name: "left over", scale: 1, matters: 1, zero: true, of: func(s Sample) (float64, bool) { return float64(s.Leftovers), true }},
}

func known[T int | int64](n *T) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// Row is the verdict on one quantity. Slope and P are NaN where they cannot be told.
type Row struct {
	Name, Unit  string
	N           int     // values judged
	First, Last float64 // of those judged, in Unit
	Slope, P    float64 // in Unit a session; of no trend
	Verdict     string
}

// The verdicts. All but Flat and Untold are failures.
const (
	Flat    = "flat"
	Growing = "GROWING"
	Left    = "LEFT BEHIND" // does not grow, but must not be there
	TooFew  = "too few sessions"
	Untold  = "not told by this system"
)

// Judge tells of each quantity whether it grows with the sessions: Theil and Sen's
// slope, which no single session moves, and Mann and Kendall's test of trend, along
// the whole and on along its second half.
func Judge(samples []Sample) []Row {
	var rows []Row
	for _, q := range quantities {
		rows = append(rows, q.judge(samples[min(settle, len(samples)):]))
	}
	return rows
}

func (q quantity) judge(samples []Sample) Row {
	r := Row{Name: q.name, Unit: q.unit, Slope: math.NaN(), P: math.NaN(), Verdict: Untold}
	var xs, ys []float64
	for _, s := range samples {
		if y, ok := q.of(s); ok {
			xs, ys = append(xs, float64(s.Session)), append(ys, y)
		}
	}
	if r.N = len(ys); r.N == 0 {
		if len(samples) < least {
			r.Verdict = TooFew
		}
		return r
	}
	r.First, r.Last = ys[0]/q.scale, ys[r.N-1]/q.scale
	slope, _ := stats.TheilSen(xs, ys)
	trend, _ := stats.MannKendall(ys)
	switch growth := slope * (xs[r.N-1] - xs[0]); {
	case r.N < least:
		r.Verdict = TooFew
		return r
	case trend.S > 0 && trend.P <= significance && growth >= max(q.matters, q.share*ys[0]) && q.growsOn(xs, ys):
		r.Verdict = Growing
	case q.zero && ys[r.N-1] > 0:
		r.Verdict = Left
	default:
		r.Verdict = Flat
	}
	r.Slope, r.P = slope/q.scale, trend.P
	return r
}

// growsOn tells a leak from a step: one thread more at the same time, or one arena, is
// a step, which does not come again, while a leak makes the second half grow as well,
// by half of what matters along the whole. With too few sessions for halves, every growth counts.
func (q quantity) growsOn(xs, ys []float64) bool {
	half := len(ys) / 2
	if half < least {
		return true
	}
	xs, ys = xs[half:], ys[half:]
	slope, _ := stats.TheilSen(xs, ys)
	return slope*(xs[len(xs)-1]-xs[0]) >= max(q.matters, q.share*ys[0])/2
}

// Failed are the samples of sessions that ended with another code than those
// given: a session whose runs are void for want of a quiet machine has done its part.
func Failed(samples []Sample, expected ...int) []Sample {
	var failed []Sample
	for _, s := range samples {
		if !slices.Contains(expected, s.ExitCode) {
			failed = append(failed, s)
		}
	}
	return failed
}

// Table prints the verdicts.
func Table(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "quantity\tsessions\tfirst\tlast\tslope a session\tp\tverdict")
	for _, r := range rows {
		name := r.Name
		if r.Unit != "" {
			name += ", " + r.Unit
		}
		if r.N == 0 {
			fmt.Fprintf(t, "%s\t0\t-\t-\t-\t-\t%s\n", name, r.Verdict)
			continue
		}
		slope, p := "-", "-"
		if !math.IsNaN(r.Slope) {
			slope, p = fmt.Sprintf("%+.4f", r.Slope), fmt.Sprintf("%.3f", r.P)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", name, r.N, number(r.First, r.Unit), number(r.Last, r.Unit), slope, p, r.Verdict)
	}
	return t.Flush()
}

func number(x float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
