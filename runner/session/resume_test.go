package session

import (
	"context"
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

// had is a run on disk of a target in a block, under one scenario.
func had(p *record.Plan, index, attempt int, o record.Outcome) record.Run {
	return record.Run{Step: p.Steps[index], Attempt: attempt, Outcome: o}
}

// TestBefore: what the runs on disk say of the group of steps 0 and 1.
func TestBefore(t *testing.T) {
	p := planOf([]record.Scenario{closedLoop(time.Second)}, target("a"), target("b"))
	run := func(index, attempt int, o record.Outcome) record.Run { return had(p, index, attempt, o) }
	const done, void, failed, interrupted = record.Done, record.Void, record.Failed, record.Interrupted
	for _, c := range []struct {
		name string
		kept []record.Run
		want standing
	}{
		{"nothing", nil, standing{}},
		{"whole", []record.Run{run(0, 0, done), run(1, 0, done)}, standing{attempts: 1, whole: true}},
		{"whole, of which one failed: that is what was seen", []record.Run{run(0, 0, failed), run(1, 0, done)}, standing{attempts: 1, whole: true}},
		{"killed in the second", []record.Run{run(0, 0, done)}, standing{attempts: 1}},
		{"ended by a signal in the second", []record.Run{run(0, 0, done), run(1, 0, interrupted)}, standing{attempts: 1}},
		{"disturbed, and killed before the repeat", []record.Run{run(0, 0, done), run(1, 0, void)}, standing{attempts: 1, whole: true, disturbed: true}},
		{"killed in the repeat", []record.Run{run(0, 0, done), run(1, 0, void), run(0, 1, done)}, standing{attempts: 2, repeats: 1}},
		{"repeated", []record.Run{run(0, 0, void), run(1, 0, done), run(0, 1, done), run(1, 1, done)}, standing{attempts: 2, whole: true, repeats: 1}},
		{"cut, whole and disturbed, cut", []record.Run{run(0, 0, void), run(0, 1, void), run(1, 1, done), run(0, 2, done)}, standing{attempts: 3, repeats: 1}},
		{"cut twice", []record.Run{run(0, 0, done), run(0, 1, interrupted)}, standing{attempts: 2}},
	} {
		if got := before(c.kept, p.Steps); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestResume: of three blocks the first is whole and the second was cut: that runs
// again whole under the next number, and then the third, in the plan's order.
func TestResume(t *testing.T) {
	p := planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a"), target("b"))
	p.Blocks, p.Steps = 3, nil
	for i, name := range []string{"a", "b", "b", "a", "b", "a"} {
		p.Steps = append(p.Steps, record.Step{Index: i, Block: i/2 + 1, Position: i % 2, Target: name, Scenario: "get-c4"})
	}
	kept := []record.Run{had(p, 0, 0, record.Done), had(p, 1, 0, record.Failed), had(p, 2, 0, record.Done)}
	if got := Outstanding(kept, p.Steps); !slices.Equal(got, p.Steps[2:]) {
		t.Errorf("outstanding: %v", got)
	}
	type ran struct{ index, attempt int }
	var o outcome
	var left []time.Duration
	c := config(t, p, &o, func(e Event) { left = append(left, e.Left) })
	c.Kept = kept
	if err := Execute(context.Background(), c, nil); err != nil {
		t.Fatal(err)
	}
	var got []ran
	for _, r := range o.runs {
		got = append(got, ran{r.Step.Index, r.Attempt})
	}
	if want := []ran{{2, 1}, {3, 1}, {4, 0}, {5, 0}}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
	if left[0] != 4*stepTime(p, p.Steps[0]) || left[len(left)-1] != 0 {
		t.Errorf("time left: %v", left)
	}
}

// TestResumeCountsRepeats: the limit on repeats is the session's, not a sitting's,
// and a group that was cut does not use it up.
func TestResumeCountsRepeats(t *testing.T) {
	p := planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a", "-delay=1ms"))
	p.Rules.RepeatedGroupsMax = 2
	p.Targets[0].CPUs = []int{4095} // refused by the kernel: every run fails, none is void
	kept := []record.Run{had(p, 0, 0, record.Void), had(p, 0, 1, record.Void), had(p, 0, 2, record.Void)}
	for name, c := range map[string]struct {
		kept []record.Run
		want int
	}{
		"both repeats are spent":            {kept, 0},
		"one is left":                       {kept[:2], 1},
		"cut: it runs whatever was spent":   {append(slices.Clone(kept[:2]), had(p, 0, 2, record.Interrupted)), 1},
		"nothing is left once it was whole": {append(slices.Clone(kept[:1]), had(p, 0, 1, record.Failed)), 0},
	} {
		var o outcome
		cfg := config(t, p, &o, nil)
		cfg.Kept = c.kept
		if err := Execute(context.Background(), cfg, nil); err != nil || len(o.runs) != c.want {
			t.Errorf("%s: %d runs, want %d, %v", name, len(o.runs), c.want, err)
		}
	}
}
