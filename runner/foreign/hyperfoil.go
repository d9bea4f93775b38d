package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Hyperfoil reads what Hyperfoil exports of a run as JSON, by
// hyperfoil.io/run-schema/0.6: members info, total and phase. Response times are
// nanoseconds, start and end milliseconds since 1970. Later versions keep the HTTP
// statuses in extensions.http of a summary.
func Hyperfoil(data []byte) (*Summary, error) {
	var f struct {
		Info *struct {
			ID        string   `json:"id"`
			Benchmark string   `json:"benchmark"`
			Cancelled bool     `json:"cancelled"`
			Errors    []string `json:"errors"`
		} `json:"info"`
		Total    []hyperfoilStats  `json:"total"`
		Failures []json.RawMessage `json:"failure"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read hyperfoil summary: %w", err)
	}
	if f.Info == nil || f.Total == nil {
		return nil, fmt.Errorf("read hyperfoil summary: no members info and total")
	}
	s := &Summary{Engine: "hyperfoil", Notes: []string{fmt.Sprintf("run %s of benchmark %s", f.Info.ID, f.Info.Benchmark)}}
	if f.Info.Cancelled {
		s.Notes = append(s.Notes, "the run was cancelled")
	}
	if n := len(f.Info.Errors); n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("the run had %d errors, the first: %s", n, f.Info.Errors[0]))
	}
	if n := len(f.Failures); n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d limits of the benchmark were missed", n))
	}
	for _, t := range f.Total {
		p, err := t.part()
		if err != nil {
			return nil, fmt.Errorf("read hyperfoil summary: phase %q: %w", t.Phase, err)
		}
		s.Parts = append(s.Parts, p)
	}
	return s.finish()
}

type hyperfoilStats struct {
	Phase   string                     `json:"phase"`
	Metric  string                     `json:"metric"`
	Start   float64                    `json:"start"`
	End     float64                    `json:"end"`
	Summary map[string]json.RawMessage `json:"summary"`
}

// hyperfoilCounts are the counts of errors and statuses, in the order of the schema.
var hyperfoilCounts = []string{"connectFailureCount", "connectionErrors", "status_2xx", "status_3xx", "status_4xx", "status_5xx", "status_other",
	"invalid", "cacheHits", "resetCount", "timeouts", "requestTimeouts", "internalErrors", "blockedCount"}

func (t *hyperfoilStats) part() (Part, error) {
	p := Part{Name: t.Phase + "/" + t.Metric}
	numbers := map[string]float64{}
	var nested struct {
		HTTP map[string]json.RawMessage `json:"http"`
	}
	if text, ok := t.Summary["extensions"]; ok {
		if err := json.Unmarshal(text, &nested); err != nil {
			return p, err
		}
	}
	for _, members := range []map[string]json.RawMessage{t.Summary, nested.HTTP} {
		for name, text := range members {
			var v float64
			if json.Unmarshal(text, &v) == nil {
				numbers[name] = v
			}
		}
	}
	requests, ok := numbers["requestCount"]
	if !ok {
		return p, fmt.Errorf("its summary has no requestCount")
	}
	var err error
	if p.Requests, err = count("requestCount", requests); err != nil {
		return p, err
	}
	if p.Window, err = span("end - start", t.End-t.Start, time.Millisecond); err != nil {
		return p, err
	}
	if responses, ok := numbers["responseCount"]; ok && *p.Window > 0 {
		rate := responses / p.Window.Seconds()
		p.RatePerSec = &rate
	}
	for name, to := range map[string]**time.Duration{"minResponseTime": &p.Min, "meanResponseTime": &p.Mean, "maxResponseTime": &p.Max} {
		if v, ok := numbers[name]; ok {
			if *to, err = span(name, v, time.Nanosecond); err != nil {
				return p, err
			}
		}
	}
	for _, name := range hyperfoilCounts {
		if v, ok := numbers[name]; ok {
			n, err := count(name, v)
			if err != nil {
				return p, err
			}
			p.Counts = append(p.Counts, Count{name, n})
		}
	}
	return p, p.hyperfoilQuantiles(t.Summary["percentileResponseTime"])
}

// hyperfoilQuantiles reads members such as "99.9": 12345.
func (p *Part) hyperfoilQuantiles(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	var list map[string]float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		percent, err := strconv.ParseFloat(name, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return fmt.Errorf("percentile %q is none", name)
		}
		d, err := span("percentile "+name, list[name], time.Nanosecond)
		if err != nil {
			return err
		}
		p.Quantiles = append(p.Quantiles, Quantile{ratio(percent), *d})
	}
	p.sort()
	return nil
}
