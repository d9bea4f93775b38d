package load

import (
	"errors"
	"io"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// WriteLog writes the seconds of a record as an HdrHistogram log: tag planned
// from the intended time, tag sent from the send.
func WriteLog(w io.Writer, r *record.LoadRecord) error {
	var list []histogram.Tagged
	for _, in := range r.Result.Intervals {
		if in.Response != nil {
			list = append(list, histogram.Tagged{Tag: "planned", Start: in.Start, Length: in.Length, Histogram: in.Response})
		}
		if in.Service != nil {
			list = append(list, histogram.Tagged{Tag: "sent", Start: in.Start, Length: in.Length, Histogram: in.Service})
		}
	}
	return histogram.WriteLog(w, r.Result.Start, list)
}

// WriteDistribution writes the percentile distribution of the response time, or
// of the service time in a closed loop.
func WriteDistribution(w io.Writer, r *record.LoadRecord) error {
	from := r.Result.Response
	if from == nil {
		from = r.Result.Service
	}
	if from == nil {
		return errors.New("write distribution: no latency was recorded")
	}
	h, err := histogram.Decode(from)
	if err != nil {
		return err
	}
	return h.WriteDistribution(w)
}
