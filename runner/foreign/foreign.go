// Package foreign reads the summaries of other load generators: k6, vegeta and
// Hyperfoil. What they say is printed and goes no further: it was measured by other
// clocks, from other moments, of processes that nobody accounts for, so that no
// archive takes it and nothing here makes a record.Run of it. Pure.
package foreign

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Summary is what another engine says it measured, in its own words.
type Summary struct {
	Foreign bool     `json:"foreign"` // always true: not a record of gonogo
	Engine  string   `json:"engine"`
	Parts   []Part   `json:"parts"`
	Notes   []string `json:"notes,omitempty"`
}

// Part is one row: a phase, or all. What the engine does not tell is absent.
type Part struct {
	Name       string         `json:"name"`
	Requests   uint64         `json:"requests"`
	RatePerSec *float64       `json:"rate_per_sec,omitempty"`
	Window     *time.Duration `json:"window_ns,omitempty"`
	Min        *time.Duration `json:"min_ns,omitempty"`
	Mean       *time.Duration `json:"mean_ns,omitempty"`
	Max        *time.Duration `json:"max_ns,omitempty"`
	Quantiles  []Quantile     `json:"quantiles,omitempty"` // ascending
	Counts     []Count        `json:"counts,omitempty"`    // errors and statuses, by the engine's own names
}

// Quantile is one point of a distribution, its quantile 0..1.
type Quantile struct {
	Quantile float64       `json:"quantile"`
	Value    time.Duration `json:"value_ns"`
}

// Count is how often the engine saw something.
type Count struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

// Engines are the readers by the name of their engine.
var Engines = map[string]func([]byte) (*Summary, error){"k6": K6, "vegeta": Vegeta, "hyperfoil": Hyperfoil}

const (
	mostParts  = 1000
	mostCounts = 1000
	longest    = 1000 * time.Hour // a time above it is no time of a request
	mostCount  = 1 << 53          // counts above it are not whole numbers in JSON's readers
)

// finish refuses what cannot be a summary.
func (s *Summary) finish() (*Summary, error) {
	s.Foreign = true
	if len(s.Parts) > mostParts {
		return nil, fmt.Errorf("read %s summary: %d parts, more than %d", s.Engine, len(s.Parts), mostParts)
	}
	var sum uint64
	for _, p := range s.Parts {
		sum += p.Requests
		if len(p.Counts) > mostCounts {
			return nil, fmt.Errorf("read %s summary: %d kinds of counts, more than %d", s.Engine, len(p.Counts), mostCounts)
		}
	}
	if sum == 0 {
		return nil, fmt.Errorf("read %s summary: it tells of no request", s.Engine)
	}
	return s, nil
}

// span is a time that an engine gives as a number of units.
func span(name string, v float64, unit time.Duration) (*time.Duration, error) {
	if v < 0 || v > float64(longest)/float64(unit) {
		return nil, fmt.Errorf("%s is %g, which is no time", name, v)
	}
	d := time.Duration(v * float64(unit))
	return &d, nil
}

// ratio is a percentage as a quantile, rounded so that 99.9 is 0.999 and no neighbour.
func ratio(percent float64) float64 { return math.Round(percent*1e6) / 1e8 }

func count(name string, v float64) (uint64, error) {
	if v < 0 || v > mostCount || v != float64(uint64(v)) {
		return 0, fmt.Errorf("%s is %g, which is no count", name, v)
	}
	return uint64(v), nil
}

// Text prints a summary. Its first line says whose it is.
func (s *Summary) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "FOREIGN: measured by %s, not by gonogo. Latency counts from the send; nobody watched the machine, the generator or the server.\n", s.Engine)
	b.WriteString("Do not hold these numbers against those of a session: no archive takes them, and diff and decide refuse them.\n")
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "\n%s\n  %-22s %d\n", record.Printable(p.Name), "requests", p.Requests)
		if p.RatePerSec != nil {
			fmt.Fprintf(&b, "  %-22s %.1f/s\n", "rate", *p.RatePerSec)
		}
		row := func(name string, d *time.Duration) {
			if d != nil {
				fmt.Fprintf(&b, "  %-22s %v\n", name, *d)
			}
		}
		row("window", p.Window)
		row("min", p.Min)
		row("mean", p.Mean)
		for _, q := range p.Quantiles {
			row(fmt.Sprintf("p%.6g", 100*q.Quantile), &q.Value)
		}
		row("max", p.Max)
		for _, c := range p.Counts {
			fmt.Fprintf(&b, "  %-22s %d\n", record.Printable(c.Name), c.Count)
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "note: %s\n", record.Printable(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
