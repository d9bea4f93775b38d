package load

import (
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// exchange is one request on its way, with its clocks on the run's clock.
type exchange struct {
	number     uint64
	template   *template
	id         uint64
	connection int
	dialled    bool // a dial lies between intended and done

	// free is when the connection was free to take the request, 0 if others were
	// free all along.
	intended, free, sent, first, done time.Duration
}

// recorder takes the account of a phase. It allocates nothing for a right
// answer. It is not safe for concurrent use.
type recorder struct {
	open   bool          // open loop: latency counts from the intended time
	start  time.Duration // the window's edges on the run's clock
	end    time.Duration
	shut   bool // the window is over, what comes now was drained
	counts record.Counts
	errors map[string]record.ErrorKind
	// In a closed loop service and miss alone.
	response, service, lag, pacing, miss *histogram.H

	poolWaits, sentInTime uint64

	width   time.Duration // of a slice
	slices  []record.Slice
	warm    []record.Slice
	slowest slowest
	pauses  pauses
	second  func(record.Slice) // called with each slice that is over, or nil

	keepIntervals bool
	intervals     []interval

	bytesOut, bytesIn uint64
	newDials          int

	inFlight  int
	area      time.Duration // integral of inFlight over the window
	areaUpTo  time.Duration //
	overhang  time.Duration // record.LoadResult has these two
	otherTime time.Duration
	lastDone  time.Duration
	badInARow int
	lastBad   string
}

// newRecorder makes room for so many slices of the timeline, each of that width.
func newRecorder(open bool, slices int, width time.Duration) *recorder {
	return &recorder{
		open: open, width: width, errors: map[string]record.ErrorKind{},
		response: histogram.New(), service: histogram.New(), lag: histogram.New(), pacing: histogram.New(), miss: histogram.New(),
		slices: make([]record.Slice, 0, slices),
	}
}

// begin opens a phase. What was recorded before is dropped but for its slices.
func (r *recorder) begin(start, end time.Duration) {
	for i := range r.slices {
		r.slices[i].Start += r.start - start // counted from the new phase: negative
	}
	r.warm = append(r.warm, r.slices...)
	r.slices = r.slices[:0]
	for _, h := range []*histogram.H{r.response, r.service, r.lag, r.pacing, r.miss} {
		h.Reset()
	}
	clear(r.errors)
	r.slowest.reset()
	r.start, r.end, r.shut = start, end, false
	r.intervals = r.intervals[:0]
	r.counts, r.bytesIn, r.bytesOut, r.newDials = record.Counts{}, 0, 0, 0
	r.area, r.areaUpTo, r.overhang, r.otherTime, r.badInARow = 0, start, 0, 0, 0
	r.poolWaits, r.sentInTime = 0, 0
}

// close ends the window at its planned end, or now if it is cut short. A reply
// that comes later was drained.
func (r *recorder) close(now time.Duration) {
	if r.shut {
		return
	}
	r.end = min(r.end, now)
	r.flow(r.end)
	r.shut = true
	if last := r.sliceAt(r.end - 1); last != nil {
		last.Length = r.end - r.start - last.Start
	}
}

// flow integrates the number of requests in flight up to a time.
func (r *recorder) flow(now time.Duration) {
	if now > r.areaUpTo && !r.shut {
		to := min(now, r.end)
		r.area += time.Duration(r.inFlight) * (to - r.areaUpTo)
		r.areaUpTo = to
	}
}

// flows changes the number in flight at a time, which may lie before what is
// integrated already: clocks are read before the account is at hand.
func (r *recorder) flows(at time.Duration, change int) {
	r.flow(at)
	r.inFlight += change
	if at < r.areaUpTo {
		r.area += time.Duration(change) * (r.areaUpTo - at)
	}
}

// sent notes that a request leaves.
func (r *recorder) sent(x *exchange, bytes int) {
	r.flows(x.sent, +1)
	r.bytesOut += uint64(bytes)
	if x.sent < r.end {
		r.sentInTime++
	}
}

// right notes a reply that is what was wanted.
func (r *recorder) right(x *exchange, bytes int) {
	r.landed(x.done, bytes, x)
	r.badInARow = 0
	if x.template.miss {
		r.counts.Miss++
	} else {
		r.counts.OK++
	}
	latency := r.latencies(x)
	if x.done < r.end {
		r.counts.InWindow++
		s := r.sliceAt(x.done)
		s.Right++
		s.Max = max(s.Max, latency)
	}
}

// wrong notes a request that got no right answer. A time-out enters the
// histograms at the time it was given up: to leave it out would make a slow
// server look fast.
func (r *recorder) wrong(x *exchange, bytes int, kind, text string) {
	r.landed(x.done, bytes, x)
	r.badInARow++
	r.fault(kind, text)
	if kind == record.ErrTimeout {
		r.counts.TimedOut++
		r.latencies(x)
	} else {
		r.counts.Failed++
		r.otherTime += x.done - x.sent
	}
	if x.done < r.end {
		r.sliceAt(x.done).Bad++
	}
}

// latencies records an exchange in every histogram that it belongs to.
func (r *recorder) latencies(x *exchange) time.Duration {
	service := x.done - x.sent
	latency := service
	if r.open {
		latency = x.done - x.intended
		r.lag.Record(x.sent - x.intended)
		r.pacing.Record(x.sent - max(x.intended, x.free))
		if x.free > x.intended {
			r.poolWaits++
		}
	}
	if x.template.miss {
		r.miss.Record(latency)
		r.otherTime += service
	} else {
		r.service.Record(service)
		if r.open {
			r.response.Record(latency)
		}
	}
	if latency > r.slowest.least {
		r.slowest.add(latency, x)
	}
	if r.keepIntervals {
		r.keep(x)
	}
	return latency
}

// fault counts an error by its kind and keeps the first as an example.
func (r *recorder) fault(kind, text string) {
	e := r.errors[kind]
	if e.Count++; e.Count == 1 {
		e.Example = text
	}
	r.errors[kind] = e
	r.lastBad = kind + ": " + text
}

// abandoned notes a request in flight that was given up when the run was cut.
func (r *recorder) abandoned(x *exchange, now time.Duration) {
	r.landed(now, 0, x)
	r.otherTime += now - x.sent
	r.counts.Unfinished++
}

// landed notes that a request is no longer in flight.
func (r *recorder) landed(at time.Duration, bytes int, x *exchange) {
	r.flows(at, -1)
	if at > r.end {
		r.overhang += at - max(r.end, x.sent)
	}
	r.lastDone = max(r.lastDone, at)
	r.bytesIn += uint64(bytes)
}

// sliceAt is the slice that a time of the window falls into.
func (r *recorder) sliceAt(at time.Duration) *record.Slice {
	if at < r.start {
		return nil
	}
	n := int((at - r.start) / r.width)
	for len(r.slices) <= n {
		if len(r.slices) > 0 && r.second != nil {
			r.second(r.slices[len(r.slices)-1])
		}
		r.slices = append(r.slices, record.Slice{
			Start: time.Duration(len(r.slices)) * r.width, Length: r.width,
		})
	}
	return &r.slices[n]
}
