package load

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// simulation runs a phase in virtual time: no clock, no sockets. The server
// answers each request after a time of its choice.
type simulation struct {
	rec   *recorder
	phase *phase
	spec  record.LoadSpec
	lanes []*lane
	done  []time.Duration // when each lane's reply comes; forever while idle
	now   time.Duration
	think time.Duration // of the generator between a reply and the next request
	lose  func(n int) bool
}

func simulate(t *testing.T, spec record.LoadSpec, service func(sent time.Duration) time.Duration, shape func(*simulation)) *record.LoadResult {
	t.Helper()
	s, err := newStream(&spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{spec: &spec, rec: newRecorder(spec.Kind == record.Open, 8, time.Second), engine: &netEngine{live: spec.Connections}}
	sim := &simulation{rec: r.rec, phase: r.phase(0, spec.Window, 0, spec.Count), spec: spec}
	if shape != nil {
		shape(sim)
	}
	for i := range spec.Connections {
		l := newLane(i, s)
		sim.lanes, sim.done = append(sim.lanes, &l), append(sim.done, forever)
	}
	sim.run(service)
	sim.phase.finish(sim.now, false)
	return r.result()
}

func (s *simulation) run(service func(time.Duration) time.Duration) {
	free := slices.Clone(s.lanes)
	for n := 0; ; {
		for len(free) > 0 && s.phase.give(free[0], s.now, free[0].freeAt) {
			l := free[0]
			free = free[1:]
			l.x.sent = s.now
			s.rec.sent(&l.x, l.size())
			s.done[l.x.connection] = s.now + service(s.now)
		}
		next := slices.Min(s.done)
		if s.phase.open != nil && len(free) > 0 {
			if due, more := s.phase.due(); more {
				next = min(next, due)
			}
		}
		if next == forever {
			return
		}
		s.now = next
		for i, at := range s.done {
			if at > s.now {
				continue
			}
			l := s.lanes[i]
			l.x.first, l.x.done = at, at
			s.done[i] = forever
			if n++; s.lose == nil || !s.lose(n) {
				s.rec.right(&l.x, 0)
			} else {
				s.rec.landed(at, 0, &l.x)
			}
			l.freeAt = at
			s.now += s.think
			free = append(free, l)
		}
	}
}

func failing(res *record.LoadResult) (names []string) {
	for _, c := range res.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

func closedSpec(connections int, window time.Duration) record.LoadSpec {
	return record.LoadSpec{Requests: []record.Request{{Method: "GET", Path: "/"}}, Kind: record.Closed,
		Connections: connections, Window: window, Timeout: time.Minute, Host: "h"}
}

// K1: an exact closed queue passes; losing samples, or thinking 1 ms at 5 ms of
// service, fails.
func TestLittlesLaw(t *testing.T) {
	five := func(time.Duration) time.Duration { return 5 * time.Millisecond }
	if res := simulate(t, closedSpec(1, 10*time.Second), five, nil); len(failing(res)) != 0 || res.Counts.OK != 2000 {
		t.Errorf("an exact queue fails %v, %d requests", failing(res), res.Counts.OK)
	}
	lost := simulate(t, closedSpec(20, 10*time.Second), five, func(s *simulation) { s.lose = func(n int) bool { return n%10 == 0 } })
	if f := failing(lost); !slices.Contains(f, "time in flight to time recorded") || !slices.Contains(f, "planned = answered + failed + timed out + unfinished") {
		t.Errorf("losing every tenth sample fails only %v", f)
	}
	// 5 ms of every 6 ms: 0.833
	thinking := simulate(t, closedSpec(1, 10*time.Second), five, func(s *simulation) { s.think = time.Millisecond })
	if f := failing(thinking); !slices.Equal(f, []string{"duty ratio"}) {
		t.Errorf("thinking fails %v, want duty ratio alone", f)
	}
}

// A count off by one anywhere is seen.
func TestConservation(t *testing.T) {
	for name, spoil := range map[string]func(*record.LoadResult){
		"planned":   func(r *record.LoadResult) { r.Counts.Planned++ },
		"ok":        func(r *record.LoadResult) { r.Counts.OK-- },
		"failed":    func(r *record.LoadResult) { r.Counts.Failed++ },
		"in window": func(r *record.LoadResult) { r.Counts.InWindow-- },
		"slice":     func(r *record.LoadResult) { r.Timeline[3].Right++ },
		"histogram": func(r *record.LoadResult) { r.Service.Count-- },
		"dials":     func(r *record.LoadResult) { r.NewDials++ },
		"one gone":  func(r *record.LoadResult) { r.Connections-- },
		"gc":        func(r *record.LoadResult) { r.GCPause = r.Window / 500 },
		"cpu":       func(r *record.LoadResult) { r.CPUs, r.CPU.System = 1, r.Window*9/10 },
		"ceiling":   func(r *record.LoadResult) { c := 1000.0; r.CeilingPerSec = &c }, // 4 of 5 ms: 800/s
	} {
		spec := closedSpec(4, 5*time.Second)
		res := simulate(t, spec, func(time.Duration) time.Duration { return 5 * time.Millisecond }, nil)
		if f := failing(res); len(f) != 0 {
			t.Fatalf("unspoilt: %v", f)
		}
		spoil(res)
		if res.Checks = Judge(&spec, res); len(failing(res)) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

// G1: constant rate, one stall of 2 s in 60 s, otherwise next to nothing: the
// true p99 is T - 0.01 D = 1.4 s. The same stall taken from the send time in a
// closed loop of one connection hides.
func TestCoordinatedOmission(t *testing.T) {
	stall := func(sent time.Duration) time.Duration {
		const from, to = 30 * time.Second, 32 * time.Second
		if sent >= from && sent < to {
			return to - sent
		}
		return time.Microsecond
	}
	open := closedSpec(10, time.Minute)
	open.Kind, open.RatePerSec = record.Open, 200
	res := simulate(t, open, stall, nil)
	if p99 := quantile(t, res.Response, 0.99); p99 < 1386*time.Millisecond || p99 > 1414*time.Millisecond {
		t.Errorf("p99 %v, want 1.4 s within 1 %%", p99)
	}
	if res.Counts.Planned != 12_000 || res.Counts.OK != 12_000 { // 200/s x 60 s
		t.Errorf("counts %+v", res.Counts)
	}
	// From the send, ten requests of 12 000 waited.
	if p99 := quantile(t, res.Service, 0.99); p99 > time.Millisecond {
		t.Errorf("the times from the send see a p99 of %v: this test cannot fail", p99)
	}
	one := closedSpec(1, time.Minute)
	closed := simulate(t, one, func(sent time.Duration) time.Duration { return max(stall(sent), time.Millisecond) }, nil)
	if p99 := quantile(t, closed.Service, 0.99); p99 > 2*time.Millisecond {
		t.Errorf("a closed loop sees a p99 of %v: this test cannot fail", p99)
	}
	if closed.Service.Max != 2*time.Second {
		t.Errorf("closed loop: maximum %v", closed.Service.Max)
	}
}

func quantile(t *testing.T, h *record.Histogram, q float64) time.Duration {
	t.Helper()
	d, err := histogram.Decode(h)
	if err != nil {
		t.Fatal(err)
	}
	return d.Quantile(q)
}

// G8: one connection, 10 ms of service, 200/s: the open loop has become a closed one.
func TestPoolTooSmall(t *testing.T) {
	spec := closedSpec(1, 10*time.Second)
	spec.Kind, spec.RatePerSec = record.Open, 200
	res := simulate(t, spec, func(time.Duration) time.Duration { return 10 * time.Millisecond }, nil)
	f := failing(res)
	if !slices.Contains(f, "requests that waited for a connection") || !slices.Contains(f, "sent in time") {
		t.Errorf("fails %v", f)
	}
	// C27: 100/s is possible, 200/s was asked: half is sent in time, and none is lost.
	if res.SentInTime != 1000 || res.Counts.Planned != 2000 || res.Counts.OK != 2000 {
		t.Errorf("%d sent in time, counts %+v", res.SentInTime, res.Counts)
	}
	if p := quantile(t, res.Pacing, 1); p != 0 {
		t.Errorf("%v of waiting for a connection counts as the generator's own", p)
	}
}

// M/M/1 at rate 500/s and a service of 1 ms: mean 1/(1000-500) = 2 ms, p99 =
// 4.605 x 2 ms = 9.21 ms. One connection is the queue.
func TestMM1(t *testing.T) {
	spec := closedSpec(1, 500*time.Second)
	spec.Kind, spec.RatePerSec, spec.Arrivals, spec.Timeout = record.Open, 500, poisson, time.Hour
	rng := rand.New(rand.NewPCG(3, 4))
	res := simulate(t, spec, func(time.Duration) time.Duration { return time.Duration(rng.ExpFloat64() * 1e6) }, nil)
	if m := res.Response.Mean.Seconds() * 1e3; m < 1.95 || m > 2.05 {
		t.Errorf("mean %.3f ms, want 2", m)
	}
	if p := quantile(t, res.Response, 0.99).Seconds() * 1e3; p < 8.9 || p > 9.5 {
		t.Errorf("p99 %.3f ms, want 9.21", p)
	}
}
