package findings_test

import (
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

// A store that the servers ask is told of in every report, and where it takes CPU from
// them that is a warning.
func TestAStoreOutside(t *testing.T) {
	for _, c := range []struct {
		name     string
		store    *record.Store
		severity record.Severity
		beside   string
	}{
		{"none", nil, "", ""},
		{"on CPUs of its own", &record.Store{Version: "postgres 15", CPUs: []int{7}, Connections: 10}, record.Note, ""},
		{"on the server's", &record.Store{Version: "postgres 15", CPUs: []int{0, 7}, Connections: 10}, record.Warn, "go-1"},
		{"anywhere", &record.Store{Version: "postgres 15", Connections: 10}, record.Warn, "go-1"},
	} {
		s := example.Session()
		for i := range s.Plan.Targets {
			s.Plan.Targets[i].CPUs = []int{0}
		}
		s.Plan.Store = c.store
		var got *record.Finding
		for _, f := range findings.Evaluate(s).Findings {
			if f.Code == "outside-store" {
				got = &f
			}
		}
		switch {
		case c.store == nil:
			if got != nil {
				t.Errorf("%s: %+v", c.name, got)
			}
		case got == nil:
			t.Errorf("%s: nothing is said", c.name)
		case got.Severity != c.severity || !strings.Contains(got.Text, c.beside) || !strings.Contains(got.Observed, "postgres 15") || !strings.Contains(got.Observed, "10 connections"):
			t.Errorf("%s: %+v, want %s and %q", c.name, got, c.severity, c.beside)
		}
	}
}
