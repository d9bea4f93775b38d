package example

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/histogram"
	plans "gonogo/runner/plan"
	"gonogo/runner/record"
)

// Service is the mean service time of the two queues that Capacity searches, M/M/1
// both: p95 of the response time is 20 ms at 1/S - 2.9957/20 ms.
var Service = map[string]time.Duration{"go-1": 500 * time.Microsecond, "node-1": time.Millisecond}

// Capacity is a complete session of capacity, whose servers are arithmetic. Each call
// gives another copy.
func Capacity() *record.Session {
	var s record.Session
	if err := json.Unmarshal(capacityEncoded(), &s); err != nil {
		panic("example session: " + err.Error()) // it was written below
	}
	return &s
}

var capacityEncoded = sync.OnceValue(func() []byte {
	b, err := json.Marshal(capacitySession())
	if err != nil {
		panic("example session: " + err.Error())
	}
	return b
})

func capacitySession() *record.Session {
	p, err := plans.NewCapacity(plans.CapacityOptions{Kit: "example", Targets: []string{"go-1", "node-1"}, Seed: 1, Repeats: 1, Quantile: 0.95, SLO: 20 * time.Millisecond,
		CPUs: plans.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}})
	if err != nil {
		panic("example session: " + err.Error())
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-example", Started: epoch, Finished: epoch.Add(12 * time.Minute), Plan: *p, Host: session().Host}
	for _, t := range p.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 120, ReplyBytesGET: 200})
		probed := record.Run{SchemaVersion: record.SchemaVersion, Step: record.Step{Target: t.Name, Scenario: p.Probe.Name}, Outcome: record.Done, Started: epoch,
			Load: &record.LoadResult{Kind: record.Closed}}
		s.Probes = append(s.Probes, record.Probe{Target: t.Name, CapacityPerSec: 1 / Service[t.Name].Seconds(), Run: probed})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	found := map[record.Step]float64{}
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		if sc.Kind == record.Capacity {
			s.Runs = append(s.Runs, searchedRuns(p, sc, st, rng, found)...)
		} else if rate := found[record.Step{Block: st.Block, Target: st.Target}]; rate > 0 {
			s.Runs = append(s.Runs, overloaded(sc, st, rate, rng))
		}
	}
	return s
}

func searchedRuns(p *record.Plan, sc record.Scenario, st record.Step, rng *rand.Rand, found map[record.Step]float64) []record.Run {
	rules := *p.Rules.Capacity
	search := capacity.New(rules, 1/Service[st.Target].Seconds())
	var runs []record.Run
	for {
		rate, more := search.Next()
		if !more {
			break
		}
		st.Trial = len(runs) + 1
		window := max(6*time.Second, time.Duration(1.1*float64(rules.RequestsMin)/rate*float64(time.Second)))
		r := queued(sc, st, rate, window, rng)
		if err := search.Tell(capacity.Judge(rules, capacity.Look(rules, &r, false))); err != nil {
			panic("example session: " + err.Error())
		}
		runs = append(runs, r)
	}
	if rate, ok := search.Answer().Middle(); ok {
		found[record.Step{Block: st.Block, Target: st.Target}] = rate
	}
	return runs
}

func overloaded(sc record.Scenario, st record.Step, rate float64, rng *rand.Rand) record.Run {
	r := queued(sc, st, math.Round(rate*sc.Overload.RateOfCapacity), sc.Window, rng)
	r.Load.Intervals = nil
	w := &record.OverloadWatch{CapacityPerSec: rate, HealthAsked: 200}
	for i := range 200 {
		w.Health = append(w.Health, time.Duration(1+i%5)*time.Millisecond)
	}
	fast := 2 * time.Millisecond
	w.Recovery = []record.RecoveryStep{{At: 300 * time.Millisecond, RatePerSec: rate / 2, Limits: []string{string(capacity.SLO)}}, {At: 1400 * time.Millisecond, RatePerSec: rate / 2, Passed: true, Latency: &fast}}
	r.Overload = w
	return r
}

// queued is a run against a queue, by Lindley's recursion.
func queued(sc record.Scenario, st record.Step, rate float64, window time.Duration, rng *rand.Rand) record.Run {
	begin := epoch.Add(time.Duration(st.Index*60+st.Trial*6) * time.Second)
	l := &record.LoadResult{Engine: "epoll", Kind: record.Open, Connections: sc.Connections, Start: begin, Window: window, Warmup: sc.Warmup,
		CPU: record.CPUTime{User: 500 * time.Millisecond, System: 700 * time.Millisecond}, CPUs: 1}
	whole := histogram.New()
	each := make([]*histogram.H, int(math.Ceil(window.Seconds())))
	now, free, service := -1.0, -1.0, Service[st.Target].Seconds()
	for {
		if now += rng.ExpFloat64() / rate; now >= window.Seconds() {
			break
		}
		free = max(free, now) + service*rng.ExpFloat64()
		if now < 0 {
			continue
		}
		took := time.Duration((free - now) * 1e9)
		whole.Record(took)
		at := int(min(free, window.Seconds()-1e-9))
		if each[at] == nil {
			each[at] = histogram.New()
		}
		each[at].Record(took)
		l.Counts.Planned++
		if free < window.Seconds() {
			l.Counts.InWindow++
		}
	}
	l.Counts.OK = l.Counts.Planned
	l.SentInTime = l.Counts.Planned
	l.Response = whole.Encode()
	l.Service = l.Response // all that is sent at once
	for i, h := range each {
		if h != nil {
			start := time.Duration(i) * time.Second
			l.Intervals = append(l.Intervals, record.Interval{Start: start, Length: min(time.Second, window-start), Response: h.Encode()})
		}
	}
	return record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: begin, Took: window + 2*time.Second, OfferedPerSec: rate,
		Ready: 20 * time.Millisecond, LogFile: fmt.Sprintf("logs/%04d-%s.%s.b%02d.t%02d.log", st.Index+1, st.Target, st.Scenario, st.Block, st.Trial), Load: l,
		ServerCPU: &record.CPUTime{User: window / 2, System: window / 4}}
}
