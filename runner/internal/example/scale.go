package example

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gonogo/runner/histogram"
	plans "gonogo/runner/plan"
	"gonogo/runner/record"
)

// Sweep is the truth of an arm of Scale: the law of its rate, and its memory.
type Sweep struct {
	Rate, Contention, Coherence float64 // of X(n) = Rate n / (1 + Contention (n-1) + Coherence n (n-1))
	Bytes, Each                 float64 // memory without a connection, and of one
	// GeneratorFrom is the level from which the generator is the limit; 0: at none.
	GeneratorFrom int
}

// Sweeps are the arms. node-1 is method P4's: the law is highest at sqrt(0.98/0.0005) = 44.27.
var Sweeps = map[string]Sweep{
	"node-1": {1000, 0.02, 0.0005, 60 << 20, 12 << 10, 0},
	"go-1":   {1500, 0.01, 0.0002, 12 << 20, 20 << 10, 32},
}

// Scale is a complete session of scale over connections, whose servers are arithmetic
// with a deviation of 1 % between processes. Each call gives another copy.
func Scale() *record.Session {
	var s record.Session
	if err := json.Unmarshal(scaleEncoded(), &s); err != nil {
		panic("example session: " + err.Error()) // it was written below
	}
	return &s
}

var scaleEncoded = sync.OnceValue(func() []byte {
	b, err := json.Marshal(scaleSession())
	if err != nil {
		panic("example session: " + err.Error())
	}
	return b
})

func scaleSession() *record.Session {
	p, err := plans.NewScale(plans.ScaleOptions{Kit: "example", Factor: plans.Connections([]float64{1, 2, 4, 8, 16, 32, 64, 128}), Seed: 1, Repeats: 6,
		CPUs: plans.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}})
	if err != nil {
		panic("example session: " + err.Error())
	}
	p.Rules.Scale.Resamples = 200 // tests are to be fast
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-sweep1", Started: epoch, Finished: epoch.Add(9 * time.Minute), Plan: *p, Host: session().Host}
	for _, t := range p.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 120, ReplyBytesGET: 200})
		probed := record.Run{SchemaVersion: record.SchemaVersion, Step: record.Step{Target: t.Name, Scenario: p.Probe.Name}, Outcome: record.Done, Started: epoch,
			Load: &record.LoadResult{Kind: record.Closed}}
		s.Probes = append(s.Probes, record.Probe{Target: t.Name, CapacityPerSec: 20_000, Run: probed})
	}
	rng := rand.New(rand.NewPCG(6, 2))
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		s.Runs = append(s.Runs, swept(sc, st, rng))
	}
	return s
}

// swept is a run of a sweep.
func swept(sc record.Scenario, st record.Step, rng *rand.Rand) record.Run {
	truth, n := Sweeps[st.Target], float64(sc.Connections)
	off := 1 + 0.01*rng.NormFloat64()
	l := &record.LoadResult{Engine: "epoll", Kind: record.Closed, Connections: sc.Connections, Window: sc.Window, Warmup: sc.Warmup, CPUs: 1, Start: epoch.Add(time.Duration(st.Index) * 2 * time.Second)}
	r := record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: l.Start, Took: 2 * time.Second, Ready: 20 * time.Millisecond,
		Settings: &record.Settings{Runtime: "go", Version: "example"}, Load: l}
	if sc.Kind == record.Memory {
		r.OfferedPerSec, l.Kind = 3000, record.Open
		answers := uint64(r.OfferedPerSec * sc.Window.Seconds())
		l.Counts = record.Counts{Planned: answers, OK: answers, InWindow: answers}
		pss := uint64(truth.Bytes + n*truth.Each + 30e3*rng.NormFloat64())
		r.Memory = &record.MemoryWatch{Method: "smaps_rollup", LoadEnd: &record.MemoryReading{Processes: 1, PSS: &pss, RSS: pss}}
		return r
	}
	rate := off * truth.Rate * n / (1 + truth.Contention*(n-1) + truth.Coherence*n*(n-1))
	answers := uint64(math.Round(rate * sc.Window.Seconds()))
	l.Counts = record.Counts{Planned: answers, OK: answers, InWindow: answers}
	flight := 0.99 * n
	l.InFlightMean = &flight
	busy := min(0.97, 0.3+0.1*n) // server-bound from 8 on
	own := 0.4
	if truth.GeneratorFrom > 0 && sc.Connections >= truth.GeneratorFrom {
		busy, own = 0.6, 0.93
	}
	r.ServerCPU = &record.CPUTime{User: time.Duration(busy * float64(sc.Window))}
	l.CPU = record.CPUTime{User: time.Duration(own * float64(sc.Window))}
	h := histogram.New()
	for range 400 {
		h.Record(time.Duration(n / rate * 1e9 * math.Exp(0.3*rng.NormFloat64())))
	}
	l.Service = h.Encode()
	return r
}
