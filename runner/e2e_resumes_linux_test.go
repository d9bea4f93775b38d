package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// cutAfter makes a session and kills it once it has told of so many steps.
func (u *user) cutAfter(step string) {
	u.t.Helper()
	j := u.begin("new")
	j.await("\nstep " + step + " of ")
	j.signal(syscall.SIGKILL)
	<-j.ended
	u.awaitNone()
}

// TestResumeAgain: a session that is interrupted again and again while it goes on,
// by a kill and by signals to its whole foreground group (C43), tells of every gap.
func TestResumeAgain(t *testing.T) {
	t.Parallel()
	u := briefUser(t, briefPlan(t, false))
	u.cutAfter("1")
	u.interruptAt("2", syscall.SIGTERM)
	u.interruptAt("4", syscall.SIGHUP)
	r := u.must(exitDone, "compare", "--resume", "latest")
	s := u.load()
	gaps := s.Interruptions()
	if len(gaps) != 3 || !s.Complete() || gaps[0].Signal || !gaps[1].Signal || !gaps[2].Signal {
		t.Fatalf("%d gaps, complete %v: %+v", len(gaps), s.Complete(), gaps)
	}
	said := strings.Join(strings.Fields(r.out), " ")
	for i, gap := range gaps {
		if !strings.Contains(said, "interrupted "+gap.Where()) {
			t.Errorf("the report does not tell of the interruption %s:\n%s", gap.Where(), r.out)
		}
		if i > 0 && (gap.After <= gaps[i-1].After || gap.Last.Before(gaps[i-1].Resumed)) {
			t.Errorf("gap %d is not after the one before: %+v", i+1, gaps)
		}
	}
	u.must(exitDone, "verify", "latest")
	u.published(s)
}

// interruptAt goes on with a session and sends a signal to its process group once it
// has told of a step.
func (u *user) interruptAt(step string, signal syscall.Signal) {
	u.t.Helper()
	j := u.begin("compare", "--resume", "latest")
	j.await("\nstep " + step + " of ")
	j.signalGroup(signal)
	j.wait().refused(u.t, exitInterrupted, "goes on")
	u.none()
}

// TestResumeRefuses what would mix runs that cannot be compared, and says what has
// changed. Nothing is touched then, and once it is put back the session goes on.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	u := briefUser(t, briefPlan(t, false))
	u.cutAfter("2")
	dir := u.sessions()[0]
	server, planFile := filepath.Join(u.dir, "bin", "server-go"), filepath.Join(dir, "plan.json")
	for _, c := range []struct {
		name string
		file string
		edit func([]byte) []byte
		want []string
	}{
		{"a server was built anew", server, func(b []byte) []byte { return append(b, 0) }, []string{"would not be comparable", "bin/server-go: ", " then, ", " now"}},
		{"the plan was altered", planFile, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"seed": 1,`), []byte(`"seed": 2,`), 1)
		}, []string{"it ran under another plan than plan.json, which was changed since"}},
		{"the plan was cut", planFile, func(b []byte) []byte { return b[:len(b)/2] }, []string{"plan.json: truncated"}},
	} {
		real, err := filepath.EvalSymlinks(c.file)
		if err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(real)
		if err != nil {
			t.Fatal(err)
		}
		is := c.edit(bytes.Clone(was))
		if bytes.Equal(is, was) {
			t.Fatalf("%s: nothing changed", c.name)
		}
		put(t, c.file, is)
		before := withoutLogs(t, dir)
		u.begin("compare", "--resume", "latest").wait().refused(t, exitPreflight, c.want...)
		if !maps.Equal(withoutLogs(t, dir), before) {
			t.Errorf("%s: the session's folder was touched", c.name)
		}
		put(t, c.file, was)
	}
	u.must(exitDone, "compare", "--resume", "latest")
	u.must(exitDone, "verify", "latest")
}

// withoutLogs leaves out the logs: that of the step that was cut gets another name as
// soon as the session is opened.
func withoutLogs(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := tree(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "logs/") })
	return files
}

// put replaces a file, or what a link stands for.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestResumeByAnotherVersion is refused.
func TestResumeByAnotherVersion(t *testing.T) {
	t.Parallel()
	p := briefPlan(t, false)
	p.Kit = "0.0.9"
	u := briefUser(t, p)
	u.cutAfter("1")
	u.begin("compare", "--resume", "latest").wait().refused(t, exitPreflight, "gonogo: 0.0.9 then, "+version()+" now", "begin anew")
}

// TestResumeOfMemory: a session of memory alone goes on like any other.
func TestResumeOfMemory(t *testing.T) {
	t.Parallel()
	p := briefPlan(t, false)
	p.Kind, p.Blocks, p.Probe = record.Memory, 3, nil
	p.Rules.Memory = &record.MemoryRules{GrowthMin: 0.02, GrowthP: 0.05, GrowthCycles: 6, SamplerCostMax: 0.03}
	p.Scenarios = []record.Scenario{{Name: "memory-cycles", Kind: record.Memory, Requests: p.Scenarios[0].Requests, Connections: 4,
		Work: &record.MemoryWork{Requests: 100, Cycles: 1, Rests: []time.Duration{20 * time.Millisecond}}}}
	p.Steps = plan.Order(p)
	u := briefUser(t, p)
	u.cutAfter("1")
	u.must(exitDone, "compare", "--resume", "latest")
	s := u.load()
	if !s.Complete() || len(s.Resumes) != 1 || s.Runs[2].Memory == nil {
		t.Errorf("complete %v, %d resumes", s.Complete(), len(s.Resumes))
	}
	u.must(exitDone, "verify", "latest")
}

// TestResumeOfCapacity is refused: a search is no list of steps that were planned.
func TestResumeOfCapacity(t *testing.T) {
	t.Parallel()
	sets, err := host.Split()
	if err != nil {
		t.Fatal(err)
	}
	quantile, slo, err := plan.ParseSLO("p95<20ms")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.NewCapacity(plan.CapacityOptions{Kit: version(), CPUs: plan.CPUSets(sets), Seed: 1, Quick: true, Repeats: 1, Window: time.Second, Quantile: quantile, SLO: slo})
	if err != nil {
		t.Fatal(err)
	}
	u := briefUser(t, briefPlan(t, false))
	w, err := archive.Create(filepath.Join(u.dir, "results"), p, record.Host{OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	before := withoutLogs(t, w.Dir())
	u.begin("compare", "--resume", "latest").wait().refused(t, exitPreflight, "has no steps that were planned before it", "gonogo capacity")
	if !maps.Equal(withoutLogs(t, w.Dir()), before) {
		t.Error("the session's folder was touched")
	}
}
