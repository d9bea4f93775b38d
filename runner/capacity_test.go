package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/page"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

// searched is an archive of a session of capacity as the command leaves it.
func searched(t *testing.T, out string) string {
	t.Helper()
	return filed(t, out, example.Capacity())
}

// filed is a session as the command that measured it leaves it.
func filed(t *testing.T, out string, s *record.Session) string {
	t.Helper()
	w, err := archive.Create(out, &s.Plan, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddContract(s.Contract); err != nil {
		t.Fatal(err)
	}
	if err := w.AddProbes(s.Probes); err != nil {
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

// Every command treats a session of capacity as what it is.
func TestASessionOfCapacity(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := searched(t, out)
	id := filepath.Base(dir)
	if _, err := os.Stat(filepath.Join(out, "benchmark.json")); err == nil {
		t.Error("a session of capacity became the project's record")
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"report", id}, exitDone, []string{"How much load can these servers take?", "p95 <= 20ms", "CAPACITY", "LATENCY AGAINST RATE", "OVERLOAD", "asked no question"}},
		{[]string{"report", id, "--format", "md"}, exitDone, []string{"## CAPACITY", "few-searches"}},
		{[]string{"report", id, "--format", "html"}, exitDone, []string{"<h1>How much load", "Capacity of go-1", "p95 of the response time against the offered rate", "Goodput under overload", "The line across is the limit of 20ms"}},
		{[]string{"report", id, "--format", "json"}, exitDone, []string{`"capacity": {`, `"slo": "p95 <= 20ms"`, `"end": "found"`}},
		{[]string{"report", id, "--format", "hlog"}, exitDone, []string{"Tag=node-1/capacity/b01/t01,"}},
		{[]string{"report", id, "--format", "bench"}, exitDone, []string{"target=node-1/scenario=overload"}},
		{[]string{"verify", id}, exitDone, []string{"every printed number follows from the raw record"}},
		{[]string{"list"}, exitDone, []string{"capacity"}},
		{[]string{"show", id, "node-1/capacity/b01/t02"}, exitDone, []string{"375"}},
		{[]string{"show", id, "node-1/overload/b01"}, exitDone, nil},
		{[]string{"decide", id}, exitInvalid, []string{"it measured capacity alone"}},
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

// Numbers over trials at many rates are printed nowhere.
func TestTrialsAreNotPooled(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := filepath.Base(searched(t, out))
	for format, pooled := range map[string]string{"hgrm": "Cell = node-1/capacity", "bench": "scenario=capacity", "github": "node-1/capacity", "prometheus": `scenario="capacity"`} {
		if r := inProcess("report", id, "--out", out, "--format", format); r.code != exitDone || strings.Contains(r.out, pooled) {
			t.Errorf("%s: exit %d, and holds %q\n%.500s", format, r.code, pooled, r.out)
		}
	}
}

// A row of runs.csv is one trial, which its number tells apart; and verify sees an
// altered one.
func TestTrialsInCSV(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := searched(t, out)
	path := filepath.Join(dir, "runs.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	trial, scenario, target := slices.Index(rows[0], "trial"), slices.Index(rows[0], "scenario"), slices.Index(rows[0], "target")
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		key := row[target] + row[scenario] + row[trial]
		if seen[key] {
			t.Errorf("two rows of %s", key)
		}
		seen[key] = true
	}

	altered := strings.Replace(string(data), ","+rows[2][trial]+"\n", ",77\n", 1)
	if err := os.WriteFile(path, []byte(altered), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := inProcess("verify", dir, "--out", out); r.code != exitInvalid || !strings.Contains(r.out, "runs.csv") {
		t.Errorf("exit %d for an altered trial\n%s", r.code, r.out)
	}
}

func TestCapacityUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--slo", "95<20ms"}, {"--slo", "p95<0s"}, {"--slo", "p100<1s"}, {"--slo", "p95"}, {"--repeats", "0"}, {"--window", "10ms"}, {"none-1"}} {
		inProcess(append([]string{"capacity", "--dry-run"}, args...)...).refused(t, exitUsage, "")
	}
	r := inProcess("capacity", "--dry-run", "--slo", "p99.9<250us", "--seed", "1")
	if r.code != exitDone || !strings.Contains(r.out, "p99.9 <= 250µs") || !strings.Contains(r.out, "against node-1") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	var c capacityCmd
	c.SLO, c.Repeats, c.Window = "p95<20ms", 2, 4e9
	p, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	if minutes := p.Expected.Minutes(); math.Abs(minutes-10) > 3 || p.Rules.Capacity.Quantile != 0.95 {
		t.Errorf("the default takes %.1f minutes at quantile %g, want about 10 at 0.95", minutes, p.Rules.Capacity.Quantile)
	}
}

// TestDocsOfCapacity: with GONOGO_CAPACITY, an archive, and -update it puts the tables of
// that session, and its curve, into docs. Without, the limits that the page names are
// those of the code.
func TestDocsOfCapacity(t *testing.T) {
	const file, begin = "../docs/capacity.md", "<!-- begin generated by make docs-capacity -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := plan.CapacityRules(0.95, 20*time.Millisecond)
	for _, want := range []string{fmt.Sprintf("at least %g %%", 100*r.AchievedMin), fmt.Sprintf("at most %g %%", 100*r.ErrorsMax), fmt.Sprintf("at least %d;", r.RequestsMin),
		fmt.Sprintf("above %g times", r.QueueFactor), fmt.Sprintf("pass %d of %d", r.Low.Need, r.Low.Of), fmt.Sprintf("fail %d of %d", r.High.Need, r.High.Of), fmt.Sprintf("up by %g", r.StepFactor),
		fmt.Sprintf("%g %% apart", 100*r.Bracket), "a tenth of the SLO", "four times"} {
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), want) {
			t.Errorf("docs/capacity.md does not say %q, which is the rule", want)
		}
	}
	ref := os.Getenv("GONOGO_CAPACITY")
	if ref == "" || !*update {
		return
	}
	s, err := open("../results", ref)
	if err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	if e.Capacity == nil || e.Invalid() || s.Plan.Quick {
		t.Fatalf("session %s is no session of capacity that stands", s.ID)
	}
	var md, svg bytes.Buffer
	if err := errors.Join(report.Markdown(&md, s, e), page.Curve(&svg, s, e)); err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(md.String(), "- session: ")
	tables, _, _ = strings.Cut(tables, "\n## NOTES")
	tables, _, _ = strings.Cut(tables, "\n<details>")
	generated(t, file, begin, "![p95 of the response time against the offered rate](capacity.svg)\n\n- session: "+strings.ReplaceAll(tables, "\n## ", "\n### ")+"\n")
	if err := os.WriteFile("../docs/capacity.svg", svg.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
