package capacity

import (
	"slices"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

const ms = time.Millisecond

// met is a trial that meets every limit by a little: 990 of 1000 in time is 99 %, 4 of
// 4000 wrong and 4 dropped are 0.1 %, p95 is the limit itself.
func met() Seen {
	return Seen{RatePerSec: 1000, Due: 4000, InTime: 3960, Errors: 4, Dropped: 4, Latency: 20 * ms, First: 10 * ms, Last: 12 * ms, InFlight: []float64{1, 2, 3, 4}}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Seen)
		limits []Limit
		unfit  Limit
	}{
		{"at the limits", func(*Seen) {}, nil, ""},
		{"3959 of 4000 in time", func(s *Seen) { s.InTime-- }, []Limit{Achieved}, ""},
		{"5 of 4000 wrong", func(s *Seen) { s.Errors++ }, []Limit{Errors}, ""},
		{"5 of 4000 dropped", func(s *Seen) { s.Dropped++ }, []Limit{Dropped}, ""},
		{"1 ns above the SLO", func(s *Seen) { s.Latency++ }, []Limit{SLO}, ""},
		{"1.21 times as slow, and rising", func(s *Seen) { s.Last = 12*ms + ms/10; s.First = 10 * ms }, []Limit{Queue}, ""},
		{"twice as slow, without a trend", func(s *Seen) { s.Last = 20 * ms; s.InFlight = []float64{1, 3, 2, 4} }, nil, ""},
		{"twice as slow and falling", func(s *Seen) { s.Last = 20 * ms; s.InFlight = []float64{4, 3, 2, 1} }, nil, ""},
		{"twice as slow by 1.9 ms", func(s *Seen) { s.First, s.Last = 1900*time.Microsecond, 3800*time.Microsecond }, nil, ""},
		{"three seconds tell no trend", func(s *Seen) { s.Last = 20 * ms; s.InFlight = []float64{1, 2, 3} }, nil, ""},
		{"2999 requests", func(s *Seen) { s.Due, s.InTime, s.Errors, s.Dropped = 2999, 2999, 0, 0 }, nil, Few},
		{"none at all", func(s *Seen) { s.Due = 0 }, nil, Few},
		{"the generator fell behind", func(s *Seen) { s.Unfit = Generator }, nil, Generator},
		{"everything at once", func(s *Seen) { s.InTime, s.Errors, s.Dropped, s.Latency = 1, 2000, 1000, time.Second }, []Limit{Errors, Dropped, Achieved, SLO}, ""},
		{"the process died", func(s *Seen) { s.Broke = "target ended under load" }, []Limit{Broke}, ""},
	} {
		s := met()
		c.change(&s)
		got := Judge(rules, s)
		if !slices.Equal(got.Limits, c.limits) || got.Unfit != c.unfit || got.Passed != (len(c.limits) == 0 && c.unfit == "") {
			t.Errorf("%s: %+v, want limits %v, unfit %q", c.name, got, c.limits, c.unfit)
		}
	}
}

// second is a second of a window in which n requests took d each.
func second(i, n int, d time.Duration) record.Interval {
	h := histogram.New()
	for range n {
		h.Record(d)
	}
	return record.Interval{Start: time.Duration(i) * time.Second, Length: time.Second, Response: h.Encode()}
}

func TestLook(t *testing.T) {
	void := record.Check{Name: "CPU used by others", Void: true}
	pacing := record.Check{Name: "p99 of the generator's own delay"}
	busy := record.Check{Name: "CPU of the generator", Void: true}
	sent := record.Check{Name: "sent in time"}
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		shared bool
		unfit  Limit
		broke  bool
	}{
		{"all is well", func(*record.Run) {}, false, "", false},
		{"failed", func(r *record.Run) { r.Outcome, r.Reason, r.Load = record.Failed, "target ended", nil }, false, "", true},
		{"voided by the machine", func(r *record.Run) { r.Outcome, r.Checks = record.Void, []record.Check{void} }, false, Machine, false},
		{"by the machine, and the generator felt it", func(r *record.Run) {
			r.Outcome, r.Checks, r.Load.Checks = record.Void, []record.Check{void}, []record.Check{busy}
		}, false, Machine, false},
		{"the generator was late, and others used the CPU", func(r *record.Run) {
			r.Checks, r.Load.Checks = []record.Check{{Name: "CPU used by others"}}, []record.Check{pacing}
		}, false, Machine, false},
		{"others used the CPU a little", func(r *record.Run) { r.Checks = []record.Check{{Name: "CPU used by others"}} }, false, "", false},
		{"by the generator", func(r *record.Run) { r.Outcome, r.Load.Checks = record.Void, []record.Check{busy} }, false, Generator, false},
		{"its own delay", func(r *record.Run) { r.Load.Checks = []record.Check{pacing} }, false, Generator, false},
		{"its own delay, on the server's CPUs", func(r *record.Run) { r.Load.Checks = []record.Check{pacing, sent} }, true, "", false},
		{"sent late by itself", func(r *record.Run) { r.Load.Checks = []record.Check{sent} }, false, Generator, false},
		{"sent late, all connections waited", func(r *record.Run) { r.Load.Checks, r.Load.PoolWaits = []record.Check{sent}, 301 }, false, "", false},
		{"a void check that is not known", func(r *record.Run) {
			r.Outcome, r.Load.Checks = record.Void, []record.Check{{Name: "time in flight to time recorded", Void: true}}
		}, false, Machine, false},
	} {
		r := &record.Run{Outcome: record.Done, OfferedPerSec: 200, Load: &record.LoadResult{Counts: record.Counts{Planned: 600, OK: 590, Failed: 5, TimedOut: 3, Unfinished: 2, InWindow: 580}}}
		whole := histogram.New()
		for i := range 3 { // 2, 4, 6 ms; requests in flight rise, but three seconds are no trend
			d := time.Duration(2*i+2) * ms
			r.Load.Intervals = append(r.Load.Intervals, second(i, 200, d))
			for range 200 {
				whole.Record(d)
			}
		}
		r.Load.Response = whole.Encode()
		c.change(r)
		got := Look(rules, r, c.shared)
		if got.Unfit != c.unfit || (got.Broke != "") != c.broke {
			t.Errorf("%s: unfit %q, broke %q; want %q, %v", c.name, got.Unfit, got.Broke, c.unfit, c.broke)
		}
		if c.broke {
			continue
		}
		if got.Due != 600 || got.InTime != 580 || got.Errors != 8 || got.Dropped != 2 || got.Latency.Round(ms/10) != 6*ms || len(got.InFlight) != 3 {
			t.Errorf("%s: %+v", c.name, got)
		}
		// 200 requests a second of 2, 4 and 6 ms are 0.4, 0.8 and 1.2 in flight.
		for i, want := range []float64{0.4, 0.8, 1.2} {
			if d := got.InFlight[i] - want; d < -1e-9 || d > 1e-9 {
				t.Errorf("%s: in flight %v", c.name, got.InFlight)
			}
		}
	}
}

// Of four rising seconds the first and the last third are read.
func TestLookAtAGrowingQueue(t *testing.T) {
	r := &record.Run{Outcome: record.Done, OfferedPerSec: 100, Load: &record.LoadResult{Counts: record.Counts{Planned: 4000, OK: 4000, InWindow: 4000}}}
	whole := histogram.New()
	for i := range 4 {
		r.Load.Intervals = append(r.Load.Intervals, second(i, 100, time.Duration(4*i+2)*ms))
		whole.Record(10 * ms)
	}
	r.Load.Response = whole.Encode()
	s := Look(rules, r, false)
	if s.First.Round(ms/10) != 2*ms || s.Last.Round(ms/10) != 14*ms || !slices.Equal(Judge(rules, s).Limits, []Limit{Queue}) {
		t.Errorf("first third %v, last %v, limits %v; want 2 ms, 14 ms and a growing queue", s.First, s.Last, Judge(rules, s).Limits)
	}
}
