package record

import "time"

// Resume says that a session which had been cut short went on. What was done until
// then is told by the runs alone: see Session.Interruptions.
type Resume struct {
	At     time.Time `json:"at"`               // when it went on
	Grade  string    `json:"grade,omitempty"`  // of the machine then, as Host.Grade
	Checks []Check   `json:"checks,omitempty"` // gates then, as Host.Checks
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
	old := s.Superseded()
	var all []Interruption
	var since time.Time
	for _, resume := range s.Resumes {
		gap := Interruption{Last: s.Started, Resumed: resume.At}
		var last *Run
		for i := range s.Runs {
			r := &s.Runs[i]
			if r.Started.Before(resume.At) && (last == nil || !r.Started.Before(last.Started)) {
				last = r
			}
		}
		if last != nil {
			gap.After, gap.Signal, gap.Last = last.Step.Key(), last.Outcome == Interrupted, last.Started.Add(last.Took)
			gap.Repeated = s.cut(last, old)
		}
		// Two sittings in a row may keep no run: then the last sign is the resume before.
		if gap.Last.Before(since) {
			gap.Last, gap.Repeated = since, nil
		}
		if gap.Last.IsZero() { // a folder that was renamed tells no start
			gap.Last = resume.At
		}
		gap.Gap = max(0, resume.At.Sub(gap.Last))
		since = resume.At
		all = append(all, gap)
	}
	return all
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
