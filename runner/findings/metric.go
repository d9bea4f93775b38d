package findings

import (
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Metric names one number of a run. Its unit is the end of its name, as in the
// archive: nanoseconds, bytes, requests per second, or a ratio of 0..1.
type Metric string

const (
	Rate          Metric = "rate_per_sec"    // right answers that arrived in the window / its length
	Offered       Metric = "offered_per_sec" // open loop: what was asked for
	P50           Metric = "p50_ns"
	P90           Metric = "p90_ns"
	P95           Metric = "p95_ns"
	P99           Metric = "p99_ns"
	P999          Metric = "p999_ns"
	Max           Metric = "max_ns"
	Bad           Metric = "errors"
	ServerCPU     Metric = "server_cpu_ns_per_request" // of the whole tree / right answers
	GeneratorCPU  Metric = "generator_cpu_ns_per_request"
	ServerBusy    Metric = "server_cpu_busy_ratio" // CPU time / (window x CPUs)
	GeneratorBusy Metric = "generator_cpu_busy_ratio"
	Ready         Metric = "ready_ns"          // exec to the first right answer with the token
	FirstAnswer   Metric = "first_answer_ns"   // exec to a right answer of the API, an upper bound
	ColdRate      Metric = "cold_rate_per_sec" // right answers in the worst second of the warm-up
	ColdMax       Metric = "cold_max_ns"       // largest latency in it

	IdlePSS    Metric = "idle_pss_bytes"
	LoadPSS    Metric = "load_pss_bytes" // median of the readings under load
	LoadUSS    Metric = "load_uss_bytes"
	LoadRSS    Metric = "load_rss_bytes" // summed: shared pages count once a process
	LoadEndPSS Metric = "load_end_pss_bytes"
	LoadEndRSS Metric = "load_end_rss_bytes"
	RestPSS    Metric = "rest_pss_bytes"
	Peak       Metric = "peak_bytes" // sum of each process's own peak
	Trees      Metric = "processes"  // of the tree, at the end of load
)

// Metrics are all metrics, in the order of the columns of runs.csv.
var Metrics = []Metric{
	Rate, Offered, P50, P90, P95, P99, P999, Max, Bad, ServerCPU, GeneratorCPU, ServerBusy, GeneratorBusy, Ready, FirstAnswer, ColdRate, ColdMax,
	IdlePSS, "idle_uss_bytes", "idle_rss_bytes", LoadPSS, LoadUSS, LoadRSS,
	LoadEndPSS, "load_end_uss_bytes", LoadEndRSS, RestPSS, "rest_uss_bytes", "rest_rss_bytes", Peak, Trees,
}

// quantiles are the percentiles that are reported, with the samples each needs:
// the least n for which a two-sided 95 % interval of the quantile exists at all
// (6, 36, 72, 368), and ten times that for p99.9 (36 880), because requests are
// correlated and the tail rests on one sample in a thousand (method S3).
var quantiles = []struct {
	metric Metric
	q      float64
	need   uint64
}{
	{P50, 0.5, needed(0.5)},
	{P90, 0.9, needed(0.9)},
	{P95, 0.95, needed(0.95)},
	{P99, 0.99, needed(0.99)},
	{P999, 0.999, 10 * needed(0.999)},
}

// isQuantile tells whether a cell shows the metric only if each of its runs has
// it: runs with more samples than the others are the faster ones, and a median
// over them alone would flatter.
func isQuantile(m Metric) bool {
	for _, q := range quantiles {
		if q.metric == m {
			return true
		}
	}
	return false
}

func needed(q float64) uint64 {
	n, _ := stats.SamplesNeeded(q, 0.95)
	return uint64(n)
}

// process reads one run. A run that does not count comes back as Discarded.
func process(r *record.Run, t record.Target) (Process, *Discarded) {
	drop := func(o record.Outcome, reason string) (Process, *Discarded) {
		return Process{}, &Discarded{Step: r.Step.Key(), Attempt: r.Attempt, Outcome: o, Reason: reason, LogFile: r.LogFile}
	}
	if r.Outcome != record.Done {
		return drop(r.Outcome, r.Reason)
	}
	for _, c := range checks(r) {
		if c.Void && !c.OK {
			return drop(record.Void, fmt.Sprintf("%s: %s (limit %s)", c.Name, c.Observed, c.Limit))
		}
	}
	p := Process{Step: r.Step, Attempt: r.Attempt, Values: map[Metric]float64{}, run: r}
	if err := p.latency(r.Load); err != nil {
		return drop(record.Void, err.Error())
	}
	p.throughput(r, t)
	p.start(r)
	if r.Memory != nil {
		p.memory(r.Memory)
	}
	return p, nil
}

// start takes what is known of the process's first seconds.
func (p *Process) start(r *record.Run) {
	if r.Ready > 0 {
		p.Values[Ready] = float64(r.Ready)
	}
	if r.FirstAnswer != nil {
		p.Values[FirstAnswer] = float64(*r.FirstAnswer)
	}
	if rate, longest, ok := cold(r.Load, r.Load.Kind); ok {
		p.Values[ColdRate], p.Values[ColdMax] = rate, float64(longest)
	}
}

func checks(r *record.Run) []record.Check {
	all := r.Checks[:len(r.Checks):len(r.Checks)]
	if r.Load != nil {
		all = append(all, r.Load.Checks...)
	}
	return all
}

// latency takes the response time where there is one. In a closed loop a request
// is intended when it is sent, and there is the service time alone.
func (p *Process) latency(l *record.LoadResult) error {
	from := l.Response
	if from == nil {
		from = l.Service
	}
	if from == nil || from.Count == 0 {
		return nil
	}
	h, err := histogram.Decode(from)
	if err != nil {
		return err
	}
	p.Samples = h.Count()
	p.tail, p.typical = float64(h.Quantile(0.999)), h.Quantile(0.5)
	p.Values[Max] = float64(h.Max())
	for _, q := range quantiles {
		if p.Samples >= q.need {
			p.Values[q.metric] = float64(h.Quantile(q.q))
		}
	}
	return nil
}

func (p *Process) throughput(r *record.Run, t record.Target) {
	l := r.Load
	answered, window := float64(l.Counts.Answered()), l.Window
	p.Values[Bad] = float64(l.Counts.Bad())
	if r.OfferedPerSec > 0 {
		p.Values[Offered] = r.OfferedPerSec
	}
	if answered == 0 || window <= 0 {
		return
	}
	p.Values[Rate] = float64(l.Counts.InWindow) / window.Seconds()
	account := func(c record.CPUTime, requests float64, over time.Duration, perRequest, busy Metric, cpus int) {
		if requests > 0 {
			p.Values[perRequest] = float64(c.Total()) / requests
		}
		if cpus > 0 && over > 0 {
			p.Values[busy] = float64(c.Total()) / (float64(over) * float64(cpus))
		}
	}
	// The server's time is read after the last reply was drained, the generator's at
	// the window's edge: each is divided by what falls into its own span.
	if r.ServerCPU != nil {
		over := window
		if r.ServerCPUOver != nil {
			over = *r.ServerCPUOver
		}
		account(*r.ServerCPU, answered, over, ServerCPU, ServerBusy, serverCPUs(t))
	}
	if l.CPU.Total() > 0 {
		account(l.CPU, float64(l.Counts.InWindow), window, GeneratorCPU, GeneratorBusy, generatorCPUs(t, l))
	}
}

// generatorCPUs is how many CPUs a generator can use: those that it has, and no
// more than it has threads for.
func generatorCPUs(t record.Target, l *record.LoadResult) int {
	if l.CPUs > 0 {
		return min(len(t.GeneratorCPUs), l.CPUs)
	}
	return len(t.GeneratorCPUs)
}

// serverCPUs is how many CPUs a target can use.
func serverCPUs(t record.Target) int {
	if len(t.CPUs) == 0 {
		return t.Workers
	}
	return min(len(t.CPUs), max(t.Workers, 1))
}

func (p *Process) memory(m *record.MemoryWatch) {
	for _, at := range []struct {
		phase string
		r     *record.MemoryReading
	}{{"idle", m.Idle}, {"load_end", m.LoadEnd}, {"rest", m.Rest}} {
		if at.r == nil {
			continue
		}
		for kind, bytes := range kinds(*at.r) {
			p.Values[Metric(at.phase+"_"+kind+"_bytes")] = bytes
		}
	}
	series := map[string][]float64{}
	for i, at := range m.Load {
		if i == 0 && len(m.Load) > 1 && at.At < time.Second/2 {
			continue // taken as load began: memory at rest
		}
		for kind, bytes := range kinds(at.MemoryReading) {
			series[kind] = append(series[kind], bytes)
		}
	}
	for kind, bytes := range series {
		if v, ok := stats.Median(bytes); ok {
			p.Values[Metric("load_"+kind+"_bytes")] = v
		}
	}
	if m.PeakBytes != nil {
		p.Values[Peak] = float64(*m.PeakBytes)
	}
	if m.LoadEnd != nil {
		p.Values[Trees] = float64(m.LoadEnd.Processes)
	}
}

// kinds are the kinds of memory that a reading knows.
func kinds(r record.MemoryReading) map[string]float64 {
	k := map[string]float64{"rss": float64(r.RSS)}
	if r.PSS != nil {
		k["pss"] = float64(*r.PSS)
	}
	if r.USS != nil {
		k["uss"] = float64(*r.USS)
	}
	return k
}
