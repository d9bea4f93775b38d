package record

import (
	"slices"
	"testing"
	"time"
)

// TestInterruptions: two groups of two runs each, a and b in block 1 and then in
// block 2, a minute apart and ten seconds long, from 12:00.
func TestInterruptions(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var steps []Step
	for i, target := range []string{"a", "b", "a", "b"} {
		steps = append(steps, Step{Index: i, Block: i/2 + 1, Target: target, Scenario: "get"})
	}
	run := func(step, attempt int, minute time.Duration, o Outcome) Run {
		return Run{Step: steps[step], Attempt: attempt, Outcome: o, Started: noon.Add(minute * time.Minute), Took: 10 * time.Second}
	}
	at := func(minute time.Duration, kept int) Resume {
		r := Resume{At: noon.Add(minute * time.Minute), Kept: &kept}
		if kept < 0 {
			r.Kept = nil
		}
		return r
	}
	const unknown = -1
	type gap struct {
		after    string
		signal   bool
		gap      time.Duration
		repeated []string
	}
	for _, c := range []struct {
		name    string
		resumes []Resume
		runs    []Run
		want    []gap
	}{
		{"before the first run", []Resume{at(5, 0)}, []Run{run(0, 0, 6, Done)}, []gap{{"", false, 5 * time.Minute, nil}}},
		{"between two groups", []Resume{at(5, 2)}, []Run{run(0, 0, 1, Done), run(1, 0, 2, Done), run(2, 0, 6, Done)},
			[]gap{{"b/get/b01", false, 3*time.Minute - 10*time.Second, nil}}},
		{"killed in a group, which ran again", []Resume{at(5, 1)}, []Run{run(0, 0, 1, Done), run(0, 1, 6, Done), run(1, 1, 7, Done)},
			[]gap{{"a/get/b01", false, 4*time.Minute - 10*time.Second, []string{"a/get/b01"}}}},
		{"by a signal in a group", []Resume{at(5, 2)}, []Run{run(0, 0, 1, Done), run(0, 1, 6, Done), run(1, 0, 2, Interrupted), run(1, 1, 7, Done)},
			[]gap{{"b/get/b01", true, 3*time.Minute - 10*time.Second, []string{"a/get/b01", "b/get/b01"}}}},
		{"twice, and nothing was kept in between", []Resume{at(5, 2), at(9, 2)}, []Run{run(0, 0, 1, Done), run(1, 0, 2, Done), run(2, 0, 10, Done)},
			[]gap{{"b/get/b01", false, 3*time.Minute - 10*time.Second, nil}, {"b/get/b01", false, 4 * time.Minute, nil}}},
		{"twice in the same group", []Resume{at(5, 1), at(8, 2)}, []Run{run(0, 0, 1, Done), run(0, 1, 6, Done), run(0, 2, 9, Done), run(1, 2, 10, Done)},
			[]gap{{"a/get/b01", false, 4*time.Minute - 10*time.Second, []string{"a/get/b01"}}, {"a/get/b01", false, 2*time.Minute - 10*time.Second, []string{"a/get/b01"}}}},
		{"the clock was set back by an hour in between", []Resume{at(-55, 2)}, []Run{run(0, 0, 1, Done), run(1, 0, 2, Done), run(2, 0, -54, Done)},
			[]gap{{"b/get/b01", false, 0, nil}}},
		{"the clock was set forward in a sitting and back in between", []Resume{at(5, 3)}, []Run{run(0, 0, 1, Done), run(1, 0, 62, Done), run(2, 0, 63, Done), run(2, 1, 6, Done)},
			[]gap{{"a/get/b02", false, 0, []string{"a/get/b02"}}}},
		{"written before resumes told how many", []Resume{at(5, unknown), at(9, unknown)}, []Run{run(0, 0, 1, Done), run(1, 0, 2, Done), run(2, 0, 6, Done), run(2, 1, 10, Done), run(3, 1, 11, Done)},
			[]gap{{"b/get/b01", false, 3*time.Minute - 10*time.Second, nil}, {"a/get/b02", false, 3*time.Minute - 10*time.Second, []string{"a/get/b02"}}}},
		{"more are told of than there are", []Resume{at(5, 9)}, []Run{run(0, 0, 1, Done)}, []gap{{"a/get/b01", false, 4*time.Minute - 10*time.Second, nil}}},
	} {
		s := &Session{Started: noon, Plan: Plan{Steps: steps}, Runs: c.runs, Resumes: c.resumes}
		var got []gap
		for _, i := range s.Interruptions() {
			got = append(got, gap{i.After, i.Signal, i.Gap, i.Repeated})
		}
		if !slices.EqualFunc(got, c.want, func(a, b gap) bool {
			return a.after == b.after && a.signal == b.signal && a.gap == b.gap && slices.Equal(a.repeated, b.repeated)
		}) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}
