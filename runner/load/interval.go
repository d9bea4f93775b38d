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
// allocates once in each.
func (r *recorder) keep(x *exchange) {
	if x.template.miss || x.done < r.start {
		return
	}
	n := int((min(x.done, r.end-1) - r.start) / time.Second)
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
		if in.service.Count() > 0 {
			list = append(list, record.Interval{
				Start: start, Length: min(time.Second, r.end-r.start-start),
				Response: encode(in.response), Service: encode(in.service),
			})
		}
	}
	return list
}
