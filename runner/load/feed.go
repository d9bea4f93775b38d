package load

import "time"

// feed hands out the request numbers of one phase. In a closed loop there is
// always one more until the end; in an open loop the schedule decides. It is
// not safe for concurrent use.
type feed struct {
	end   time.Duration // on the run's clock: nothing is intended from then on
	last  time.Duration // nothing is sent from then on; what was due and waited is left
	limit uint64        // request numbers stay below; 0: no limit
	base  uint64        // added to every number: warm-up draws from elsewhere than the window
	start time.Duration // on the run's clock

	next, step uint64    // closed loop
	open       *arrivals // open loop, or nil
	stopped    bool      // before its time
}

// take returns the next request, when it is intended, and whether there is one now.
func (f *feed) take(now time.Duration) (number uint64, intended time.Duration, ok bool) {
	if f.finished(now) {
		return 0, 0, false
	}
	if f.open == nil {
		n := f.next
		f.next += f.step
		return f.base + n, now, true
	}
	at, _ := f.due()
	if at > now {
		return 0, 0, false
	}
	n := f.open.i
	f.open.next()
	return f.base + n, at, true
}

// due is when the next request of an open loop is intended; false when there
// are no more.
func (f *feed) due() (time.Duration, bool) {
	d, inside := f.open.due()
	if !inside || f.limit > 0 && f.open.i >= f.limit {
		return 0, false
	}
	return f.start + d, true
}

// finished reports whether no request will follow, now or later.
func (f *feed) finished(now time.Duration) bool {
	if f.stopped || now >= f.last {
		return true
	}
	if f.open != nil {
		_, more := f.due()
		return !more
	}
	return f.limit > 0 && f.next >= f.limit
}

// over reports whether the phase may end once nothing is in flight: a window
// lasts as long as was asked, even if its last request is answered before.
func (f *feed) over(now time.Duration) bool {
	return f.finished(now) && (now >= f.end || f.stopped || f.limit > 0)
}

// rest takes all requests of an open loop that are due by now and were never
// sent, and returns their number.
func (f *feed) rest(now time.Duration) (n uint64) {
	for f.open != nil {
		if at, more := f.due(); !more || at > now {
			break
		}
		f.open.next()
		n++
	}
	f.stopped = true
	return n
}
