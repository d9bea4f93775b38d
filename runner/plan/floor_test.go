package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// Each target twice, as it comes and matched, and the default within the time that it may
// take: three targets in less than 12 minutes.
func TestNewFloor(t *testing.T) {
	p, err := NewFloor(FloorOptions{Seed: 3, Repeats: 1, Rate: 1000, Window: 4 * time.Second, Quantile: 0.95, SLO: 20 * time.Millisecond, Ceiling: 512, CPUs: sweepCPUs})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&record.Session{SchemaVersion: record.SchemaVersion, Plan: *p}).Validate(); err != nil {
		t.Error(err)
	}
	var names []string
	for _, x := range p.Targets {
		names = append(names, x.Name)
		if x.Group == nil || x.Matched != strings.HasSuffix(x.Name, MatchedLimit) {
			t.Errorf("%s: group %v, matched %v", x.Name, x.Group, x.Matched)
		}
	}
	if want := []string{"go-1", "go-1-matched", "node-1", "node-1-matched", "node-cluster-2", "node-cluster-2-matched"}; !slices.Equal(names, want) {
		t.Errorf("targets %v, want %v", names, want)
	}
	if m, _ := p.Target("go-1-matched"); m.Base != "node-1-matched" {
		t.Errorf("go-1-matched is held against %q", m.Base)
	}
	// 6 searches of 16 trials at three quarters of 5.35 s, and the contract.
	if want := contractTime + 6*12*5350*time.Millisecond; p.Kind != record.MemoryFloor || len(p.Steps) != 6 || p.Probe != nil || p.Expected != want || p.Expected > 12*time.Minute {
		t.Errorf("kind %s, %d steps, %v, want %v", p.Kind, len(p.Steps), p.Expected, want)
	}
	if _, err := NewFloor(FloorOptions{Targets: []string{"node-1-twin"}, Repeats: 1}); err == nil {
		t.Error("an A/A twin can be searched")
	}
}

// What runtimes are told of 100 MiB: 90 for Go; 75 of V8's old space, over two workers 37.
func TestLimited(t *testing.T) {
	r := FloorRules(512)
	for _, c := range []struct {
		target record.Target
		argv   string
		env    string
	}{
		{record.Target{Argv: []string{"bin/server-go"}, Env: []string{"A=1"}, Workers: 1}, "bin/server-go", "A=1"},
		{record.Target{Argv: []string{"bin/server-go"}, Env: []string{"A=1"}, Workers: 2, Matched: true}, "bin/server-go", "A=1 GOMEMLIMIT=90MiB"},
		{record.Target{Argv: []string{"node", "s.mjs"}, Workers: 1, Matched: true}, "node --max-old-space-size=75 s.mjs", ""},
		{record.Target{Argv: []string{"node", "c.mjs"}, Workers: 2, Matched: true}, "node --max-old-space-size=37 c.mjs", ""},
		{record.Target{Argv: []string{"node", "c.mjs"}, Matched: true}, "node --max-old-space-size=75 c.mjs", ""},
	} {
		argv, env := slices.Clone(c.target.Argv), slices.Clone(c.target.Env)
		got := Limited(c.target, r, 100<<20)
		if strings.Join(got.Argv, " ") != c.argv || strings.Join(got.Env, " ") != c.env || got.Group == nil || got.Group.MemoryBytes != 100<<20 {
			t.Errorf("%v: %v, %v, %+v", c.target, got.Argv, got.Env, got.Group)
		}
		if !slices.Equal(c.target.Argv, argv) || !slices.Equal(c.target.Env, env) || c.target.Group != nil {
			t.Errorf("the plan's own target was changed: %+v", c.target)
		}
	}
	if got := Limited(record.Target{Argv: []string{"node", "c.mjs"}, Workers: 8, Matched: true}, r, 4<<20); got.Argv[1] != "--max-old-space-size=1" {
		t.Errorf("%v: V8 takes 0 for no limit", got.Argv)
	}
}
