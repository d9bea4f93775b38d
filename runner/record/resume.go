package record

import (
	"cmp"
	"slices"
	"time"
)

// Resume says that a session which had been cut short went on. What was done until
// then is told by the runs alone: see Session.Interruptions.
type Resume struct {
	At     time.Time `json:"at"`               // when it went on
	Grade  string    `json:"grade,omitempty"`  // of the machine then, as Host.Grade
	Checks []Check   `json:"checks,omitempty"` // gates then, as Host.Checks
	// Kept is how many runs were on disk. The wall clock cannot tell which: it may have
	// been set in between.
	Kept *int `json:"runs_kept,omitempty"`
}

// Interruption is a gap in a session.
type Interruption struct {
	After    string        // key of the last step that was kept before it; "" for none
	Signal   bool          // that run was ended by a signal; else nothing is known of the cause
	Last     time.Time     // the last sign of life: the end of that run, or the start of the session
	Resumed  time.Time     //
	Gap      time.Duration // between the two
	Repeated []string      // keys of the runs before it that count no more, for their group was cut and ran again whole
}

// Where says after which run it came, and by what.
func (i Interruption) Where() string {
	switch {
	case i.After == "":
		return "before the first run"
	case i.Signal:
		return "in " + i.After + ", by a signal"
	}
	return "after " + i.After
}

// GateFailed reports whether the machine failed a gate before the session began, or
// before it went on.
func (s *Session) GateFailed() bool {
	failed := s.Host.Grade == "D"
	for _, r := range s.Resumes {
		failed = failed || r.Grade == "D"
	}
	return failed
}

// Interruptions tells, from its runs, where a session was interrupted before each
// resume, in order.
func (s *Session) Interruptions() []Interruption {
	old, made := s.Superseded(), s.made()
	var all []Interruption
	var since Resume
	for i, resume := range s.Resumes {
		gap := Interruption{Last: s.Started, Resumed: resume.At}
		if last := s.lastBefore(resume, made); last != nil {
			gap.After, gap.Signal, gap.Last = last.Step.Key(), last.Outcome == Interrupted, last.Started.Add(last.Took)
			gap.Repeated = s.cut(last, old)
		}
		// Two sittings in a row may keep no run: then the last sign is the resume before.
		if i > 0 && (resume.keptNoMoreThan(since) || gap.Last.Before(since.At)) {
			gap.Last, gap.Repeated = since.At, nil
		}
		if gap.Last.IsZero() { // a folder that was renamed tells no start
			gap.Last = resume.At
		}
		gap.Gap = max(0, resume.At.Sub(gap.Last))
		since = resume
		all = append(all, gap)
	}
	return all
}

// keptNoMoreThan reports whether no run is known to have been kept between two resumes.
func (r Resume) keptNoMoreThan(before Resume) bool {
	return r.Kept != nil && before.Kept != nil && *r.Kept == *before.Kept
}

// made are the numbers of the runs in the order in which they were made, whatever the
// clock said: group by group, of each one attempt after the other.
func (s *Session) made() []int {
	type group struct {
		block    int
		scenario string
	}
	first := map[group]int{}
	for i, st := range slices.Concat(s.Plan.Steps, s.Plan.Confirm) {
		if g := (group{st.Block, st.Scenario}); first[g] == 0 {
			first[g] = i + 1
		}
	}
	order := make([]int, len(s.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &s.Runs[i], &s.Runs[j]
		return cmp.Or(cmp.Compare(first[group{a.Step.Block, a.Step.Scenario}], first[group{b.Step.Block, b.Step.Scenario}]),
			cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Step.Index, b.Step.Index))
	})
	return order
}

// lastBefore is the run that was made last before a resume; nil if there was none. A
// resume that does not tell how many there were leaves only the clock to go by.
func (s *Session) lastBefore(resume Resume, made []int) *Run {
	if resume.Kept != nil {
		if n := min(*resume.Kept, len(made)); n > 0 {
			return &s.Runs[made[n-1]]
		}
		return nil
	}
	var last *Run
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Started.Before(resume.At) && (last == nil || !r.Started.Before(last.Started)) {
			last = r
		}
	}
	return last
}

// cut are the runs of one attempt at a group that ended with last, if it ended
// before its time: an attempt that is whole ran again for another reason, or not
// at all.
func (s *Session) cut(last *Run, old []bool) []string {
	want, have := 0, 0
	var keys []string
	for _, st := range s.Plan.Steps {
		if st.Block == last.Step.Block && st.Scenario == last.Step.Scenario {
			want++
		}
	}
	for i, r := range s.Runs {
		if r.Step.Block == last.Step.Block && r.Step.Scenario == last.Step.Scenario && r.Attempt == last.Attempt {
			if r.Outcome != Interrupted {
				have++
			}
			if old[i] {
				keys = append(keys, r.Step.Key())
			}
		}
	}
	if want > 0 && have >= want {
		return nil
	}
	return keys
}
