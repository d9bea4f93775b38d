package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/record"
)

// heavy is loaded before the Node server: a large heap to collect, which takes long,
// and a loop that takes as long without a collection.
const heavy = `
globalThis.kept = Array.from({ length: 700_000 }, (_, i) => ({ i, next: [i] }));
process.on('SIGUSR2', () => {
  if (process.env.PLANT === 'collect') return gc();
  for (const end = performance.now() + 250; performance.now() < end;);
});
`

// pausing are servers that are held up at a signal: by their own runtime, or by
// something else for as long.
func pausing(t *testing.T, dir, name string) (record.Target, syscall.Signal) {
	t.Helper()
	switch name {
	case "go collects":
		x := target(name, "-delay=2ms", "-collect-for=250ms")
		x.Env = []string{"GODEBUG=asyncpreemptoff=1"}
		return x, syscall.SIGUSR1
	case "go stopped":
		return target(name, "-delay=2ms"), syscall.SIGSTOP
	}
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatal("no node on PATH, and REQUIRE_NODE is set")
		}
		t.Skip("no node on PATH")
	}
	preload := filepath.Join(dir, "heavy.mjs")
	server, err := filepath.Abs("../../server-node/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(preload, []byte(heavy), 0o644); err != nil {
		t.Fatal(err)
	}
	plant := map[string]string{"node collects": "collect", "node computes": "compute"}[name]
	return record.Target{Name: name, Argv: []string{"node", "--expose-gc", "--import", preload, server}, Workers: 1, Env: []string{"PLANT=" + plant}}, syscall.SIGUSR2
}

// TestRuntimePauses: one plain run and two confirmations, each held up once. Only what
// the runtime itself did is the runtime's.
func TestRuntimePauses(t *testing.T) {
	for name, want := range map[string]findings.Class{
		"go collects": findings.Runtime, "go stopped": findings.Unexplained,
		"node collects": findings.Runtime, "node computes": findings.Unexplained,
	} {
		t.Run(name, func(t *testing.T) {
			for range 8 { // a machine that tests is rarely quiet
				s := heldUp(t, name)
				if s == nil {
					continue
				}
				m := findings.Evaluate(s).Cells[0].Maximum
				if m.Class == want && m.SeenIn == 3 && m.Traced == 2 {
					checkTraced(t, s)
					return
				}
				t.Log(m.Text)
			}
			t.Errorf("not once %s in 3 of 3 runs", want)
		})
	}
}

// checkTraced: the confirmations are marked, the plain run is not.
func checkTraced(t *testing.T, s *record.Session) {
	t.Helper()
	for i, r := range s.Runs {
		if (r.Traced != "") != (i > 0) || i == 0 && r.ServerPauses != nil {
			t.Errorf("%s is traced: %q, with %d pauses", r.Step.Key(), r.Traced, len(r.ServerPauses))
		}
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Plan.Steps = append(s.Plan.Steps, s.Plan.Confirm...)
	s.Plan.Confirm = nil
	if s.Validate() == nil {
		t.Error("a run that counts for everything was traced, and nobody minds")
	}
}

// heldUp runs the session, or returns nil where the machine spoiled it.
func heldUp(t *testing.T, name string) *record.Session {
	t.Helper()
	sets, err := host.Split()
	if err != nil || len(sets.One) == 0 || len(sets.OneGenerator) == 0 || sets.One[0] == sets.OneGenerator[0] {
		t.Skip("a server and its generator need a CPU each")
	}
	x, signal := pausing(t, t.TempDir(), name)
	x.CPUs, x.GeneratorCPUs = sets.One, sets.OneGenerator
	sc := record.Scenario{Name: "get-c4", Kind: record.Closed, Requests: getUser, Connections: 4, Window: 600 * time.Millisecond}
	p := planOf([]record.Scenario{sc}, x)
	for b := 2; b <= 3; b++ {
		p.Confirm = append(p.Confirm, record.Step{Index: b - 1, Block: b, Target: name, Scenario: sc.Name})
	}
	var o outcome
	var planting sync.WaitGroup
	defer planting.Wait()
	c := config(t, p, &o, nil)
	c.Meter = []string{os.Args[0], "meter"}
	c.Observe = func(e Event) {
		if e.Run != nil {
			return
		}
		log := c.LogPath(e.Step, e.Attempt)
		planting.Go(func() {
			v, ok := underLoad(t, log)
			if !ok {
				return
			}
			syscall.Kill(v.server, signal)
			if signal == syscall.SIGSTOP {
				time.Sleep(250 * time.Millisecond) // what is planted lasts as long
				syscall.Kill(v.server, syscall.SIGCONT)
			}
		})
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, Plan: *p, Finished: time.Now()}
	if err := Execute(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if err := Confirm(t.Context(), c, nil, p.Confirm); err != nil {
		t.Fatal(err)
	}
	if err := take(s, &o); err != nil {
		t.Log(err)
		return nil
	}
	return s
}
