package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// TestArtefactMax is C56 and the cases around its rule: maxima of which nothing
// but their size is known.
func TestArtefactMax(t *testing.T) {
	const lone, usual = 230 * time.Millisecond, 5 * time.Millisecond
	const rejected, open, believed = "artefact-max", "undetermined-max", ""
	for _, c := range []struct {
		name  string
		maxes []time.Duration
		code  string
		want  []int // blocks that show it
	}{
		{"one of three", []time.Duration{usual, lone, usual}, rejected, []int{2}},
		{"all three", []time.Duration{lone, lone, lone}, believed, nil},
		{"two of three: three are needed", []time.Duration{lone, lone, usual}, open, []int{1, 2}},
		{"one of six", []time.Duration{usual, usual, usual, lone, usual, usual}, rejected, []int{4}},
		{"two of six", []time.Duration{lone, usual, usual, lone, usual, usual}, open, []int{1, 4}},
		{"three of six", []time.Duration{lone, lone, lone, usual, usual, usual}, believed, nil},
		{"three of seven: four are needed", []time.Duration{lone, lone, lone, usual, usual, usual, usual}, open, []int{1, 2, 3}},
		{"one of two: nothing can be told", []time.Duration{lone, usual}, believed, nil},
		{"one of one", []time.Duration{lone}, believed, nil},
		{"half of it is not more than half", []time.Duration{usual, 2 * usual, usual}, rejected, []int{2}},
		{"just above half", []time.Duration{usual, 2*usual - 1, usual}, believed, nil},
	} {
		s := pair(len(c.maxes))
		for b, m := range c.maxes {
			of(s, "a", b+1).Load.Service = flat(10_000, m)
		}
		var want []string
		for _, b := range c.want {
			want = append(want, fmt.Sprintf("a/get/b%02d", b))
		}
		e := Evaluate(s)
		code, got := believed, []string(nil)
		for _, f := range e.Findings {
			if f.Code == rejected || f.Code == open {
				code, got = f.Code, f.Steps
				if phrase := fmt.Sprintf("seen in %d of %s", len(want), count(len(c.maxes), "run")); !strings.Contains(f.Text, phrase) {
					t.Errorf("%s: %q does not say %q", c.name, f.Text, phrase)
				}
			}
		}
		if code != c.code || !slices.Equal(got, want) {
			t.Errorf("%s: %q for %v, want %q for %v", c.name, code, got, c.code, want)
		}
		if cell := e.Cells[0]; cell.Summary[Max].Max != float64(slices.Max(c.maxes)) {
			t.Errorf("%s: the maximum is gone from the range: %+v", c.name, cell.Summary[Max])
		}
	}
}

// TestSlowTailIsNoArtefact: where p99.9 is high too, more than one request was
// slow, and the run is not explained away.
func TestSlowTailIsNoArtefact(t *testing.T) {
	s := pair(3)
	h := histogram.New()
	for range 9_900 {
		h.Record(time.Millisecond)
	}
	for range 100 { // 1 % of the requests
		h.Record(230 * time.Millisecond)
	}
	of(s, "a", 2).Load.Service = h.Encode()
	if got := codes(Evaluate(s)); slices.Contains(got, "artefact-max") {
		t.Errorf("got %v", got)
	}
}

func TestRules(t *testing.T) {
	both := func(s *record.Session, f func(r *record.Run)) {
		for i := range s.Runs {
			f(&s.Runs[i])
		}
	}
	for _, c := range []struct {
		name     string
		blocks   int
		spoil    func(s *record.Session)
		want     string // code; "" for none at all
		severity record.Severity
		observed string // part of it
	}{
		{"six quiet blocks", 6, func(*record.Session) {}, "", "", ""},
		{"five blocks", 5, func(*record.Session) {}, "few-blocks", record.Warn, "5 runs in a/get, b/get"},
		{"quick", 6, func(s *record.Session) { s.Plan.Quick = true }, "quick", record.Warn, "6 blocks"},
		{"cut short", 6, func(s *record.Session) { s.Finished = time.Time{} }, "incomplete", record.Voids, "12 of 12 steps"},
		{"a step without a run", 7, func(s *record.Session) { s.Runs = s.Runs[:13] }, "incomplete", record.Voids, "13 of 14 steps"},
		{"errors", 6, func(s *record.Session) {
			of(s, "a", 2).Load.Counts = record.Counts{Planned: 1000, OK: 997, Failed: 2, TimedOut: 1, InWindow: 997}
			of(s, "a", 2).Load.Errors = map[string]record.ErrorKind{record.ErrReset: {Count: 2, Example: "read: reset"}, record.ErrTimeout: {Count: 1}}
		}, "errors", record.Warn, "3 of 6000 requests"},
		{"server idle, generator full", 6, func(s *record.Session) {
			both(s, func(r *record.Run) {
				r.ServerCPU, r.Load.CPU = &record.CPUTime{User: 1500 * time.Millisecond}, record.CPUTime{User: 1900 * time.Millisecond}
			})
		}, "generator-bound", record.Warn, "server 75 %, generator 95 %"},
		{"server idle, generator idle", 6, func(s *record.Session) {
			both(s, func(r *record.Run) { r.ServerCPU = &record.CPUTime{User: 1500 * time.Millisecond} })
		}, "not-server-bound", record.Warn, "server 75 %, generator 50 %"},
		{"both full", 6, func(s *record.Session) {
			both(s, func(r *record.Run) { r.Load.CPU = record.CPUTime{User: 1900 * time.Millisecond} })
		}, "generator-near-limit", record.Note, "server 100 %, generator 95 %"},
		{"shared", 6, func(s *record.Session) {
			s.Plan.Targets[0].GeneratorCPUs = []int{0, 1}
			for b := 1; b <= 6; b++ { // half idle, as it must be when the generator has the other half
				of(s, "a", b).ServerCPU = &record.CPUTime{User: time.Second}
			}
		}, "shared-cpus", record.Note, "a"},
		{"chatty", 6, func(s *record.Session) { of(s, "b", 1).LogInWindow = 1001 }, "chatty-server", record.Warn, "1.00 bytes"},
		{"resumed when the clock had been set back", 6, func(s *record.Session) {
			runs, noon := 2, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
			for i := range s.Runs {
				s.Runs[i].Started = noon
			}
			s.Resumes = []record.Resume{{At: noon.Add(-time.Hour), Kept: &runs}}
		}, "resumed", record.Note, "by a clock that was set back meanwhile"},
		{"a log too long to keep", 6, func(s *record.Session) { of(s, "b", 1).LogCut, of(s, "b", 2).LogCut = 5, 2 }, "log-cut", record.Note, "7 bytes of 2 logs"},
		{"not chatty", 6, func(s *record.Session) { of(s, "b", 1).LogInWindow = 1000 }, "", "", ""},
		{"even workers", 6, func(s *record.Session) { of(s, "a", 1).PerWorker = []uint64{25, 25} }, "", "", ""},
		// 40 of 50: 40 x 2 / 50 = 1.6; Jain 50^2 / (2 (40^2 + 10^2)) = 2500/3400.
		{"uneven workers", 6, func(s *record.Session) { of(s, "a", 1).PerWorker = []uint64{40, 10} }, "imbalanced-workers", record.Warn, "1.60 x the mean, Jain's index 0.735"},
		{"loud machine", 6, func(s *record.Session) {
			s.Host.Checks = []record.Check{{Name: "governor", Observed: "powersave", Limit: "performance"}, {Name: "clock", OK: true}}
		}, "machine", record.Note, "governor: powersave"},
		{"machine that voids", 6, func(s *record.Session) {
			s.Host.Checks = []record.Check{{Name: "steal", Void: true, Observed: "3 %", Limit: "0.5 %"}}
		}, "machine", record.Warn, "steal: 3 %"},
		{"failed check", 6, func(s *record.Session) {
			of(s, "a", 1).Checks = []record.Check{{Name: "governor", Observed: "powersave", Limit: "performance"}, {Name: "other", OK: true}}
		}, "check-failed", record.Warn, "powersave in a/get/b01"},
		{"reply bytes", 6, func(s *record.Session) {
			s.Contract = []record.Parity{{Target: "a", ReplyBytesGET: 186}, {Target: "b", ReplyBytesGET: 233}}
		}, "reply-bytes", record.Note, "a 186 and b 233 bytes"},
	} {
		s := pair(c.blocks)
		c.spoil(s)
		e := Evaluate(s)
		if c.want == "" {
			if len(e.Findings) > 0 {
				t.Errorf("%s: %v", c.name, codes(e))
			}
			continue
		}
		f := findingOf(t, e, c.want)
		if f.Severity != c.severity || !strings.Contains(f.Observed, c.observed) {
			t.Errorf("%s: got %+v", c.name, f)
		}
		for _, other := range codes(e) {
			if other != c.want {
				t.Errorf("%s: also %s", c.name, other)
			}
		}
	}
}

func TestBalance(t *testing.T) {
	for _, c := range []struct {
		workers    []uint64
		over, jain float64
		ok         bool
	}{
		{[]uint64{25, 25}, 1, 1, true},
		{[]uint64{40, 10}, 1.6, 2500. / 3400, true},
		{[]uint64{50, 0}, 2, 0.5, true},
		{[]uint64{7}, 0, 0, false},
		{[]uint64{0, 0}, 0, 0, false},
		{nil, 0, 0, false},
	} {
		over, jain, ok := balance(c.workers)
		if over != c.over || !near(jain, c.jain) && jain != c.jain || ok != c.ok {
			t.Errorf("%v: got %v, %v, %v", c.workers, over, jain, ok)
		}
	}
}

func TestAnUnknownCheckIsNoEvent(t *testing.T) {
	s := pair(6)
	of(s, "a", 1).Checks = []record.Check{{Name: "thermal slow-downs", Unknown: true, Observed: "unknown", Limit: "0"}}
	for _, f := range Evaluate(s).Findings {
		if f.Code == "check-failed" {
			t.Errorf("got %+v", f)
		}
	}
}
