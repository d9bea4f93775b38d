package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/recount"
)

const exampleFile = "../docs/example.json"

// TestExample: docs/example.json is a session that loads, whose numbers follow.
// With -update it is made anew, from a real one.
func TestExample(t *testing.T) {
	t.Parallel()
	if *update {
		makeExample(t)
	}
	s, err := archive.Load(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[record.Kind]bool{}
	for _, r := range s.Runs {
		sc, _ := s.Plan.Scenario(r.Step.Scenario)
		kinds[sc.Kind] = r.Outcome == record.Done
	}
	if len(s.Runs) != 2 || !kinds[record.Closed] || !kinds[record.Memory] {
		t.Errorf("%d runs, done: %v; want one of closed and one of memory", len(s.Runs), kinds)
	}
	e := findings.Evaluate(s)
	if wrong := recount.Evaluation(s, &e); len(wrong) > 0 {
		t.Error(wrong)
	}
	if r := inProcess("verify", exampleFile); r.code != exitDone {
		t.Errorf("verify: exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// makeExample runs a quick session of one target and keeps a run of each kind, and
// of long lists the beginning: a page to read, all of it measured.
func makeExample(t *testing.T) {
	u := newUser(t, theKit(t))
	u.run("compare", "--quick", "--targets", "go-1", "--seed", "1")
	s := u.load()
	var runs []record.Run
	for _, scenario := range []string{"get-c50", "memory-c300"} {
		i := slices.IndexFunc(s.Runs, func(r record.Run) bool { return r.Step.Scenario == scenario && r.Outcome == record.Done })
		if i < 0 {
			t.Fatalf("no run of %s is done: the machine is busy, try again", scenario)
		}
		r := s.Runs[i]
		r.Attempt = 0
		firstOf(&r)
		runs = append(runs, r)
	}
	s.Runs, s.Plan.Steps, s.Plan.Confirm = runs, []record.Step{runs[0].Step, runs[1].Step}, nil
	s.Plan.Scenarios = slices.DeleteFunc(s.Plan.Scenarios, func(sc record.Scenario) bool { return sc.Name != "get-c50" && sc.Name != "memory-c300" })
	for i := range s.Probes {
		firstOf(&s.Probes[i].Run)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exampleFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstOf shortens long lists.
func firstOf(r *record.Run) {
	const most = 3
	if l := r.Load; l != nil {
		l.Slowest = l.Slowest[:min(most, len(l.Slowest))]
		l.Pauses = l.Pauses[:min(most, len(l.Pauses))]
	}
	if h := r.Hiccups; h != nil {
		for i := range h.CPUs {
			h.CPUs[i].Events = h.CPUs[i].Events[:min(most, len(h.CPUs[i].Events))]
		}
	}
}
