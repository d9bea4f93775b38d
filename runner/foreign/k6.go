package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// k6Metric is a metric's values by their names. k6 run --summary-export writes them
// flat, the data of handleSummary in a member "values" (grafana.com/docs/k6,
// "End-of-test summary" and "Custom summary"). Times are milliseconds in both.
type k6Metric map[string]float64

func (m *k6Metric) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if values, ok := members["values"]; ok && len(values) > 0 && values[0] == '{' {
		if err := json.Unmarshal(values, &members); err != nil {
			return err
		}
	}
	*m = k6Metric{}
	for name, text := range members {
		var v float64
		if json.Unmarshal(text, &v) == nil {
			(*m)[name] = v
		}
	}
	return nil
}

// k6Window marks the metrics of the window alone, in a script by gonogo export.
const k6Window = "{scenario:window}"

// K6 reads a summary of k6 run.
func K6(data []byte) (*Summary, error) {
	var f struct {
		Metrics map[string]k6Metric `json:"metrics"`
		Gonogo  *struct {
			Scenario string  `json:"scenario"`
			Window   float64 `json:"window_ms"`
		} `json:"gonogo"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read k6 summary: %w", err)
	}
	s := &Summary{Engine: "k6"}
	p, of := Part{Name: "whole run"}, ""
	if f.Gonogo != nil && f.Metrics["http_reqs"+k6Window] != nil {
		p.Name, of = f.Gonogo.Scenario, k6Window
	}
	requests, ok := f.Metrics["http_reqs"+of]["count"]
	if !ok {
		return nil, fmt.Errorf("read k6 summary: no metric http_reqs with a count")
	}
	var err error
	p.Requests, err = count("http_reqs", requests)
	if of == "" {
		if rate, ok := f.Metrics["http_reqs"]["rate"]; ok {
			p.RatePerSec = &rate
		}
		s.Notes = append(s.Notes, "rate and latencies are of the whole run, a warm-up included")
	} else if w, bad := span("window", f.Gonogo.Window, time.Millisecond); bad == nil && *w > 0 {
		rate := requests / w.Seconds()
		p.Window, p.RatePerSec = w, &rate
		s.Notes = append(s.Notes, "rate is of what was sent in the window; k6 would divide by the whole run")
	}
	err = cmp.Or(err, p.k6Times(f.Metrics["http_req_duration"+of]))
	// A rate metric of k6 passes where its value is true: passes of "failed" are failures.
	for _, c := range []struct{ metric, value, name string }{
		{"http_req_failed" + of, "passes", "http_req_failed"}, {"checks" + of, "fails", "checks failed"}, {"dropped_iterations", "count", "dropped_iterations"},
	} {
		if v, ok := f.Metrics[c.metric][c.value]; ok {
			n, bad := count(c.name, v)
			err = cmp.Or(err, bad)
			p.Counts = append(p.Counts, Count{c.name, n})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read k6 summary: %w", err)
	}
	s.Parts = []Part{p}
	return s.finish()
}

func (p *Part) k6Times(m k6Metric) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		percent := strings.TrimSuffix(strings.TrimPrefix(name, "p("), ")")
		q, bad := strconv.ParseFloat(percent, 64)
		quantile := bad == nil && strings.HasPrefix(name, "p(") && q > 0 && q <= 100
		if !quantile && !slices.Contains([]string{"min", "avg", "med", "max"}, name) {
			continue
		}
		d, err := span("http_req_duration "+name, m[name], time.Millisecond)
		if err != nil {
			return err
		}
		switch name {
		case "min":
			p.Min = d
		case "avg":
			p.Mean = d
		case "max":
			p.Max = d
		case "med":
			p.Quantiles = append(p.Quantiles, Quantile{0.5, *d})
		default:
			p.Quantiles = append(p.Quantiles, Quantile{ratio(q), *d})
		}
	}
	p.sort()
	return nil
}

func (p *Part) sort() {
	slices.SortFunc(p.Quantiles, func(a, b Quantile) int { return cmp.Compare(a.Quantile, b.Quantile) })
}
