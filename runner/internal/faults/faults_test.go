package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"gonogo/runner/internal/stub"
)

func TestMain(m *testing.M) {
	stub.Hook()
	role()
	os.Exit(m.Run())
}

// TestShortTable is the cheap half of make faults: each fault raises its alarm and its
// quiet twin does not.
func TestShortTable(t *testing.T) {
	t.Chdir("../../..") // where targets' commands are looked up
	var out, diagnostics bytes.Buffer
	if err := run(t.Context(), []string{"-short", "-v"}, &out, &diagnostics); err != nil {
		t.Errorf("%v\n%s%s", err, out.String(), diagnostics.String())
	}
}

// A row whose alarm never comes, and one whose quiet twin raises it, are both told.
func TestRedRows(t *testing.T) {
	t.Chdir("../../..")
	dir := t.TempDir()
	dead := fault{name: "nothing", expected: "an alarm", set: func(dir string, planted bool) *stage { return newStage(dir, planted, target("calm")) },
		alarm: func(*outcome) string { return "" }}
	always := dead
	always.name, always.alarm = "everything", func(*outcome) string { return "alarm" }
	var out bytes.Buffer
	err := print(&out, []row{dead.judge(t.Context(), dir), always.judge(t.Context(), dir)})
	if err == nil || !strings.Contains(err.Error(), "nothing, everything") || !strings.Contains(out.String(), "0 of 2") ||
		!strings.Contains(out.String(), "NONE") || !strings.Contains(out.String(), "no: alarm") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Every fault that the table names has its mutant.
func TestEveryFaultHasAMutant(t *testing.T) {
	has := map[string]bool{}
	for _, m := range mutants {
		has[m.fault] = true
	}
	for _, f := range table() {
		if !has[faultName(f.name)] {
			t.Errorf("nothing takes out the check of %q", f.name)
		}
	}
	if len(has) != 15 {
		t.Errorf("%d faults, want the 15", len(has))
	}
}
