package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Little's law: connections that each wait for a reply for d at least bring 1/d each at
// most, whatever the machine. It is exact but for the edges of the window, at each of
// which a connection may have a reply more.
func TestDelayBoundsTheRate(t *testing.T) {
	needNode(t)
	const connections = 50
	goServer, nodeServer := record.Target{Name: "go", Argv: []string{"bin/server-go"}}, record.Target{Name: "node", Argv: []string{"node", "server-node/server.mjs"}}
	for _, c := range []struct {
		setting string
		least   time.Duration // that a request takes
		target  record.Target
	}{
		{"20", 20 * time.Millisecond, goServer},
		{"20", 20 * time.Millisecond, nodeServer},
		{"10+10+10", 30 * time.Millisecond, nodeServer},
		{"20/10/5", 20 * time.Millisecond, goServer},
	} {
		c.target.Env = append(c.target.Env, "DELAY_MS="+c.setting)
		p, err := sut.Start(t.Context(), nil, sut.Spec{Target: c.target, Dir: theKit(t), LogPath: filepath.Join(t.TempDir(), "log"), ReadyTimeout: patience, Grace: patience})
		if err != nil {
			t.Fatal(err)
		}
		_, out, errs := generate(t, "load", "-c", "50", "-d", "300ms", "--warmup", "50ms", "--engine", "net", "--json", "http://"+p.Address()+"/users/{id}")
		if _, err := p.Stop(); err != nil {
			t.Error(err)
		}
		var r record.LoadRecord
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v\n%s%s", err, out, errs)
		}
		name := c.target.Name + " with DELAY_MS=" + c.setting
		if got := p.Settings().Delay; got != c.setting {
			t.Errorf("%s: it says %q", name, got)
		}
		l := r.Result
		if l.Counts.OK == 0 || l.Counts.Bad() > 0 || l.Service == nil {
			t.Fatalf("%s: %+v", name, l.Counts)
		}
		if fastest := l.Service.Min; fastest < c.least {
			t.Errorf("%s: a reply after %v, want %v at least", name, fastest, c.least)
		}
		if most := connections * (uint64(r.Spec.Window/c.least) + 2); l.Counts.InWindow > most {
			t.Errorf("%s: %d replies in %v over %d connections, want %d at most", name, l.Counts.InWindow, r.Spec.Window, connections, most)
		}
	}
}
