package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/stats"
)

// The curves carry the medians of the runs themselves, and the law is drawn where there
// is one.
func TestCurvesOfASweep(t *testing.T) {
	s := example.Scale()
	e := findings.Evaluate(s)
	var b bytes.Buffer
	if err := HTML(&b, s, e); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<h1>What does one more cost", "Rate against connections", "p99 latency against connections", "Memory at the end of the load against connections", "line law s1", "whisker", "Most at", "asked no question"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if strings.Contains(text, "line law s0") {
		t.Error("a law is drawn for go-1, of which none could be fitted")
	}
	var rates []float64
	for _, r := range s.Runs {
		if r.Step.Target == "node-1" && r.Step.Scenario == "load-c32" {
			rates = append(rates, float64(r.Load.Counts.InWindow)/r.Load.Window.Seconds())
		}
	}
	want, _ := stats.Median(rates)
	m := regexp.MustCompile(`data-value="([^"]+)" data-target="node-1" data-scenario="load-c32" data-metric="rate_per_sec" data-stat="median"`).FindAllStringSubmatch(text, -1)
	if len(m) < 2 { // the mark and the cell of the table
		t.Fatalf("%d numbers of the rate at 32", len(m))
	}
	for _, x := range m {
		if got, err := strconv.ParseFloat(x[1], 64); err != nil || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("rate at 32: %s, want %g", x[1], want)
		}
	}
}

func TestACurveOfASweepAlone(t *testing.T) {
	s := example.Scale()
	e := findings.Evaluate(s)
	for _, m := range []findings.Metric{findings.Rate, findings.LoadEndPSS} {
		var b bytes.Buffer
		if err := Against(&b, s, e, m); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is no XML: %v", m, err)
			}
		}
	}
	if err := Against(io.Discard, s, e, findings.Peak); !errors.Is(err, ErrNoSweep) {
		t.Errorf("%v, want %v", err, ErrNoSweep)
	}
}
