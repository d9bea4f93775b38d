// Package recount works the core numbers of a session out a second time, from the
// archived histograms, counters and readings, so that `gonogo verify` does not ask
// the code that printed a number whether it is right. It shares no code with
// histogram, stats and findings; of findings it knows the types, which are the
// claims that it holds against what it finds. Plain loops are meant: a sceptic
// should be able to read all of it.
package recount

import (
	"slices"
	"time"

	"gonogo/runner/record"
)

// quantiles that are printed, in thousandths, and from how many values on: the
// smallest n with 1 - q^n - (1-q)^n >= 0.95, and for p99.9 ten times that (3688).
var quantiles = []struct {
	name     string
	permille uint64
	need     uint64
}{
	{"p50_ns", 500, 6}, {"p90_ns", 900, 36}, {"p95_ns", 950, 72}, {"p99_ns", 990, 368}, {"p999_ns", 999, 36_880},
}

// Run gives the numbers of one run by the names that runs.csv has, whether the run
// counts or not. What the run does not tell is absent.
func Run(r *record.Run, t record.Target) (map[string]float64, error) {
	v := map[string]float64{}
	if r.Ready > 0 {
		v["ready_ns"] = float64(r.Ready)
	}
	if r.FirstAnswer != nil {
		v["first_answer_ns"] = float64(*r.FirstAnswer)
	}
	if r.OfferedPerSec > 0 && r.Load != nil {
		v["offered_per_sec"] = r.OfferedPerSec
	}
	if m := r.Memory; m != nil {
		memory(v, m)
	}
	l := r.Load
	if l == nil {
		return v, nil
	}
	c := l.Counts
	v["errors"] = float64(c.Failed + c.TimedOut + c.Unfinished)
	if right := float64(c.OK + c.Miss); right > 0 && l.Window > 0 {
		seconds := float64(l.Window) / 1e9
		v["rate_per_sec"] = float64(c.InWindow) / seconds
		if s := r.ServerCPU; s != nil {
			over := l.Window
			if r.ServerCPUOver != nil {
				over = *r.ServerCPUOver
			}
			cpu(v, "server_cpu", *s, right, over, serverCPUs(t))
		}
		if l.CPU.User+l.CPU.System > 0 {
			cpus := len(t.GeneratorCPUs)
			if l.CPUs > 0 && l.CPUs < cpus {
				cpus = l.CPUs
			}
			cpu(v, "generator_cpu", l.CPU, float64(c.InWindow), l.Window, cpus)
		}
	}
	cold(v, l)
	return v, latency(v, l)
}

// cold is the worst second of the warm-up, among those that begin at a slice: of
// the fewest answers, or in an open loop, where answers come as they are asked
// for, of the slowest one.
func cold(v map[string]float64, l *record.LoadResult) {
	found := false
	for i := range l.Timeline {
		var right, ns, slowest float64
		for j := i; j < len(l.Timeline) && l.Timeline[j].Start < 0 && ns < 1e9; j++ {
			right += float64(l.Timeline[j].Right)
			ns += float64(l.Timeline[j].Length)
			slowest = max(slowest, float64(l.Timeline[j].Max))
		}
		if ns < 1e9 {
			return
		}
		rate := right / (ns / 1e9)
		worse := rate < v["cold_rate_per_sec"]
		if l.Kind == record.Open {
			worse = slowest > v["cold_max_ns"]
		}
		if !found || worse {
			found, v["cold_rate_per_sec"], v["cold_max_ns"] = true, rate, slowest
		}
	}
}

// Known are the numbers that are worked out here. What else is printed is only
// made anew, by the code that printed it.
var Known = []string{
	"rate_per_sec", "offered_per_sec", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns", "errors",
	"server_cpu_ns_per_request", "generator_cpu_ns_per_request", "server_cpu_busy_ratio", "generator_cpu_busy_ratio",
	"ready_ns", "first_answer_ns", "cold_rate_per_sec", "cold_max_ns",
	"idle_pss_bytes", "idle_uss_bytes", "idle_rss_bytes", "load_pss_bytes", "load_uss_bytes", "load_rss_bytes",
	"load_end_pss_bytes", "load_end_uss_bytes", "load_end_rss_bytes", "rest_pss_bytes", "rest_uss_bytes", "rest_rss_bytes",
	"peak_bytes", "processes",
}

// cpu divides CPU time by the requests of its span, and by what the CPUs could give
// in it.
func cpu(v map[string]float64, of string, used record.CPUTime, requests float64, span time.Duration, cpus int) {
	ns := float64(used.User + used.System)
	if requests > 0 {
		v[of+"_ns_per_request"] = ns / requests
	}
	if cpus > 0 && span > 0 {
		v[of+"_busy_ratio"] = ns / (float64(span) * float64(cpus))
	}
}

// serverCPUs: a target with k workers uses at most k CPUs, and at most its own.
func serverCPUs(t record.Target) int {
	switch {
	case len(t.CPUs) == 0:
		return t.Workers
	case t.Workers > 1 && t.Workers < len(t.CPUs):
		return t.Workers
	case t.Workers <= 1:
		return 1
	}
	return len(t.CPUs)
}

// latency is response time where there is one: an open loop.
func latency(v map[string]float64, l *record.LoadResult) error {
	h := l.Response
	if h == nil {
		h = l.Service
	}
	if h == nil || h.Count == 0 {
		return nil
	}
	d, err := read(h)
	if err != nil {
		return err
	}
	v["max_ns"] = float64(d.max)
	for _, q := range quantiles {
		if d.n >= q.need {
			v[q.name] = float64(d.quantile(q.permille))
		}
	}
	return nil
}

func memory(v map[string]float64, m *record.MemoryWatch) {
	add := func(phase string, r *record.MemoryReading) {
		if r == nil {
			return
		}
		v[phase+"_rss_bytes"] = float64(r.RSS)
		if r.PSS != nil {
			v[phase+"_pss_bytes"] = float64(*r.PSS)
		}
		if r.USS != nil {
			v[phase+"_uss_bytes"] = float64(*r.USS)
		}
	}
	add("idle", m.Idle)
	add("load_end", m.LoadEnd)
	add("rest", m.Rest)
	series := map[string][]float64{}
	under := m.Load
	if len(under) > 1 && under[0].At < 500_000_000 { // in its first half second it is memory at rest
		under = under[1:]
	}
	for _, at := range under {
		series["load_rss_bytes"] = append(series["load_rss_bytes"], float64(at.RSS))
		if at.PSS != nil {
			series["load_pss_bytes"] = append(series["load_pss_bytes"], float64(*at.PSS))
		}
		if at.USS != nil {
			series["load_uss_bytes"] = append(series["load_uss_bytes"], float64(*at.USS))
		}
	}
	for name, xs := range series {
		v[name] = median(xs)
	}
	if m.PeakBytes != nil {
		v["peak_bytes"] = float64(*m.PeakBytes)
	}
	if m.LoadEnd != nil {
		v["processes"] = float64(m.LoadEnd.Processes)
	}
}

// median is the value in the middle, or half-way between the two; of at least one.
func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	if n%2 == 1 {
		return xs[n/2]
	}
	return (xs[n/2-1] + xs[n/2]) / 2
}
