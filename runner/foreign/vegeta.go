package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Vegeta reads what vegeta report -type=json prints: type Metrics of vegeta's
// lib/metrics.go. Times are nanoseconds, success is a ratio 0..1.
func Vegeta(data []byte) (*Summary, error) {
	var m struct {
		Latencies  map[string]float64 `json:"latencies"`
		Duration   float64            `json:"duration"` // first to last send
		Requests   *float64           `json:"requests"`
		Rate       float64            `json:"rate"`
		Throughput *float64           `json:"throughput"` // of successes; absent before version 12
		Codes      map[string]float64 `json:"status_codes"`
		Errors     []string           `json:"errors"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read vegeta summary: %w", err)
	}
	if m.Requests == nil || m.Latencies == nil {
		return nil, fmt.Errorf("read vegeta summary: no members requests and latencies")
	}
	p := Part{Name: "attack", RatePerSec: &m.Rate}
	s := &Summary{Engine: "vegeta", Notes: []string{"rate is that of sending; any status from 200 to 399 is a success to vegeta, whatever the body"}}
	var err error
	if p.Requests, err = count("requests", *m.Requests); err == nil {
		p.Window, err = span("duration", m.Duration, time.Nanosecond)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Latencies)) {
		d, bad := span("latency "+name, m.Latencies[name], time.Nanosecond)
		if err = cmp.Or(err, bad); bad != nil {
			break
		}
		switch name {
		case "min":
			p.Min = d
		case "mean":
			p.Mean = d
		case "max":
			p.Max = d
		case "50th", "90th", "95th", "99th":
			q := map[string]float64{"50th": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}[name]
			p.Quantiles = append(p.Quantiles, Quantile{q, *d})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(m.Codes)) {
		n, bad := count("status "+code, m.Codes[code])
		err = cmp.Or(err, bad)
		name := "status " + code
		if code == "0" {
			name = "no answer"
		}
		p.Counts = append(p.Counts, Count{name, n})
	}
	if err != nil {
		return nil, fmt.Errorf("read vegeta summary: %w", err)
	}
	if m.Throughput != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("throughput, of successes: %.1f/s", *m.Throughput))
	}
	for i, text := range m.Errors {
		if i == 5 {
			s.Notes = append(s.Notes, fmt.Sprintf("and %d kinds of errors more", len(m.Errors)-i))
			break
		}
		s.Notes = append(s.Notes, "error: "+text)
	}
	s.Parts = []Part{p}
	return s.finish()
}
