package findings

import (
	"testing"
	"time"

	"gonogo/runner/record"
)

// Rates are chosen so that their inverses are whole: 20 000/s is 50 us a request,
// 25 000 is 40, 10 000 is 100, 8 000 is 125.
func TestCapacityTimes(t *testing.T) {
	process := func(block int, rate float64) Process {
		return Process{Step: record.Step{Block: block}, Values: map[Metric]float64{Rate: rate}}
	}
	s := &record.Session{Plan: record.Plan{
		Targets: []record.Target{{Name: "go-1", Base: "node-1"}, {Name: "node-1"}},
		Scenarios: []record.Scenario{
			{Name: "get-c50", Kind: record.Closed}, {Name: "get-open", Kind: record.Open}, {Name: "post-c50", Kind: record.Closed},
		},
	}}
	e := &Evaluation{Cells: []Cell{
		{Target: "go-1", Scenario: "get-c50", Processes: []Process{process(1, 20_000), process(2, 25_000), process(3, 20_000), {Step: record.Step{Block: 4}}}},
		{Target: "node-1", Scenario: "get-c50", Processes: []Process{process(1, 10_000), process(2, 8_000), process(4, 10_000)}},
		// An open loop's rate is what was offered and no capacity.
		{Target: "go-1", Scenario: "get-open", Processes: []Process{process(1, 1_000)}},
		{Target: "node-1", Scenario: "get-open", Processes: []Process{process(1, 1_000)}},
		// No block has both.
		{Target: "go-1", Scenario: "post-c50", Processes: []Process{process(1, 20_000)}},
		{Target: "node-1", Scenario: "post-c50", Processes: []Process{process(2, 10_000)}},
	}}
	got := CapacityTimes(s, e)
	if len(got) != 1 {
		t.Fatalf("%d pairs, want the closed loop alone: %+v", len(got), got)
	}
	c := got[0]
	us := float64(time.Microsecond)
	for _, x := range []struct {
		name      string
		got, want Summary
	}{
		{"time", c.Time, Summary{N: 3, Median: 50 * us, Min: 40 * us, Max: 50 * us}},        // 50, 40, 50
		{"base", c.BaseTime, Summary{N: 3, Median: 100 * us, Min: 100 * us, Max: 125 * us}}, // 100, 125, 100
		{"saved", c.Saved, Summary{N: 2, Median: 67.5 * us, Min: 50 * us, Max: 85 * us}},    // 100-50, 125-40; block 3 lacks a base
	} {
		if x.got != x.want {
			t.Errorf("%s: got %+v, want %+v", x.name, x.got, x.want)
		}
	}
	// 67.5 us are 3.375 % of 2 ms and 0.675 % of 10 ms.
	if len(c.Shares) != 2 || c.Shares[0] != (Share{2 * time.Millisecond, 0.03375}) || c.Shares[1] != (Share{10 * time.Millisecond, 0.00675}) {
		t.Errorf("shares are %+v", c.Shares)
	}
}
