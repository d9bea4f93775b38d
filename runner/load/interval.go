package load

import (
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// interval is the histograms of one second.
type interval struct{ response, service *histogram.H }

// keep records an exchange in the second in which its reply came, or in the
// window's last. It is asked for by whoever wants to see each second, and
// allocates once in each. A fixed number of requests may take longer than
// maxIntervals: the last interval then holds all that came later.
func (r *recorder) keep(x *exchange) {
	if x.template.miss || x.done < r.start {
		return
	}
	n := int(min((min(x.done, r.end-1)-r.start)/time.Second, maxIntervals/time.Second-1))
	for len(r.intervals) <= n {
		r.intervals = append(r.intervals, interval{histogram.New(), histogram.New()})
	}
	r.intervals[n].service.Record(x.done - x.sent)
	if r.open {
		r.intervals[n].response.Record(x.done - x.intended)
	}
}

// encodeIntervals leaves out seconds without a reply.
func (r *recorder) encodeIntervals() (list []record.Interval) {
	for i, in := range r.intervals {
		start := time.Duration(i) * time.Second
		length := r.end - r.start - start
		if start+time.Second < maxIntervals {
			length = min(time.Second, length)
		}
		if in.service.Count() > 0 {
			list = append(list, record.Interval{
				Start: start, Length: length,
				Response: encode(in.response), Service: encode(in.service),
			})
		}
	}
	return list
}
