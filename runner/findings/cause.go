package findings

import (
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// Class is what made a request slow, as far as the evidence says. No cause is
// named without the counter or the clock that saw it.
type Class string

// The classes, in the order in which they are tried: the first that covers at
// least half of the request's excess wins (method M3).
const (
	Generator   Class = "GENERATOR"
	Quota       Class = "QUOTA"
	Host        Class = "HOST"
	Connect     Class = "CONNECT"
	TCPTimer    Class = "TCP-TIMER"
	StartUp     Class = "START-UP"
	Runtime     Class = "RUNTIME"
	Unexplained Class = "UNEXPLAINED"
)

// foreign reports whether the cause lies outside of the server.
func (c Class) foreign() bool {
	return c == Generator || c == Quota || c == Host || c == TCPTimer
}

// request is a slow request of one run.
type request struct {
	record.Slow
	span            // from when its latency counts, to its end
	excess, latency time.Duration
}

// evidence is what a run kept that can explain a slow request.
type evidence struct {
	run      *record.Run
	target   record.Target
	typical  time.Duration // the run's median latency
	max      time.Duration // its longest
	confirms bool          // the run was made to confirm a maximum
	pacing   time.Duration // longest delay of the generator's own, open loop
	pauses   []span        // of the generator's loop
	hiccups  map[int][]span
	server   map[int][]pause // that the server's runtime told of, by process

	// What only the whole cell shows.
	early     band
	diagnosed int // diagnostic runs whose pauses cover their own slow requests
}

func newEvidence(r *record.Run, t record.Target, typical time.Duration) *evidence {
	v := &evidence{run: r, target: t, typical: typical, hiccups: map[int][]span{}}
	if h, err := histogram.Decode(r.Load.Pacing); err == nil {
		v.pacing = h.Max()
	}
	for _, p := range r.Load.Pauses {
		v.pauses = append(v.pauses, span{p.Start, p.Start + p.Length})
	}
	if r.Load.StartMonotonic == nil {
		return v // what others noted cannot be laid beside it
	}
	edge := *r.Load.StartMonotonic
	if r.Hiccups != nil {
		for _, c := range r.Hiccups.CPUs {
			v.hiccups[c.CPU] = fromEdge(c.Events, edge)
		}
	}
	v.server = runtimePauses(r.ServerPauses, edge)
	return v
}

func fromEdge(hiccups []record.Hiccup, edge time.Duration) []span {
	spans := []span{} // watched and quiet is not the same as not watched
	for _, h := range hiccups {
		spans = append(spans, span{h.Start - edge, h.Start + h.Length - edge})
	}
	return spans
}

// request lays a kept request beside what is typical of its run.
//
// Method M3 takes the excess over the run's p99.9. That is wrong where it matters
// most: a stall of the server holds up a request on each connection, 300 of the
// 40 000 of a window, so p99.9 is the stall itself, the excess is 0, and anything
// covers it. No single stall moves the median, unless it fills half the window;
// and the longer excess demands more of a cause, never less.
func (v *evidence) request(s record.Slow) request {
	q := request{Slow: s, span: span{s.Intended, s.Done}}
	if v.run.Load.Response == nil {
		q.from = s.Sent
	}
	q.latency = q.length()
	q.excess = q.latency - v.typical
	return q
}

// covers reports whether a time explains the request: at least half of its excess.
// What is no slower than usual needs no cause.
func (q request) covers(d time.Duration) bool { return q.excess > 0 && 2*d >= q.excess }

// classify names the cause and what was seen of it.
func (v *evidence) classify(q request) (Class, string) {
	for _, c := range []struct {
		class Class
		seen  func(*evidence, request) string
	}{
		{Generator, (*evidence).generator}, {Quota, (*evidence).quota}, {Host, (*evidence).host}, {Connect, (*evidence).connect},
		{TCPTimer, (*evidence).timer}, {StartUp, (*evidence).startUp}, {Runtime, (*evidence).runtime},
	} {
		if seen := c.seen(v, q); seen != "" {
			return c.class, seen
		}
	}
	return Unexplained, "no counter explains it"
}

// generator: its loop did not run, or it sent late, or it collected garbage. What
// its own CPU was kept from running is taken out: that is the machine's doing.
// Of garbage collection the sum is known but not the times; the longest pause is
// at least as long as the mean.
func (v *evidence) generator(q request) string {
	late := min(q.Sent-q.Intended, v.pacing)
	own := append([]span{{q.Sent - late, q.Sent}}, v.pauses...)
	var machine []span
	for _, cpu := range v.target.GeneratorCPUs {
		machine = append(machine, v.hiccups[cpu]...)
	}
	if d := within(without(own, machine), q.span); q.covers(d) {
		return fmt.Sprintf("the generator itself did not run for %s of it", millis(float64(d)))
	}
	if n := v.run.Load.GCCount; n > 0 {
		if mean := v.run.Load.GCPause / time.Duration(n); q.covers(mean) {
			return fmt.Sprintf("the generator collected garbage, %s at a time", millis(float64(mean)))
		}
	}
	return ""
}

// quota: how long it stopped us is known in sum. When each stop was is not, so a stop
// counts for as long as the mean one.
func (v *evidence) quota(q request) string {
	e := v.run.Environment
	if e == nil || e.QuotaStops == nil || *e.QuotaStops == 0 || e.QuotaStopped == nil {
		return ""
	}
	mean := *e.QuotaStopped / time.Duration(*e.QuotaStops)
	if !q.covers(mean) {
		return ""
	}
	return fmt.Sprintf("a CPU quota stopped us %s, for %s each", count(int(*e.QuotaStops), "time"), millis(float64(mean)))
}

func (v *evidence) connect(q request) string {
	l := v.run.Load
	if !q.Dialled || l.NewDials > 0 && uint64(2*l.NewDials) >= l.Counts.Planned { // where each request dials, a dial sets none apart
		return ""
	}
	return "a connection was made within it"
}

// How long Linux's TCP timers take: the retransmission timer is never shorter than
// 200 ms (tcp(7); TCP_RTO_MIN), and a first SYN is repeated after 1 s (RFC 6298).
// A delayed acknowledgement, at 40 ms, is not among them: nothing here counts it.
var tcpTimers = []struct {
	from, to time.Duration
	of       string
}{
	{200 * time.Millisecond, 280 * time.Millisecond, "the shortest retransmission timer"},
	{time.Second, 1080 * time.Millisecond, "the timer of a lost first packet"},
}

// timer: a lost packet holds up one request. Where more requests took so long than
// packets were sent again, something else held them up.
func (v *evidence) timer(q request) string {
	e := v.run.Environment
	if e == nil || e.Retransmits == nil || e.TCPTimeouts != nil && *e.TCPTimeouts == 0 {
		return ""
	}
	for _, t := range tcpTimers {
		if q.latency < t.from || q.latency > t.to {
			continue
		}
		alike := uint64(0)
		for _, s := range v.run.Load.Slowest {
			if d := v.request(s).latency; t.from <= d && d <= t.to {
				alike++
			}
		}
		if alike <= *e.Retransmits {
			return fmt.Sprintf("%s sent again, and it took as long as %s", count(int(*e.Retransmits), "packet"), t.of)
		}
	}
	return ""
}

func (v *evidence) startUp(q request) string {
	if age := v.age(q.from); v.early.holds(age) {
		return fmt.Sprintf("at the same age of the process, %.1f s of load, in %d of %d", v.early.from.Seconds(), v.early.in, v.early.of)
	}
	return ""
}
