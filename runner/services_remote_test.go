package main

import (
	"bytes"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// TestBeyondPlan: of a plan's services those that run already have addresses of
// somebody else's choice.
func TestBeyondPlan(t *testing.T) {
	var b bytes.Buffer
	beyondPlan(t.Context(), streams{err: &b}, &record.Plan{Targets: []record.Target{
		{Name: "here", Argv: []string{"x"}, Foreign: &record.Foreign{URL: "http://127.0.0.1:{port}"}},
		{Name: "there", Foreign: &record.Foreign{URL: "http://192.0.2.1:80/x"}},
		{Name: "own", Argv: []string{"x"}}}})
	if !strings.HasPrefix(b.String(), farAway+"192.0.2.1:80;") || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("a plan: %q", b.String())
	}
}
