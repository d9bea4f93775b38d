package example

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/histogram"
	plans "gonogo/runner/plan"
	"gonogo/runner/record"
)

// What the servers of Delayed do: CPU time of a request, and what its p99 is above its
// wait; its median is 1 ms above.
var (
	delayedCPU = map[string]time.Duration{"go-1": 20 * time.Microsecond, "node-1": 30 * time.Microsecond}
	delayedP99 = map[string]time.Duration{"go-1": 1400 * time.Microsecond, "node-1": 2400 * time.Microsecond}
)

// Delayed is a complete session of scale over waits of 0, 1, 5 and 20 ms, whose servers
// are arithmetic with a deviation of 0.3 % between processes.
func Delayed() *record.Session {
	f, err := plans.Delay([]float64{0, 1, 5, 20}, 1)
	if err != nil {
		panic("example session: " + err.Error())
	}
	p, err := plans.NewScale(plans.ScaleOptions{Kit: "example", Factor: f, Seed: 1, Repeats: 6, CPUs: plans.CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}})
	if err != nil {
		panic("example session: " + err.Error())
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261201T040000Z-delays", Started: epoch, Finished: epoch.Add(5 * time.Minute), Plan: *p, Host: session().Host}
	for _, t := range p.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 120, ReplyBytesGET: 200})
		probed := record.Run{SchemaVersion: record.SchemaVersion, Step: record.Step{Target: t.Name, Scenario: p.Probe.Name}, Outcome: record.Done, Started: epoch,
			Load: &record.LoadResult{Kind: record.Closed}}
		s.Probes = append(s.Probes, record.Probe{Target: t.Name, CapacityPerSec: 20_000, Run: probed})
	}
	rng := rand.New(rand.NewPCG(6, 3))
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		s.Runs = append(s.Runs, waited(sc, st, rng))
	}
	return s
}

// waited is a run of Delayed: a closed loop brings what the CPU allows or what so many
// connections do that each wait, whichever is less.
func waited(sc record.Scenario, st record.Step, rng *rand.Rand) record.Run {
	at := strings.LastIndexByte(st.Target, '-')
	arm := st.Target[:at]
	ms, err := strconv.Atoi(strings.TrimSuffix(st.Target[at+1:], "ms"))
	if err != nil {
		panic("example session: " + err.Error())
	}
	wait, cpu, off := time.Duration(ms)*time.Millisecond, delayedCPU[arm], 1+0.003*rng.NormFloat64()
	kind := sc.Kind
	if kind == record.Memory {
		kind = record.Open
	}
	l := &record.LoadResult{Engine: "epoll", Kind: kind, Connections: sc.Connections, Window: sc.Window, Warmup: sc.Warmup, CPUs: 1, Start: epoch.Add(time.Duration(st.Index) * 2 * time.Second)}
	r := record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: l.Start, Took: 2 * time.Second, Ready: 20 * time.Millisecond,
		Settings: &record.Settings{Runtime: "go", Version: "example"}, Load: l}
	rate := sc.RatePerSec
	switch sc.Kind {
	case record.Memory:
		rate = 300
		pss := uint64(20 << 20)
		r.Memory = &record.MemoryWatch{Method: "smaps_rollup", LoadEnd: &record.MemoryReading{Processes: 1, PSS: &pss, RSS: pss}}
	case record.Closed:
		rate = 1 / cpu.Seconds()
		if wait > 0 {
			rate = min(rate, float64(sc.Connections)/(wait+time.Millisecond).Seconds())
		}
		rate *= off
	}
	answers := uint64(rate * sc.Window.Seconds())
	l.Counts = record.Counts{Planned: answers, OK: answers, InWindow: answers}
	if kind == record.Open {
		r.OfferedPerSec, l.SentInTime = rate, answers
	}
	if sc.Kind == record.Memory {
		return r
	}
	flight := rate * (wait + time.Millisecond).Seconds()
	l.InFlightMean = &flight
	r.ServerCPU = &record.CPUTime{User: time.Duration(float64(answers) * float64(cpu) * off)}
	l.CPU = record.CPUTime{User: time.Duration(0.2 * float64(sc.Window))}
	h := histogram.New()
	for i := range 2000 {
		d := wait + time.Millisecond
		if i%50 == 0 { // two in a hundred
			d = wait + delayedP99[arm]
		}
		h.Record(time.Duration(float64(d) * off))
	}
	l.Service = h.Encode()
	if kind == record.Open {
		l.Response = h.Encode()
	}
	return r
}
