package load

import (
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

// TestPauses is a loop that may rest 4 ms at a time.
func TestPauses(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		turns []time.Duration // since 100 ms, where the loop begins
		want  []record.Pause  // from a window that begins at 100 ms
		max   time.Duration
	}{
		{"turns in time", []time.Duration{4 * ms, 4 * ms, 8 * ms}, nil, 0},
		{"a millisecond late is no pause", []time.Duration{5 * ms, 10 * ms}, nil, ms},
		// Due at 8, back at 258.
		{"stopped for 250 ms", []time.Duration{4 * ms, 258 * ms, 262 * ms}, []record.Pause{{Start: 8 * ms, Length: 250 * ms}}, 250 * ms},
		{"twice", []time.Duration{14 * ms, 38 * ms}, []record.Pause{{Start: 4 * ms, Length: 10 * ms}, {Start: 18 * ms, Length: 20 * ms}}, 20 * ms},
	} {
		var p pauses
		p.begin(100 * ms)
		for _, at := range c.turns {
			p.turn(100*ms+at, 4*ms)
		}
		got, longest := p.result(100 * ms)
		if !slices.Equal(got, c.want) || *longest != c.max {
			t.Errorf("%s: got %v, longest %v, want %v, %v", c.name, got, *longest, c.want, c.max)
		}
	}
	var none pauses
	if list, longest := none.result(0); list != nil || longest != nil {
		t.Error("an engine without a loop knows its pauses")
	}
}

func TestPausesAllocateNothing(t *testing.T) {
	var p pauses
	p.begin(0)
	now := time.Duration(0)
	if n := testing.AllocsPerRun(2*pauseRoom, func() {
		now += time.Second
		p.turn(now, time.Millisecond)
	}); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
	if list, longest := p.result(0); len(list) != pauseRoom || *longest != 999*time.Millisecond {
		t.Errorf("%d pauses, longest %v", len(list), *longest)
	}
}
