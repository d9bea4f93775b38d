package record

import (
	"strings"
	"testing"
)

func TestBounds(t *testing.T) {
	plain := func() *Session {
		return &Session{Plan: Plan{Blocks: 2, Scenarios: []Scenario{{Name: "get"}}}, Runs: []Run{{Step: Step{Target: "a", Scenario: "get"}, Load: &LoadResult{}}}}
	}
	for _, c := range []struct {
		name   string
		change func(*Session)
		want   string // in the error; "": none
	}{
		{"as it is", func(*Session) {}, ""},
		{"as many blocks as may be", func(s *Session) { s.Plan.Blocks = 500 }, ""},
		{"one block more", func(s *Session) { s.Plan.Blocks = 501 }, "a plan of 501 blocks"},
		{"less than none", func(s *Session) { s.Plan.Blocks = -1 }, "a plan of -1 blocks"},
		{"cycles without end", func(s *Session) { s.Plan.Scenarios[0].Work = &MemoryWork{Cycles: 1001} }, "1001 cycles"},
		{"a series without end", func(s *Session) { s.Runs[0].Load.Timeline = make([]Slice, 5001) }, "5001 slices"},
		{"runs of one cell", func(s *Session) { s.Runs = append(s.Runs, make([]Run, 1000)...); copyStep(s) }, "more than 1000 runs of a in get"},
		{"runs in all", func(s *Session) { s.Runs = make([]Run, 20_001) }, "20001 runs"},
	} {
		s := plain()
		c.change(s)
		err := s.bounded()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && s.Validate() == nil {
			t.Errorf("%s: valid all the same", c.name)
		}
	}
}

func copyStep(s *Session) {
	for i := range s.Runs {
		s.Runs[i].Step = s.Runs[0].Step
	}
}
