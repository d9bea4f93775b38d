package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

// floored is an archive of a session of memory floors as the command leaves it.
func floored(t *testing.T, out string, change func(*record.Session)) string {
	t.Helper()
	s := example.Floors()
	if change != nil {
		change(s)
	}
	w, err := archive.Create(out, &s.Plan, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddContract(s.Contract); err != nil {
		t.Fatal(err)
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		r.PlanSHA256, r.LogFile = w.PlanSHA256(), w.LogName(r.Step, 0)
		if err := os.WriteFile(filepath.Join(w.Dir(), filepath.FromSlash(r.LogFile)), []byte("listening\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	loaded, err := archive.Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := keep(w.Dir(), out, loaded, findings.Evaluate(loaded)); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// Every command treats a session of memory floors as what it is.
func TestASessionOfMemoryFloors(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := filepath.Base(floored(t, out, nil))
	if _, err := os.Stat(filepath.Join(out, "benchmark.json")); err == nil {
		t.Error("a session of memory floors became the project's record")
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"report", id}, exitDone, []string{"How much memory do these servers need?", "MEMORY FLOOR", "GOMEMLIMIT 90 %", "--max-old-space-size 75 %", "out-of-memory kill", "LIMITS TRIED", "63.0..66.0", "asked no question"}},
		{[]string{"report", id, "--format", "md"}, exitDone, []string{"## MEMORY FLOOR", "few-searches"}},
		{[]string{"report", id, "--format", "html"}, exitDone, []string{"<h1>How much memory", "Memory for go-1", "The smallest memory limit that is enough", "p95 of the response time against the memory limit"}},
		{[]string{"report", id, "--format", "json"}, exitDone, []string{`"floor": {`, `"hi_bytes": 69206016`, `"end": "found"`}},
		{[]string{"report", id, "--format", "csv"}, exitDone, []string{"trial"}},
		{[]string{"report", id, "--format", "bench"}, exitDone, nil},
		{[]string{"verify", id}, exitDone, []string{"every printed number follows from the raw record"}},
		{[]string{"list"}, exitDone, []string{"memory floor"}},
		{[]string{"show", id, "node-1/memory-floor/b01/t02"}, exitDone, []string{"signal: killed", "control group", `"oom_kills":1`}},
		{[]string{"decide", id}, exitInvalid, []string{"it measured memory floors alone"}},
		{[]string{"diff", id, id}, exitDone, nil},
	} {
		r := inProcess(append(c.args, "--out", out)...)
		if r.code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.args, r.code, c.code, r.out, r.err)
		}
		for _, text := range c.want {
			if !strings.Contains(r.out+r.err, text) {
				t.Errorf("%v: no %q in\n%.3000s%s", c.args, text, r.out, r.err)
			}
		}
	}
}

// A run that was taken away, or whose kill was, is not the one that the search asked for
// next: the session is void.
func TestAlteredFloorsAreSeen(t *testing.T) {
	t.Parallel()
	node := func(s *record.Session) int {
		return slices.IndexFunc(s.Runs, func(r record.Run) bool { return r.Step.Target == "node-1" && r.Step.Trial == 2 })
	}
	for name, change := range map[string]func(*record.Session){
		"as it was":              nil,
		"a trial is taken away":  func(s *record.Session) { i := node(s); s.Runs = slices.Delete(s.Runs, i, i+1) },
		"a limit is another one": func(s *record.Session) { s.Runs[node(s)].Limits = &record.GroupLimits{MemoryBytes: 46 << 20} },
		"a trial that failed passed": func(s *record.Session) {
			i := node(s)
			r := s.Runs[i-1] // at the ceiling
			r.Step, r.Limits = s.Runs[i].Step, s.Runs[i].Limits
			s.Runs[i] = r
		},
	} {
		s := example.Floors()
		if change != nil {
			change(s)
		}
		e := findings.Evaluate(s)
		if e.Invalid() != (change != nil) {
			t.Errorf("%s: invalid is %v", name, e.Invalid())
		}
	}
}

func TestFloorsOfTheExample(t *testing.T) {
	e := findings.Evaluate(example.Floors())
	if len(e.Floor.Targets) != 4 || e.Floor.Rate != 750 {
		t.Fatalf("%+v", e.Floor)
	}
	for _, f := range e.Floor.Targets {
		need := float64(example.Needs[strings.TrimSuffix(f.Target, plan.MatchedLimit)] << 20)
		if f.Floor == nil || f.Floor.Value < need || f.Floor.Value > need+4<<20 || f.Floor.Lo >= need || f.Matched != strings.HasSuffix(f.Target, plan.MatchedLimit) || !slices.Equal(f.Bound, []string{"out-of-memory kill"}) {
			t.Errorf("%s: %+v, want %g MiB and up to 4 more", f.Target, f.Floor, need/(1<<20))
		}
	}
	if len(e.Floor.Ratios) != 2 { // go-1 / node-1, as they come and matched
		t.Errorf("ratios %+v", e.Floor.Ratios)
	}
}

func TestFloorUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--rate", "1"}, {"--for", "10ms"}, {"--ceiling-mib", "1"}, {"--repeats", "0"}, {"--slo", "fast"}, {"deno-1"}} {
		if r := inProcess(append([]string{"memory-floor", "--dry-run"}, args...)...); r.code != exitUsage {
			t.Errorf("%v: exit %d\n%s", args, r.code, r.err)
		}
	}
	if r := inProcess("memory-floor", "--dry-run", "--seed", "1"); r.code != exitDone || !strings.Contains(r.out, "1000 requests/s") || !strings.Contains(r.out, "go-1-matched") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestDocsOfMemoryFloor: with GONOGO_FLOOR, an archive, and -update it puts the tables of
// that session into docs. Without, the rules that the page names are those of the code.
func TestDocsOfMemoryFloor(t *testing.T) {
	const file, begin = "../docs/memory-floor.md", "<!-- begin generated by make docs-memory-floor -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := plan.FloorRules(512)
	for _, want := range []string{fmt.Sprintf("From %d MiB", r.Ceiling>>20), fmt.Sprintf("%d MiB or %g %% apart", r.Step>>20, 100*r.Bracket), fmt.Sprintf("pass %d of %d", r.High.Need, r.High.Of),
		fmt.Sprintf("fail %d of %d", r.Low.Need, r.Low.Of), fmt.Sprintf("`GOMEMLIMIT` of %g %%", 100*r.GoShare), fmt.Sprintf("`--max-old-space-size` of %g %%", 100*r.OldSpace),
		fmt.Sprintf("%g %% of the window", 100*r.StallMin), fmt.Sprintf("%g major faults", r.FaultsMin)} {
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), want) {
			t.Errorf("docs/memory-floor.md does not say %q, which is the rule", want)
		}
	}
	ref := os.Getenv("GONOGO_FLOOR")
	if ref == "" || !*update {
		return
	}
	s, err := open("../results", ref)
	if err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	if e.Floor == nil || e.Invalid() || s.Plan.Quick {
		t.Fatalf("session %s is no session of memory floors that stands", s.ID)
	}
	var md bytes.Buffer
	if err := report.Markdown(&md, s, e); err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(md.String(), "- session: ")
	tables, _, _ = strings.Cut(tables, "\n## NOTES")
	tables, _, _ = strings.Cut(tables, "\n<details>")
	generated(t, file, begin, "- session: "+strings.ReplaceAll(tables, "\n## ", "\n### ")+"\n")
}

// A decision takes the floors of the same machine, files them with itself, and is verified
// from that; those of another machine, and a session that has none, it refuses.
func TestDecideWithFloors(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := decidable(t, out)
	s, err := archive.Load(filepath.Join(out, id))
	if err != nil {
		t.Fatal(err)
	}
	same := filepath.Base(floored(t, out, func(f *record.Session) { f.Host = s.Host }))
	other := filepath.Base(floored(t, out, nil))
	for _, c := range []struct {
		with []string
		code int
		want string
	}{
		{[]string{other}, exitInvalid, "it is refused:\n"},
		{[]string{id}, exitInvalid, "no session of memory-floor, capacity or scale"},
		{[]string{same, same}, exitUsage, "both are of memory-floor"},
		{[]string{"20010101T000000Z-000000"}, exitFailed, ""},
		{[]string{same}, exitDone, "memory of node-1: a limit of 66.0"},
	} {
		args := []string{"decide", id, "--out", out}
		for _, w := range c.with {
			args = append(args, "--with", w)
		}
		if r := inProcess(args...); r.code != c.code && !(c.want == "" && r.code != exitDone) || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("--with %v: exit %d, want %d and %q\n%.1500s%s", c.with, r.code, c.code, c.want, r.out, r.err)
		}
	}
	file := filepath.Join(out, id, "decision.json")
	verified := func() result { return inProcess("verify", id, "--out", out) }
	if r := verified(); !strings.Contains(r.out, "ok     decision") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	smaller := bytes.Replace(data, []byte("69206016"), []byte("9206016"), 1)
	if err := os.WriteFile(file, smaller, 0o644); err != nil || bytes.Equal(data, smaller) {
		t.Fatal("no floor to alter", err)
	}
	if r := verified(); r.code == exitDone || !strings.Contains(r.out+r.err, "decision.md") {
		t.Errorf("with another floor in decision.json: exit %d\n%s%s", r.code, r.out, r.err)
	}
}
