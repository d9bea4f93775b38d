package load

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// Threshold is a limit that a result must keep, such as p99<5ms, max<=1s,
// mean<2ms, rate>1000 or errors<0.1%. Latencies are response times in an open
// loop and service times in a closed one.
type Threshold struct {
	text  string
	what  string  // mean, max, rate, errors, or "" for a quantile
	q     float64 // 0..1
	op    string  // <, <=, >, >=
	value float64 // nanoseconds, requests per second, or a ratio
}

var thresholdForm = regexp.MustCompile(`^(p[0-9.]+|mean|max|rate|errors)\s*(<=?|>=?)\s*([0-9.]+)\s*([a-zµ%]*)$`)

// ParseThreshold reads a threshold.
func ParseThreshold(text string) (Threshold, error) {
	bad := func(cause string) (Threshold, error) { return Threshold{}, fmt.Errorf("threshold %q: %s", text, cause) }
	m := thresholdForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return bad("want such as p99<5ms, max<1s, mean<2ms, rate>1000 or errors<0.1%")
	}
	t := Threshold{text: m[0], what: m[1], op: m[2]}
	n, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return bad("no number: " + m[3])
	}
	switch unit := m[4]; {
	case t.what == "rate" && unit == "", t.what == "errors" && unit == "":
		t.value = n
	case t.what == "errors" && unit == "%":
		t.value = n / 100
	case t.what == "rate" || t.what == "errors":
		return bad("unit " + unit)
	default:
		d, err := time.ParseDuration(m[3] + unit)
		if err != nil {
			return bad("a latency needs a unit, such as 5ms")
		}
		t.value = float64(d)
	}
	if percent, ok := strings.CutPrefix(t.what, "p"); ok {
		t.what = ""
		if t.q, err = strconv.ParseFloat(percent, 64); err != nil || t.q <= 0 || t.q > 100 {
			return bad("no quantile: p" + percent)
		}
		t.q /= 100
	}
	return t, nil
}

// String is the threshold as it was written.
func (t Threshold) String() string { return t.text }

// Kept reports whether the result keeps the threshold, and what was observed. A
// result without a right answer keeps none.
func (t Threshold) Kept(res *record.LoadResult) (kept bool, observed string, err error) {
	c := res.Counts
	if c.Answered() == 0 {
		return false, "no data", nil
	}
	var v float64
	switch t.what {
	case "rate":
		v = float64(c.InWindow) / res.Window.Seconds()
		observed = fmt.Sprintf("%.1f/s", v)
	case "errors":
		v = float64(c.Bad()) / float64(c.Planned)
		observed = fmt.Sprintf("%.4g %%", 100*v)
	default:
		d, err := t.latency(res)
		if err != nil {
			return false, "", fmt.Errorf("threshold %s: %w", t.text, err)
		}
		v, observed = float64(d), d.String()
	}
	switch t.op {
	case "<":
		kept = v < t.value
	case "<=":
		kept = v <= t.value
	case ">":
		kept = v > t.value
	default:
		kept = v >= t.value
	}
	return kept, observed, nil
}

func (t Threshold) latency(res *record.LoadResult) (time.Duration, error) {
	from := res.Response
	if from == nil {
		from = res.Service
	}
	if from == nil {
		return 0, errors.New("no latency was recorded")
	}
	h, err := histogram.Decode(from)
	if err != nil {
		return 0, err
	}
	switch t.what {
	case "mean":
		return h.Mean(), nil
	case "max":
		return h.Max(), nil
	}
	return h.Quantile(t.q), nil
}
