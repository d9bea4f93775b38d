package report

import (
	"testing"

	"gonogo/runner/record"
)

// What a live process names is said where it is another runtime than the machine's.
func TestVersions(t *testing.T) {
	run := func(target, runtime, version string) record.Run {
		return record.Run{Step: record.Step{Target: target}, Settings: &record.Settings{Runtime: runtime, Version: version}}
	}
	s := &record.Session{Host: record.Host{GoVersion: "go1.26.0", NodeVersion: "v20.20.2"},
		Plan: record.Plan{Kit: "1", Targets: []record.Target{{Name: "go-1"}, {Name: "node-1"}, {Name: "node-1-twin", Twin: true}, {Name: "node24-1"}, {Name: "bun-1"}, {Name: "mute"}}},
		Runs: []record.Run{run("bun-1", "bun", "1.4.5"), run("go-1", "go", "go1.26.0"), run("node-1", "node", "v20.20.2"), run("node24-1", "node", "v24.21.0"), {Step: record.Step{Target: "mute"}}}}
	if got, want := versions(s), "go1.26.0, node v20.20.2, node24-1 node v24.21.0, bun-1 bun 1.4.5, gonogo 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
