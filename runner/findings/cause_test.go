package findings

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// TestClasses is the table of timelines of method M4. In each, one run of six has a
// request sent at 500 ms that took 251 ms where 1 ms is usual, so its excess is
// 250 ms and a cause has to cover 125 ms of it.
func TestClasses(t *testing.T) {
	set := func(p *uint64, n uint64) { *p = n }
	for _, c := range []struct {
		name     string
		plant    func(s *record.Session, r *record.Run)
		class    Class
		standing Standing
	}{
		{"nothing else happened", func(*record.Session, *record.Run) {}, Unexplained, Undetermined},

		{"the generator was stopped", func(_ *record.Session, r *record.Run) {
			r.Load.Pauses = []record.Pause{{Start: 500 * ms, Length: 250 * ms}}
		}, Generator, Artefact},
		{"for half of it", func(_ *record.Session, r *record.Run) {
			r.Load.Pauses = []record.Pause{{Start: 500 * ms, Length: 125 * ms}}
		}, Generator, Artefact},
		{"for less than half", func(_ *record.Session, r *record.Run) {
			r.Load.Pauses = []record.Pause{{Start: 500 * ms, Length: 124 * ms}}
		}, Unexplained, Undetermined},
		{"at another time", func(_ *record.Session, r *record.Run) {
			r.Load.Pauses = []record.Pause{{Start: 100 * ms, Length: 250 * ms}, {Start: 751 * ms, Length: 250 * ms}}
		}, Unexplained, Undetermined},
		{"the generator collected garbage once, for 200 ms", func(_ *record.Session, r *record.Run) {
			r.Load.GCPause, r.Load.GCCount = 200*ms, 1
		}, Generator, Artefact},
		{"two hundred times, for 1 ms", func(_ *record.Session, r *record.Run) {
			r.Load.GCPause, r.Load.GCCount = 200*ms, 200
		}, Unexplained, Undetermined},

		{"a quota stopped us for 200 ms", func(_ *record.Session, r *record.Run) {
			set(r.Environment.QuotaStops, 1)
			*r.Environment.QuotaStopped = 200 * ms
		}, Quota, Artefact},
		{"a quota stopped everything, the generator and the meter too", func(_ *record.Session, r *record.Run) {
			set(r.Environment.QuotaStops, 1)
			*r.Environment.QuotaStopped = 200 * ms
			r.Load.Pauses = []record.Pause{{Start: 500 * ms, Length: 250 * ms}}
			hiccup(r, 1, 500*ms, 250*ms)
		}, Quota, Artefact},
		{"time stood still for a quota, but nobody was stopped", func(_ *record.Session, r *record.Run) {
			*r.Environment.QuotaStopped = 200 * ms
		}, Unexplained, Undetermined},
		{"a quota stopped us often, each time for a little", func(_ *record.Session, r *record.Run) {
			set(r.Environment.QuotaStops, 40)
			*r.Environment.QuotaStopped = 200 * ms
		}, Unexplained, Undetermined},
		{"a quota stopped us for 1 ms", func(_ *record.Session, r *record.Run) {
			set(r.Environment.QuotaStops, 1)
			*r.Environment.QuotaStopped = ms
		}, Unexplained, Undetermined},

		{"a CPU that nobody uses stood still", func(_ *record.Session, r *record.Run) { hiccup(r, 2, 500*ms, 250*ms) }, Host, Artefact},
		{"the generator's CPU stood still", func(_ *record.Session, r *record.Run) { hiccup(r, 1, 500*ms, 250*ms) }, Host, Artefact},
		{"and the generator with it", func(_ *record.Session, r *record.Run) {
			hiccup(r, 1, 500*ms, 250*ms)
			r.Load.Pauses = []record.Pause{{Start: 501 * ms, Length: 249 * ms}}
		}, Host, Artefact},
		{"it stood still at another time", func(_ *record.Session, r *record.Run) { hiccup(r, 2, 800*ms, 250*ms) }, Unexplained, Undetermined},
		{"the generator's CPU was busy: 50 hiccups of 4 ms", func(_ *record.Session, r *record.Run) {
			for i := range time.Duration(50) {
				hiccup(r, 1, (500+5*i)*ms, 4*ms)
			}
		}, Unexplained, Undetermined},
		{"a CPU that nobody uses was: 50 hiccups of 4 ms", func(_ *record.Session, r *record.Run) {
			for i := range time.Duration(50) {
				hiccup(r, 2, (500+5*i)*ms, 4*ms)
			}
		}, Host, Artefact},
		{"the server may be on any CPU", func(s *record.Session, r *record.Run) {
			s.Plan.Targets[0].CPUs = nil
			hiccup(r, 2, 500*ms, 250*ms)
		}, Unexplained, Undetermined},
		{"the server's own CPU was not run, nothing stolen", func(s *record.Session, r *record.Run) {
			shared(s)
			hiccup(r, 1, 500*ms, 250*ms)
		}, Unexplained, Undetermined},
		{"it was not run, and 130 ms were stolen", func(s *record.Session, r *record.Run) {
			shared(s)
			hiccup(r, 1, 500*ms, 250*ms)
			*r.Environment.Steal = 130 * ms
		}, Host, Artefact},
		{"it was not run, and 10 ms were stolen", func(s *record.Session, r *record.Run) {
			shared(s)
			hiccup(r, 1, 500*ms, 250*ms)
			*r.Environment.Steal = 10 * ms
		}, Unexplained, Undetermined},
		{"time was stolen, but no CPU stood still", func(_ *record.Session, r *record.Run) { *r.Environment.Steal = 250 * ms }, Unexplained, Undetermined},
		{"the run's clock cannot be laid beside the meter's", func(_ *record.Session, r *record.Run) {
			hiccup(r, 2, 500*ms, 250*ms)
			r.Load.StartMonotonic = nil
		}, Unexplained, Undetermined},

		{"a connection was made", func(_ *record.Session, r *record.Run) { r.Load.Slowest[0].Dialled, r.Load.NewDials = true, 1 }, Connect, Undetermined},
		{"as for every request", func(_ *record.Session, r *record.Run) { r.Load.Slowest[0].Dialled, r.Load.NewDials = true, 10_000 }, Unexplained, Undetermined},

		{"a packet was sent again", func(_ *record.Session, r *record.Run) {
			set(r.Environment.Retransmits, 1)
			set(r.Environment.TCPTimeouts, 1)
		}, TCPTimer, Artefact},
		{"a packet was sent again, but not by a timer", func(_ *record.Session, r *record.Run) { set(r.Environment.Retransmits, 1) }, Unexplained, Undetermined},
		{"nobody counted packets", func(_ *record.Session, r *record.Run) { r.Environment = nil }, Unexplained, Undetermined},
		{"one packet was sent again, two requests were slow", func(_ *record.Session, r *record.Run) {
			story(r, took(500*ms, 251*ms), took(500*ms, 250*ms))
			set(r.Environment.Retransmits, 1)
			set(r.Environment.TCPTimeouts, 1)
		}, Unexplained, Undetermined},
		{"a packet was sent again, it took 300 ms", func(_ *record.Session, r *record.Run) {
			story(r, took(500*ms, 300*ms))
			set(r.Environment.Retransmits, 1)
			set(r.Environment.TCPTimeouts, 1)
		}, Unexplained, Undetermined},

		{"its clocks were not kept", func(_ *record.Session, r *record.Run) { r.Load.Slowest = nil }, Unexplained, Undetermined},
	} {
		s := pair(6)
		for b := 1; b <= 6; b++ {
			story(of(s, "a", b))
		}
		r := of(s, "a", 3)
		story(r, took(500*ms, 251*ms))
		c.plant(s, r)
		cell, _ := ptr(Evaluate(s)).Cell("a", "get")
		m := cell.Maximum
		if m.Class != c.class || m.Standing != c.standing {
			t.Errorf("%s: %s, %s (%s); want %s, %s", c.name, m.Class, m.Standing, m.Text, c.class, c.standing)
		}
		if m.Run != "a/get/b03" || m.SeenIn != 1 || m.Of != 6 || m.Needed != 3 || !strings.Contains(m.Text, "seen in 1 of 6 runs, p99.9 unaffected") {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

func ptr[T any](v T) *T { return &v }
