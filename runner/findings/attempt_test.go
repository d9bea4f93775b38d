package findings

import (
	"testing"

	"gonogo/runner/record"
)

// Two runs of one step are told apart by their attempt.
func TestAttempts(t *testing.T) {
	s := pair(1)
	again := *of(s, "b", 1)
	of(s, "b", 1).Outcome, of(s, "b", 1).Reason = record.Void, "x"
	first := *of(s, "a", 1)
	first.Attempt, again.Attempt = 1, 1
	s.Runs = append(s.Runs, first, again)
	e := Evaluate(s)
	for _, target := range []string{"a", "b"} {
		if c, _ := e.Cell(target, "get"); len(c.Processes) != 1 || c.Processes[0].Attempt != 1 {
			t.Errorf("%s: processes %+v", target, c.Processes)
		}
	}
	if len(e.Discarded) != 2 || e.Discarded[0].Attempt != 0 || e.Discarded[1].Attempt != 0 || !e.Discarded[1].Repeated {
		t.Errorf("discarded %+v", e.Discarded)
	}
	s.Runs[2].Outcome, s.Runs[2].Reason = record.Failed, "y"
	if d := Evaluate(s).Discarded; len(d) != 3 || d[2].Attempt != 1 || d[2].Repeated {
		t.Errorf("discarded %+v", d)
	}
}

// What was asked for was offered, be it answered or not.
func TestOffered(t *testing.T) {
	s := pair(1)
	of(s, "a", 1).OfferedPerSec = 500
	of(s, "a", 1).Load.Counts = record.Counts{Planned: 1000, TimedOut: 1000}
	e := Evaluate(s)
	a, _ := e.Cell("a", "get")
	if got := a.Summary[Offered].Median; got != 500 {
		t.Errorf("offered %v/s, want 500", got)
	}
	if b, _ := e.Cell("b", "get"); b.Summary[Offered].N != 0 {
		t.Error("a closed loop offers no rate")
	}
}
