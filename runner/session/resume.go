package session

import "gonogo/runner/record"

// standing is what the runs on disk say of a group.
type standing struct {
	attempts  int  // begun so far: the number of the next one
	whole     bool // the last of them came to its end
	disturbed bool // and a check voided one of its runs
	repeats   int  // attempts that were begun because the one before was disturbed
}

// before tells how far a group had come before an interruption. An attempt that was
// cut, be it by a signal or by a death that left no word, counts as none: the next
// one takes its place whole.
func before(kept []record.Run, group []record.Step) standing {
	steps := map[record.Step]bool{}
	for _, st := range group {
		steps[st] = true
	}
	type attempt struct{ runs, void int }
	all := map[int]attempt{}
	for i := range kept {
		r := &kept[i]
		if !steps[r.Step] {
			continue
		}
		a := all[r.Attempt]
		if r.Outcome != record.Interrupted {
			a.runs++
		}
		if r.Outcome == record.Void {
			a.void++
		}
		all[r.Attempt] = a
	}
	s := standing{}
	for n := range all {
		s.attempts = max(s.attempts, n+1)
	}
	for n, a := range all {
		whole := a.runs == len(group)
		if n == s.attempts-1 {
			s.whole, s.disturbed = whole, whole && a.void > 0
		} else if whole { // nothing but a disturbance makes a whole group run again
			s.repeats++
		}
	}
	return s
}

// Outstanding are the steps whose group is not whole among the runs on disk, in
// the plan's order.
func Outstanding(kept []record.Run, steps []record.Step) []record.Step {
	var left []record.Step
	for _, g := range groupsOf(steps) {
		if !before(kept, g).whole {
			left = append(left, g...)
		}
	}
	return left
}
