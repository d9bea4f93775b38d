package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

const ms = time.Millisecond

// edge is the window's first edge on the clock that the meter keeps.
const edge = 1000 * time.Second

// story gives a run a quiet meter on CPUs 1 and 2, counters that did not move, and
// 10 000 requests of 1 ms but for the slow ones. The server of pair uses CPU 0, the
// generator CPU 1, nobody CPU 2.
func story(r *record.Run, slow ...record.Slow) {
	h := histogram.New()
	for range 10_000 - len(slow) {
		h.Record(ms)
	}
	slices.SortFunc(slow, func(a, b record.Slow) int { return int((b.Done - b.Intended) - (a.Done - a.Intended)) })
	for _, s := range slow {
		h.Record(s.Done - s.Intended)
	}
	at := edge
	r.Load.Service, r.Load.Slowest, r.Load.StartMonotonic = h.Encode(), slow, &at
	r.Load.Counts.Planned = 10_000
	r.Hiccups = &record.Hiccups{CPUs: []record.CPUHiccups{{CPU: 1}, {CPU: 2}}}
	r.Environment = &record.Environment{Steal: new(time.Duration), QuotaStops: new(uint64), QuotaStopped: new(time.Duration),
		Retransmits: new(uint64), TCPTimeouts: new(uint64)}
}

// took is a request that was sent at a time of the window.
func took(at, d time.Duration) record.Slow {
	return record.Slow{Intended: at, Sent: at, FirstByte: at + d, Done: at + d}
}

// hiccup adds one to what the meter saw on a CPU, from the window's first edge.
func hiccup(r *record.Run, cpu int, at, length time.Duration) {
	for i := range r.Hiccups.CPUs {
		if c := &r.Hiccups.CPUs[i]; c.CPU == cpu {
			c.Events = append(c.Events, record.Hiccup{Start: edge + at, Length: length})
			return
		}
	}
	r.Hiccups.CPUs = append(r.Hiccups.CPUs, record.CPUHiccups{CPU: cpu, Events: []record.Hiccup{{Start: edge + at, Length: length}}})
}

func shared(s *record.Session) {
	s.Plan.Targets[0].CPUs, s.Plan.Targets[0].GeneratorCPUs = []int{0, 1}, []int{0, 1}
}

// TestLateSends is the open loop: a request that was due while the generator was
// stopped, and one that had to wait for a connection because the server was slow.
func TestLateSends(t *testing.T) {
	for _, c := range []struct {
		name   string
		pacing time.Duration // longest of the generator's own
		want   Class
	}{
		{"sent late", 250 * ms, Generator},
		{"all connections were busy", ms / 10, Unexplained},
	} {
		s := pair(6)
		for b := 1; b <= 6; b++ {
			story(of(s, "a", b))
			of(s, "a", b).Load.Response = of(s, "a", b).Load.Service
		}
		r := of(s, "a", 3)
		story(r, record.Slow{Intended: 500 * ms, Sent: 750 * ms, FirstByte: 751 * ms, Done: 751 * ms})
		r.Load.Response, r.Load.Pacing = r.Load.Service, flat(100, c.pacing)
		cell, _ := ptr(Evaluate(s)).Cell("a", "get")
		if m := cell.Maximum; m.Class != c.want {
			t.Errorf("%s: %s, %s", c.name, m.Class, m.Text)
		}
	}
}

// TestExcessOverTheMedian: 300 connections of 10 000 requests are held up by the
// server for 250 ms while a CPU hiccups for 5 ms. The run's p99.9 is the stall, so
// over p99.9 (the method's excess) nothing is left to explain, and 5 ms would pass
// for the cause of 250.
func TestExcessOverTheMedian(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		at := time.Duration(200*b) * ms
		r := of(s, "a", b)
		story(r, slices.Repeat([]record.Slow{took(at, 251*ms)}, 300)...)
		r.Load.Slowest = r.Load.Slowest[:64]
		hiccup(r, 2, at+100*ms, 5*ms)
	}
	e := Evaluate(s)
	if p := e.Cells[0].Processes[0]; p.tail < 250e6 {
		t.Fatalf("p99.9 is %v: the stall does not move it, and the test shows nothing", p.tail)
	}
	if m := e.Cells[0].Maximum; m.Class != Unexplained || m.Standing != Reproduced {
		t.Errorf("%s, %s: %s", m.Class, m.Standing, m.Text)
	}
}

// TestStandings are the counts of method M4.
func TestStandings(t *testing.T) {
	for _, c := range []struct {
		seen, own, of int
		want          Standing
	}{
		{3, 3, 3, Reproduced}, {2, 2, 3, Undetermined}, {1, 1, 3, Undetermined},
		{3, 3, 6, Reproduced}, {2, 2, 6, Undetermined}, {1, 1, 6, Undetermined},
		{5, 5, 10, Reproduced}, {4, 4, 10, Undetermined}, {5, 5, 9, Reproduced}, {4, 4, 9, Undetermined},
		{1, 0, 6, Artefact}, {2, 0, 6, Artefact}, {1, 0, 1, Artefact},
		{3, 0, 6, Undetermined}, {6, 0, 6, Undetermined}, // recurs, always with a hiccup: believe neither
		{6, 3, 6, Reproduced}, {6, 2, 6, Undetermined},
		{1, 1, 20, Undetermined}, {1, 1, 21, Artefact}, {2, 2, 30, Undetermined}, // absent from 19, 20, 28
	} {
		m := Maximum{SeenIn: c.seen, Own: c.own, Of: c.of, Needed: neededFor(c.of)}
		if got := m.standing(); got != c.want {
			t.Errorf("seen in %d, own in %d, of %d: %s, want %s", c.seen, c.own, c.of, got, c.want)
		}
	}
}

// TestRejected: what the report strikes through.
func TestRejected(t *testing.T) {
	for _, c := range []struct {
		m    Maximum
		want bool
	}{
		{Maximum{Standing: Artefact, Of: 1}, true},
		{Maximum{Standing: Undetermined, lonely: true, Of: 3}, true},
		{Maximum{Standing: Undetermined, lonely: true, Of: 2}, false},
		{Maximum{Standing: Undetermined, Of: 6}, false},
		{Maximum{Standing: Reproduced, lonely: true, Of: 6}, false},
	} {
		if got := c.m.Rejected(); got != c.want {
			t.Errorf("%+v: %v", c.m, got)
		}
	}
}

// TestNothingToExplain: where all requests take as long, none needs a cause.
func TestNothingToExplain(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		r := of(s, "a", b)
		story(r, took(time.Duration(b*200)*ms, ms))
		r.Load.Pauses = []record.Pause{{Start: 0, Length: 2000 * ms}}
	}
	if m := Evaluate(s).Cells[0].Maximum; m.Class != Unexplained || m.Standing != Reproduced {
		t.Errorf("%+v", m)
	}
}

// TestHalfCovers: half of the excess, to the nanosecond.
func TestHalfCovers(t *testing.T) {
	q := request{excess: 250 * ms}
	if !q.covers(125*ms) || q.covers(125*ms-1) {
		t.Error("half is not the limit")
	}
}

// TestLatencyBegins when it is sent in a closed loop, when it is due in an open one.
func TestLatencyBegins(t *testing.T) {
	slow := record.Slow{Intended: 100 * ms, Sent: 300 * ms, Done: 350 * ms}
	closed := &evidence{run: &record.Run{Load: &record.LoadResult{}}, typical: ms}
	open := &evidence{run: &record.Run{Load: &record.LoadResult{Response: &record.Histogram{}}}, typical: ms}
	if c, o := closed.request(slow), open.request(slow); c.latency != 50*ms || c.from != 300*ms || o.latency != 250*ms || o.from != 100*ms || o.excess != 249*ms {
		t.Errorf("closed %+v, open %+v", c, o)
	}
}

func TestSpans(t *testing.T) {
	at := func(edges ...time.Duration) (all []span) {
		for i := 0; i < len(edges); i += 2 {
			all = append(all, span{edges[i], edges[i+1]})
		}
		return all
	}
	for _, c := range []struct{ got, want []span }{
		{union(at(5, 7, 1, 3)), at(1, 3, 5, 7)},
		{union(at(1, 3, 3, 5)), at(1, 5)},
		{union(at(1, 9, 2, 4, 8, 10)), at(1, 10)},
		{union(at(4, 4, 6, 5)), nil},
		{without(at(0, 10), at(2, 4, 6, 7)), at(0, 2, 4, 6, 7, 10)},
		{without(at(0, 10), at(-1, 3, 9, 12)), at(3, 9)},
		{without(at(0, 10), at(0, 10)), nil},
		{without(at(0, 2, 5, 7), at(1, 6)), at(0, 1, 6, 7)},
		{without(at(0, 2), nil), at(0, 2)},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	// 1..3 and 2..6 cover 4 of 2..10; nothing is covered twice.
	if got := within(at(1, 3, 2, 6), span{2, 10}); got != 4 {
		t.Errorf("covered %d", got)
	}
}

// TestMixedCauses: of six runs two show it by the machine's fault and three of
// their own. Five are seen, three count.
func TestMixedCauses(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		r := of(s, "a", b)
		story(r)
		if b <= 5 {
			story(r, took(time.Duration(b*200)*ms, 251*ms-time.Duration(b)))
		}
		if b <= 2 {
			hiccup(r, 2, time.Duration(b*200)*ms, 250*ms)
		}
	}
	m := Evaluate(s).Cells[0].Maximum
	if m.SeenIn != 5 || m.Own != 3 || m.Standing != Reproduced || m.Class != Host {
		t.Errorf("%+v", m)
	}
}

// TestSamplerStorm is the first of the seed's own stories: memory was read in one
// run of ten, and requests took 230 ms. Many took long there, so its p99.9 is not
// as usual: it is not explained away as one request's bad luck, and not believed.
func TestSamplerStorm(t *testing.T) {
	s := pair(10)
	for b := 1; b <= 10; b++ {
		story(of(s, "a", b))
	}
	var slow []record.Slow
	for i := range time.Duration(40) {
		slow = append(slow, took(i*40*ms, 230*ms))
	}
	story(of(s, "a", 7), slow...)
	e := Evaluate(s)
	f := findingOf(t, e, "undetermined-max")
	if m := e.Cells[0].Maximum; m.Standing != Undetermined || m.Rejected() || fmt.Sprint(f.Steps) != "[a/get/b07]" || !strings.Contains(f.Text, "seen in 1 of 10 runs: ") {
		t.Errorf("%+v, %+v", m, f)
	}
}
