package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

func standardPlan(t *testing.T) *record.Plan {
	t.Helper()
	p, err := plan.New(plan.Options{Seed: 1, CPUs: plan.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fake is a session as a machine would leave it whose k-th run is exp(noise(k)) as
// fast as it should be: a base asked 4000 times a second on a busy CPU, and a slowed
// target that takes 1.10 as long.
func fake(p *record.Plan, truth Truth, noise func(run int) float64) *record.Session {
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "fake", Finished: time.Unix(1, 0), Plan: *p}
	for i, st := range p.Steps {
		rate := 4000 * math.Exp(noise(i))
		if truth == Slowed && st.Target == targetName {
			rate /= 1.10
		}
		window := p.Scenarios[0].Window
		n := uint64(math.Round(rate * window.Seconds()))
		s.Runs = append(s.Runs, record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done,
			ServerCPU: &record.CPUTime{User: window},
			Load: &record.LoadResult{Window: window, Counts: record.Counts{Planned: n, OK: n, InWindow: n},
				CPU: record.CPUTime{User: window / 10}}})
	}
	return s
}

// sessions makes ten of them, changes their plans if it is asked to, and counts.
func sessions(t *testing.T, truth Truth, noise func(r *rand.Rand) func(run int) float64, change func(*record.Plan)) Known {
	t.Helper()
	d := standardPlan(t)
	r := rand.New(rand.NewPCG(7, 0))
	var all []Outcome
	for i := range 10 {
		p, err := KnownPlan(d, "stub", truth, d.Blocks, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(p)
		}
		s := fake(p, truth, noise(r))
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		all = append(all, OutcomeOf(s, findings.Evaluate(s), truth))
	}
	return Count(truth, all)
}

// quiet is 1.5 % between processes.
func quiet(r *rand.Rand) func(int) float64 {
	return func(int) float64 { return 0.015 * r.NormFloat64() }
}

// drifting slows the machine by so much from each run to the next.
func drifting(by float64) func(r *rand.Rand) func(int) float64 {
	return func(r *rand.Rand) func(int) float64 {
		return func(run int) float64 { return -by*float64(run) + 0.005*r.NormFloat64() }
	}
}

// byName is a pairing bug: the labels stand in the same positions in every block.
func byName(p *record.Plan) {
	slices.SortStableFunc(p.Steps, func(a, b record.Step) int {
		if a.Block != b.Block {
			return a.Block - b.Block
		}
		return strings.Compare(a.Target, b.Target)
	})
	for i := range p.Steps {
		p.Steps[i].Index, p.Steps[i].Position = i, i%len(p.Targets)
	}
}

func TestRightVerdictsAreCountedRight(t *testing.T) {
	for _, truth := range []Truth{Equal, Slowed} {
		k := sessions(t, truth, quiet, nil)
		if missed := k.missed(); len(missed) > 0 || k.CPUHeld != Yes || len(k.Tallies) != 2 {
			t.Errorf("%s: missed %q, %+v", truth, missed, k.Tallies)
		}
	}
}

// Drift over shuffled labels harms no verdict; over labels in fixed positions it is
// a difference, and the calibration must fail.
func TestAPairingBugIsSeen(t *testing.T) {
	if k := sessions(t, Equal, drifting(0.02), nil); k.Tallies[0].Held != Yes {
		t.Errorf("drift alone: %+v", k.Tallies)
	}
	k := sessions(t, Equal, drifting(0.02), byName)
	for _, tally := range k.Tallies {
		if tally.Held != No || tally.Right > 0 {
			t.Errorf("labels in fixed positions: %+v", tally)
		}
	}
	// The twin is what notices. Without it a drift beyond the margin becomes a verdict.
	k = sessions(t, Equal, drifting(0.08), func(p *record.Plan) {
		byName(p)
		for i := range p.Targets {
			p.Targets[i].Twin = false
		}
	})
	if tally := k.Tallies[0]; tally.Held != No || tally.Wrong != 10 {
		t.Errorf("labels in fixed positions, no twin: %+v", tally)
	}
}

// A verdict function with one answer, whatever it is, fails for one of the truths.
func TestAStuckVerdictIsSeen(t *testing.T) {
	for _, c := range []struct {
		word          stats.Word
		equal, slowed Held
	}{
		{stats.Better, No, No},
		{stats.Worse, No, Yes},
		{stats.Equivalent, Yes, No},
		{stats.Inconclusive, Yes, No},
		{stats.Invalid, No, No},
		{"", No, No}, // a session that draws no conclusion
	} {
		for truth, want := range map[Truth]Held{Equal: c.equal, Slowed: c.slowed} {
			var all []Outcome
			for range 10 {
				all = append(all, Outcome{Truth: truth, Words: map[string]string{"rate_per_sec": string(c.word)}})
			}
			if got := Count(truth, all).Tallies[0]; got.Held != want || got.Words[string(c.word)] != 10 {
				t.Errorf("always %q, %s servers: %+v, want %s", c.word, truth, got, want)
			}
		}
	}
}

func TestLimitsOfTheCount(t *testing.T) {
	for _, c := range []struct {
		truth              Truth
		worse, equivalent  int // of 10 sessions, the rest INVALID
		want               Held
		wantRight, wantBad int
	}{
		{Equal, 1, 9, Yes, 9, 1},
		{Equal, 2, 8, No, 8, 2}, // of two wrong ones the limit is passed
		{Equal, 0, 8, Yes, 8, 0},
		{Equal, 0, 7, No, 7, 0}, // three without a word
		{Slowed, 8, 0, Yes, 8, 0},
		{Slowed, 7, 0, No, 7, 0},
		{Slowed, 8, 2, No, 8, 2}, // called equivalent twice
	} {
		var all []Outcome
		for i := range 10 {
			word := "INVALID"
			if i < c.worse {
				word = "WORSE"
			} else if i < c.worse+c.equivalent {
				word = "EQUIVALENT"
			}
			all = append(all, Outcome{Truth: c.truth, Words: map[string]string{"rate_per_sec": word}})
		}
		if got := Count(c.truth, all).Tallies[0]; got.Held != c.want || got.Right != c.wantRight || got.Wrong != c.wantBad {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// The truth itself is checked: a server that was to be slowed by 10 % and was
// slowed by 8 % or not at all proves nothing.
func TestTheTruthIsReadFromTheAccounts(t *testing.T) {
	run := func(target string, cpu time.Duration) record.Run {
		return record.Run{Step: record.Step{Target: target, Block: 1, Scenario: scenario}, Outcome: record.Done, ServerCPU: &record.CPUTime{User: cpu},
			Load: &record.LoadResult{Counts: record.Counts{OK: 1000}}}
	}
	for _, c := range []struct {
		truth  Truth
		target time.Duration // of 1000 requests, the base's took 200 ms
		want   Held
	}{
		{Slowed, 220 * time.Millisecond, Yes},    // 1.10
		{Slowed, 221900 * time.Microsecond, Yes}, // 1.1095
		{Slowed, 216 * time.Millisecond, No},     // 1.08
		{Slowed, 200 * time.Millisecond, No},     // 1.00
		{Equal, 201 * time.Millisecond, Yes},     // 1.005
		{Equal, 220 * time.Millisecond, No},      // 1.10
	} {
		s := &record.Session{Runs: []record.Run{run(baseName, 200*time.Millisecond), run(targetName, c.target), run(baseName+"-twin", time.Hour)}}
		void := run(targetName, time.Hour)
		void.Outcome = record.Void
		s.Runs = append(s.Runs, void)
		if k := Count(c.truth, []Outcome{OutcomeOf(s, findings.Evaluation{}, c.truth)}); k.CPUHeld != c.want {
			t.Errorf("%s, %v: %s, held %s", c.truth, c.target, change(k.CPU), k.CPUHeld)
		}
	}
	if k := Count(Slowed, nil); k.CPUHeld != No || k.CPU != nil {
		t.Errorf("no session: %+v", k)
	}
}
