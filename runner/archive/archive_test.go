package archive

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// smallPlan has one cell in two blocks.
func smallPlan() *record.Plan {
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: "test", Seed: 7, Blocks: 2,
		Targets:   []record.Target{{Name: "go-1", Argv: []string{"bin/server-go"}, Workers: 1}},
		Scenarios: []record.Scenario{{Name: "get-c50", Kind: record.Closed, Connections: 50, Window: time.Second}},
	}
	for b := 1; b <= 2; b++ {
		p.Steps = append(p.Steps, record.Step{Index: b - 1, Block: b, Target: "go-1", Scenario: "get-c50"})
	}
	return p
}

func doneRun(st record.Step) *record.Run {
	return &record.Run{
		SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done,
		Started: time.Date(2026, 11, 30, 19, 41, 3, 123456789, time.UTC), Ready: 41 * time.Millisecond,
		LogFile: "logs/x.log",
		Load: &record.LoadResult{Engine: "net", Kind: record.Closed, Connections: 50, Window: time.Second,
			Counts:  record.Counts{Planned: 9007199254740993, OK: 9007199254740993, InWindow: 9007199254740993},
			Service: &record.Histogram{Count: 5, Min: 1, Max: 230123457, Mean: 9, V2: "<&>"}},
	}
}

func mustCreate(t *testing.T, out string) *Writer {
	t.Helper()
	w, err := Create(out, smallPlan(), record.Host{OS: "linux", CPUs: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// finished archives a complete session.
func finished(t *testing.T) *Writer {
	t.Helper()
	w := mustCreate(t, t.TempDir())
	if err := w.AddContract([]record.Parity{{Target: "go-1", Cases: 60, ReplyBytesGET: 200}}); err != nil {
		t.Fatal(err)
	}
	for _, st := range w.plan.Steps {
		if err := w.Append(doneRun(st)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func mustLoad(t *testing.T, name string) *record.Session {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRoundTrip(t *testing.T) {
	w := finished(t)
	got := mustLoad(t, w.Dir())
	if !got.Complete() || got.Finished.IsZero() || got.ID != w.ID() || !got.Started.Equal(w.started) {
		t.Fatalf("complete %v, finished %v, id %s, started %v", got.Complete(), got.Finished, got.ID, got.Started)
	}
	if a, b := text(t, got.Plan), text(t, smallPlan()); a != b {
		t.Errorf("plan\n got %s\nwant %s", a, b)
	}
	for i, st := range got.Plan.Steps {
		if a, b := text(t, got.Runs[i]), text(t, doneRun(st)); a != b {
			t.Errorf("run\n got %s\nwant %s", a, b)
		}
	}
	if len(got.Contract) != 1 || got.Contract[0].Cases != 60 || got.Host.OS != "linux" {
		t.Errorf("contract %+v, host %+v", got.Contract, got.Host)
	}

	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := Publish(file, got); err != nil {
		t.Fatal(err)
	}
	if a, b := text(t, mustLoad(t, file)), text(t, got); a != b {
		t.Errorf("benchmark.json\n got %s\nwant %s", a, b)
	}
}

func TestRunsAreOnDiskBeforeTheEnd(t *testing.T) {
	w := mustCreate(t, t.TempDir())
	if err := w.Append(doneRun(w.plan.Steps[0])); err != nil {
		t.Fatal(err)
	}
	s := mustLoad(t, w.Dir())
	if len(s.Runs) != 1 || s.Complete() || !s.Finished.IsZero() || s.ID != w.ID() || !s.Started.Equal(w.started) {
		t.Errorf("%d runs, complete %v, finished %v, id %s, started %v", len(s.Runs), s.Complete(), s.Finished, s.ID, s.Started)
	}
}

func TestAppendRefuses(t *testing.T) {
	w := mustCreate(t, t.TempDir())
	st := w.plan.Steps[0]
	edit := func(f func(*record.Run)) *record.Run { r := doneRun(st); f(r); return r }
	for name, r := range map[string]*record.Run{
		"unknown scenario":   edit(func(r *record.Run) { r.Step.Scenario = "put-c50" }),
		"latency and memory": edit(func(r *record.Run) { r.Memory = &record.MemoryWatch{} }),
		"absolute log":       edit(func(r *record.Run) { r.LogFile = "/var/log/x.log" }),
		"log outside":        edit(func(r *record.Run) { r.LogFile = "../x.log" }),
		"failed, no reason":  edit(func(r *record.Run) { r.Outcome = record.Failed }),
	} {
		if err := w.Append(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	huge := edit(func(r *record.Run) { r.LogTail = strings.Repeat("x", maxFile) })
	if err := w.Append(huge); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("a run that could not be loaded again: %v", err)
	}
	if err := w.Append(doneRun(st)); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(doneRun(st)); err == nil || !strings.Contains(err.Error(), "already has a run") {
		t.Errorf("a second run of a step: %v", err)
	}
}

func TestOneSecondTwoSessions(t *testing.T) {
	out, now := t.TempDir(), time.Date(2026, 11, 30, 19, 41, 0, 999, time.UTC)
	suffixes := []string{"aaaaaa", "aaaaaa", "bbbbbb"} // the second is taken
	next := func(time.Time) string { s := suffixes[0]; suffixes = suffixes[1:]; return s }
	var ids []string
	for range 2 {
		w, err := create(out, smallPlan(), record.Host{}, now, next)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, w.ID())
	}
	if ids[0] != "20261130T194100Z-aaaaaa" || ids[1] != "20261130T194100Z-bbbbbb" {
		t.Errorf("ids %v", ids)
	}
}

// TestLatestWithinASecond: of sessions that began in one second the last is latest,
// whatever is random in their names. 0.5 s are 0x8000 parts of 1/65536.
func TestLatestWithinASecond(t *testing.T) {
	out, second := t.TempDir(), time.Date(2026, 11, 30, 19, 41, 0, 0, time.UTC)
	var ids []string
	for _, at := range []time.Duration{0, 20 * time.Microsecond, time.Millisecond, 500 * time.Millisecond, time.Second - 1} {
		w, err := create(out, smallPlan(), record.Host{}, second.Add(at), suffix)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, w.ID())
		if got, err := Resolve(out, Latest); err != nil || filepath.Base(got) != w.ID() {
			t.Errorf("after %v latest is %s, want %s: %v", at, got, w.ID(), err)
		}
	}
	if listed, err := List(out); err != nil || !slices.Equal(listed, ids) {
		t.Errorf("listed %v, want %v: %v", listed, ids, err)
	}
	if !strings.HasPrefix(ids[3], "20261130T194100Z-8000") || !strings.HasPrefix(ids[4], "20261130T194100Z-ffff") {
		t.Errorf("ids %v", ids)
	}
}

// TestNamesStayInside archives steps whose names try to leave the folder, as a
// user's own target may.
func TestNamesStayInside(t *testing.T) {
	w := mustCreate(t, t.TempDir())
	for _, c := range []struct{ target, want string }{
		{"go-1", "logs/0003-go-1.get.b01.log"},
		{"../../etc/x", "logs/0003-__.__.etc.x.get.b01.log"},
		{"a b\n\x1b[31m", "logs/0003-a_b___31m.get.b01.log"},
	} {
		got := w.LogName(record.Step{Index: 2, Block: 1, Target: c.target, Scenario: "get"}, 0)
		if strings.Contains(got, "..") || !filepath.IsLocal(got) {
			t.Errorf("%q: %s", c.target, got)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.target, got, c.want)
		}
	}
	long := w.LogName(record.Step{Target: strings.Repeat("x", 1000)}, 0)
	if len(filepath.Base(long)) > 200 {
		t.Errorf("a name of %d bytes", len(long))
	}
}

func TestPublishRefuses(t *testing.T) {
	good := mustLoad(t, finished(t).Dir())
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := os.WriteFile(file, []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*record.Session){
		"smoke run":   func(s *record.Session) { s.Plan.Quick = true },
		"cut short":   func(s *record.Session) { s.Finished = time.Time{} },
		"without":     func(s *record.Session) { s.Runs = s.Runs[:1] },
		"no scenario": func(s *record.Session) { s.Plan.Scenarios = nil },
	} {
		s := *good
		spoil(&s)
		if err := Publish(file, &s); err == nil {
			t.Errorf("%s: published", name)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "old\n" {
		t.Errorf("the old file is %q, %v", b, err)
	}
}
