package main

import (
	"path/filepath"
	"slices"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

// TestToConfirm reads a session that has not ended: a maximum that nobody
// understands is looked at again if the plan has steps for it.
func TestToConfirm(t *testing.T) {
	confirm := []record.Step{
		{Index: 1000, Block: 4, Target: "node-1", Scenario: "get-c50"},
		{Index: 1001, Block: 4, Position: 1, Target: "go-1", Scenario: "get-c50"},
	}
	for _, c := range []struct {
		session string
		plan    []record.Step
		want    []record.Step
	}{
		{"lone-max", confirm, confirm[1:]}, // 230 ms in one of three runs of go-1
		{"lone-max", nil, nil},
		{"common-max", confirm, confirm[1:]}, // in all of them, and nobody knows why
		{"common-max", nil, nil},
	} {
		s, err := archive.Load(filepath.Join("report", "testdata", "sessions", c.session, "benchmark.json"))
		if err != nil {
			t.Fatal(err)
		}
		s.Plan.Confirm, s.Plan.Rules.ConfirmStepsMax = c.plan, 10
		w, err := archive.Create(t.TempDir(), &s.Plan, s.Host)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Runs {
			if err := w.Append(&s.Runs[i]); err != nil {
				t.Fatal(err)
			}
		}
		got, err := toConfirm(w.Dir(), &s.Plan)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v; want %v", c.session, got, err, c.want)
		}
	}
}
