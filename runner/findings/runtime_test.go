package findings

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// diagnosed is six blocks in each of which a had a lone request of 251 ms, at another
// age, and two confirmations of a that were traced and show the like.
func diagnosed(pauses ...[]record.ServerPause) *record.Session {
	s := confirmable()
	for b := 1; b <= 6; b++ {
		story(of(s, "a", b), took(time.Duration(b*200)*ms, 251*ms+time.Duration(b)))
	}
	for i, st := range []record.Step{s.Plan.Confirm[1], s.Plan.Confirm[3]} {
		r := run(st, 1000)
		story(r, took(500*ms, 240*ms))
		r.Traced = "gctrace"
		if i < len(pauses) {
			r.ServerPauses = pauses[i]
		}
		s.Runs = append(s.Runs, *r)
	}
	return s
}

func told(at, length, late time.Duration, pid int) record.ServerPause {
	return record.ServerPause{Hiccup: record.Hiccup{Start: edge + at, Length: length}, Late: late, PID: pid}
}

// TestRuntime: a cause is the server's runtime only where it said so itself, in two
// runs, of a pause that lies in a slow request and is half as long. The requests of the
// traced runs last from 500 to 740 ms, of which 239 are excess: 119.5 cover it.
func TestRuntime(t *testing.T) {
	one := func(p ...record.ServerPause) []record.ServerPause { return p }
	long := one(told(500*ms, 200*ms, 10*ms, 1))
	for _, c := range []struct {
		name   string
		pauses [][]record.ServerPause
		want   Class
	}{
		{"quiet", nil, Unexplained},
		{"in one run of two", [][]record.ServerPause{long}, Unexplained},
		{"in both", [][]record.ServerPause{long, long}, Runtime},
		{"just half", [][]record.ServerPause{long, one(told(500*ms, 119500*time.Microsecond, 0, 1))}, Runtime},
		{"less than half", [][]record.ServerPause{long, one(told(500*ms, 119499*time.Microsecond, 0, 1))}, Unexplained},
		{"at another time", [][]record.ServerPause{long, one(told(800*ms, 200*ms, 0, 1))}, Unexplained},
		{"may have been then", [][]record.ServerPause{long, one(told(300*ms, 200*ms, 180*ms, 1))}, Runtime},
		{"may have been anywhere", [][]record.ServerPause{long, one(told(300*ms, 200*ms, 201*ms, 1))}, Unexplained},
		{"many short ones of one process", [][]record.ServerPause{long, one(told(500*ms, 60*ms, 0, 1), told(600*ms, 60*ms, 0, 1))}, Runtime},
		{"of two workers, of which one served it", [][]record.ServerPause{long, one(told(500*ms, 60*ms, 0, 1), told(600*ms, 60*ms, 0, 2))}, Unexplained},
	} {
		s := diagnosed(c.pauses...)
		m := Evaluate(s).Cells[0].Maximum
		if m.Class != c.want || m.Standing != Reproduced || m.Traced != 2 || m.SeenIn != 8 {
			t.Errorf("%s: %s, %s", c.name, m.Class, m.Text)
		}
	}
}

// TestSeenInUntracedRunsOnly: the runs that were asked for a cause did not show it.
func TestSeenInUntracedRunsOnly(t *testing.T) {
	const says = "not seen in the 2 traced runs"
	s := diagnosed()
	if m := Evaluate(s).Cells[0].Maximum; strings.Contains(m.Text, says) || !strings.Contains(m.Text, "2 of them made to confirm it") {
		t.Error(m.Text)
	}
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Traced != "" {
			story(r)
		}
	}
	if m := Evaluate(s).Cells[0].Maximum; !strings.Contains(m.Text, says) || m.Standing != Reproduced || m.SeenIn != 6 {
		t.Errorf("%s: %s", m.Standing, m.Text)
	}
}

// TestATracedRunMayBeChatty: what it writes was asked for, and is said nowhere else.
func TestATracedRunMayBeChatty(t *testing.T) {
	s := diagnosed()
	for i := range s.Runs {
		if s.Runs[i].Traced != "" {
			s.Runs[i].LogInWindow, s.Runs[i].LogBytes = 1<<20, 1<<20
		}
	}
	for _, f := range Evaluate(s).Findings {
		if f.Code == "chatty-server" {
			t.Error(f)
		}
	}
	of(s, "a", 1).LogInWindow = 1 << 20 // untraced, it is a finding
	findingOf(t, Evaluate(s), "chatty-server")
}
