package findings_test

import (
	"math"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

func dilution(t *testing.T, s *record.Session) findings.Dilution {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	if len(e.Dilutions) != 1 || e.Dilutions[0].Arm != "go-1" || e.Dilutions[0].Base != "node-1" {
		t.Fatalf("got %+v", e.Dilutions)
	}
	return e.Dilutions[0]
}

// The truth of the example, beside it: a request costs go-1 20 µs and node-1 30 µs of CPU
// time, and 50 connections whose requests wait bring 50 each (wait + 1 ms) at most.
// Without a wait the rates are 1/20 and 1/30 µs, at 1 ms 50/2 ms = 25 000 for go-1 and
// for node-1, which could do 33 333, too.
func TestWhereTheRuntimeStopsMattering(t *testing.T) {
	d := dilution(t, example.Delayed())
	for i, want := range []struct {
		level     float64
		waited    time.Duration
		rate, cpu float64
	}{{0, 0, 1.5, 20. / 30}, {1, time.Millisecond, 1, 20. / 30}, {5, 5 * time.Millisecond, 1, 20. / 30}, {20, 20 * time.Millisecond, 1, 20. / 30}} {
		r := d.Rows[i]
		if r.Level != want.level || r.Waited != want.waited || r.Rate == nil || r.CPU == nil || math.Abs(r.Rate.Value/want.rate-1) > 0.02 || math.Abs(r.CPU.Value/want.cpu-1) > 0.02 || !r.Rate.Reached {
			t.Errorf("level %g: %+v (rate %+v, CPU %+v), want %+v", r.Level, r, r.Rate, r.CPU, want)
		}
	}
	if d.RateFrom == nil || *d.RateFrom != 1 {
		t.Errorf("rates are the same from %v on, want 1", d.RateFrom)
	}
	if d.CPUFrom != nil {
		t.Errorf("CPU is the same from %v on, want never", *d.CPUFrom)
	}
	// p99 is the wait and 1.4 ms, and 1 ms more for node-1: 21.4/22.4 is within a tenth, 6.4/7.4
	// is not, and 1 ms is more than 500 µs.
	if d.P99From == nil || *d.P99From != 20 {
		t.Errorf("p99 is the same from %v on, want 20", d.P99From)
	}
	if s := d.Rows[3].BaseShare; s == nil || math.Abs(*s-20./21) > 0.01 {
		t.Errorf("share of waiting %v, want 20 of 21 ms", s)
	}
}

// Too few processes prove no equality, and one level that differs takes those below it along.
func TestNoAnswerWithoutEvidence(t *testing.T) {
	s := example.Delayed()
	var kept []record.Run
	for _, r := range s.Runs {
		if r.Step.Block <= 5 {
			kept = append(kept, r)
		}
	}
	s.Runs = kept
	if d := findings.Evaluate(s).Dilutions[0]; d.RateFrom != nil || d.P99From != nil || d.Rows[1].Rate == nil || d.Rows[1].Rate.Reached {
		t.Errorf("five processes say %+v", d)
	}
	s = example.Delayed()
	for i, r := range s.Runs {
		if r.Step.Target == "go-1-5ms" && r.Step.Scenario == "load" {
			c := &s.Runs[i].Load.Counts
			c.OK /= 2
			c.Planned, c.InWindow = c.OK, c.OK
		}
	}
	if d := dilution(t, s); d.RateFrom == nil || *d.RateFrom != 20 {
		t.Errorf("rates are the same from %v on, want 20: at 5 they are not", d.RateFrom)
	}
}

func TestWaitsOfAFanOut(t *testing.T) {
	s := example.Delayed()
	for i, x := range s.Plan.Targets {
		switch x.Name {
		case "go-1-5ms":
			s.Plan.Targets[i].Env = []string{"GOMAXPROCS=1", "DELAY_MS=5+10+5"}
		case "go-1-20ms":
			s.Plan.Targets[i].Env = []string{"DELAY_MS=5/20/5"}
		}
	}
	d := findings.Evaluate(s).Dilutions[0]
	if a, b := d.Rows[2].Waited, d.Rows[3].Waited; a != 20*time.Millisecond || b != 20*time.Millisecond {
		t.Errorf("5+10+5 waits %v, 5/20/5 %v, want 20ms both", a, b)
	}
}
