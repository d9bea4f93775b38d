package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/decision"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// decidable archives a session of report's testdata with what a decision needs.
func decidable(t *testing.T, out string) (id string) {
	t.Helper()
	s, err := archive.Load(filepath.Join("report", "testdata", "sessions", "five-words", "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	s.Plan.Decision = &record.DecisionRules{Pairs: []record.DecisionPair{{Target: "go-1", Base: "node-1", Cores: 1}, {Target: "go-2", Base: "node-cluster-2", Cores: 2}},
		SavingMin: 0.1, CPUTarget: 0.6, OwnWork: []time.Duration{0, 2 * time.Millisecond}}
	w, err := archive.Create(out, &s.Plan, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		r.PlanSHA256 = w.PlanSHA256()
		r.Settings = &record.Settings{Runtime: "node", Version: "v20.20.2"}
		r.Started = time.Unix(int64(r.Step.Index), 0).UTC()
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return w.ID()
}

// TestDecideFilesItsRecord: beside the session, in both forms, the same each time,
// and never in the place of another decision unasked.
func TestDecideFilesItsRecord(t *testing.T) {
	out := t.TempDir()
	id := decidable(t, out)
	file := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, id, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	code, page, errs := gonogo("decide", id, "--out", out)
	if code != exitDone || errs != "" || page != file("decision.md") || !strings.HasPrefix(page, "# Decision: NOT PROVEN\n") {
		t.Fatalf("exit %d, %s, stdout %.300s", code, errs, page)
	}
	var d record.Decision
	if err := json.Unmarshal([]byte(file("decision.json")), &d); err != nil || d.Answer != record.NotProven || d.Session != id || len(d.Missing) == 0 || d.PlanSHA256 == "" {
		t.Errorf("%v, %+v", err, d)
	}
	if code, data, errs := gonogo("decide", id, "--out", out, "--json"); code != exitDone || errs != "" || data != file("decision.json") {
		t.Errorf("again, as JSON: exit %d, %s", code, errs)
	}
	old := file("decision.json")
	code, other, errs := gonogo("decide", id, "--out", out, "--binds", "memory")
	if code != exitPreflight || !strings.Contains(errs, `another one is there ("NOT PROVEN")`) || !strings.Contains(errs, "--replace") || other == page || file("decision.json") != old {
		t.Errorf("another decision: exit %d, %s", code, errs)
	}
	code, other, errs = gonogo("decide", id, "--out", out, "--binds", "memory", "--replace")
	if code != exitDone || !strings.Contains(errs, "is replaced by NOT PROVEN") || other != file("decision.md") || file("decision.json") == old {
		t.Errorf("replaced: exit %d, %s", code, errs)
	}
	if _, err := archive.Load(filepath.Join(out, id)); err != nil {
		t.Errorf("the archive does not load with its decision: %v", err)
	}
	if code, page, _ := gonogo("verify", id, "--out", out); !strings.Contains(page, "ok     decision") || strings.Contains(page, "nothing vouches") {
		t.Errorf("verify: exit %d\n%s", code, page)
	}
	changed := strings.Replace(file("decision.md"), "NOT PROVEN", "GO", 1)
	if err := os.WriteFile(filepath.Join(out, id, "decision.md"), []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, page, _ := gonogo("verify", id, "--out", out); code != exitInvalid || !strings.Contains(page, "decision.md: is not what") {
		t.Errorf("verify of a changed decision: exit %d\n%s", code, page)
	}
	left, _ := filepath.Glob(filepath.Join(out, id, ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDecideInputs: flags lie over the file, and nothing that is misspelt, out of
// range or no JSON passes.
func TestDecideInputs(t *testing.T) {
	out := t.TempDir()
	id := decidable(t, out)
	file := filepath.Join(t.TempDir(), "inputs.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"replicas": 40, "own_cpu_ms": 2, "parts": [{"name": "a"}]}`)
	code, data, errs := gonogo("decide", id, "--out", out, "--inputs", file, "--own-cpu-ms", "0", "--json")
	var d record.Decision
	if err := json.Unmarshal([]byte(data), &d); err != nil || code != exitDone || *d.Inputs.Replicas != 40 || *d.Inputs.OwnCPU != 0 || len(d.Inputs.Parts) != 1 {
		t.Errorf("exit %d, %s, %v, %+v", code, errs, err, d.Inputs)
	}
	for text, want := range map[string]string{
		`{"replica": 40}`:                     `unknown field "replica"`,
		`{"replicas": 0}`:                     "replicas is 0",
		`{"replicas": 40, "replicas": 4}`:     "member \"replicas\" is there twice",
		`{"replicas": 40, "Replicas": 4}`:     "there twice",
		`{"replicas": 40} {}`:                 "more than one JSON value",
		`{`:                                   "unexpected EOF",
		`{"binds": "disk"}`:                   "binds is",
		`{"parts": [{}]}`:                     "part 1 needs a name",
		strings.Repeat(" ", maxInputs) + "{}": "larger than",
	} {
		write(text)
		if code, page, errs := gonogo("decide", id, "--out", out, "--inputs", file); code != exitUsage || page != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "docs/decide.md") {
			t.Errorf("%.40s: exit %d, %s", text, code, errs)
		}
	}
	for _, args := range [][]string{{"--price-gib", "NaN"}, {"--price-gib", "-1"}, {"--replicas", "x"}, {"--inputs", file + "x"}} {
		if code, page, errs := gonogo(append([]string{"decide", id, "--out", out}, args...)...); code != exitUsage || page != "" {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestDecideRefuses what is no evidence, with each reason.
func TestDecideRefuses(t *testing.T) {
	out := t.TempDir()
	for name, want := range map[string][]string{
		"quick":      {"it is a smoke run", "the runtime version of"},
		"incomplete": {"it is invalid: ", "the runtime version of go-1 is not known"},
	} {
		id := archived(t, out, name, name == "quick")
		code, page, errs := gonogo("decide", id, "--out", out)
		if code != exitInvalid || page != "" {
			t.Errorf("%s: exit %d, %.100s", name, code, page)
		}
		for _, w := range want {
			if !strings.Contains(errs, "\n  "+w) {
				t.Errorf("%s: %q lacks %q", name, errs, w)
			}
		}
		if _, err := os.Stat(filepath.Join(out, id, "decision.md")); err == nil {
			t.Errorf("%s: a refused session has a decision", name)
		}
	}
}

// TestDecideOnAFile: a benchmark.json has no folder to keep a decision in.
func TestDecideOnAFile(t *testing.T) {
	out := t.TempDir()
	s, err := archive.Load(filepath.Join(out, decidable(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := archive.Publish(file, s); err != nil {
		t.Fatal(err)
	}
	code, page, errs := gonogo("decide", file)
	if code != exitDone || !strings.HasPrefix(page, "# Decision") || !strings.Contains(errs, "printed and not kept") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// flags of inputs by the JSON name, and the help of each.
func inputFlags() (names map[string]string, help map[string]string) {
	names, help = map[string]string{}, map[string]string{}
	given := reflect.TypeFor[givenInputs]()
	for i := range given.NumField() {
		f := given.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		flag := f.Tag.Get("name")
		if flag == "" {
			flag = kongNames[f.Name]
		}
		names[name], help[name] = flag, f.Tag.Get("help")
	}
	return names, help
}

// kongNames are the flags that take their name from their field.
var kongNames = map[string]string{"Replicas": "replicas", "Binds": "binds", "MinReplicas": "min-replicas", "NodeProcesses": "node-processes",
	"Currency": "currency", "PeakRate": "peak-rate", "EffortDays": "effort-days", "HorizonMonths": "horizon-months"}

// TestEveryInputHasAFlag, by the same name in JSON; parts are for a file alone.
func TestEveryInputHasAFlag(t *testing.T) {
	names, _ := inputFlags()
	_, help, _ := gonogo("decide", "--help")
	of := reflect.TypeFor[record.DecisionInputs]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if name == "parts" {
			continue
		}
		if flag, ok := names[name]; !ok || !strings.Contains(help, "--"+flag+"=") {
			t.Errorf("%s has no flag: %q", name, flag)
		}
		delete(names, name)
	}
	if len(names) > 0 {
		t.Errorf("flags of no input: %v", names)
	}
}

// TestDocsOfDecide: the inputs, the constants of the rule and the answers of the
// golden sessions in docs/decide.md are those of the code.
func TestDocsOfDecide(t *testing.T) {
	const doc = "../docs/decide.md"
	p, err := plan.New(plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	generated(t, doc, "<!-- begin generated by make docs: rule of decide -->\n", fmt.Sprintf("The least saving that matters is %g %% of the bill, and a replica is planned to use %g %% of its CPUs.\n",
		100*p.Decision.SavingMin, 100*p.Decision.CPUTarget))
	names, help := inputFlags()
	var b strings.Builder
	b.WriteString("| input | flag | what it is |\n|---|---|---|\n")
	of := reflect.TypeFor[record.DecisionInputs]()
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); names[name] != "" {
			fmt.Fprintf(&b, "| `%s` | `--%s` | %s |\n", name, names[name], help[name])
		}
	}
	generated(t, doc, "<!-- begin generated by make docs: inputs of decide -->\n", b.String())
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := bytes.Cut(text, []byte("```json\n"))
	example, _, _ = bytes.Cut(example, []byte("```"))
	var in record.DecisionInputs
	if err := errors.Join(record.Strictly(example, &in), decision.Check(in)); err != nil || len(in.Parts) == 0 {
		t.Errorf("the inputs file of %s: %v, %+v", doc, err, in)
	}
	pages, err := filepath.Glob("decision/testdata/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no golden decisions", err)
	}
	slices.Sort(pages)
	b.Reset()
	b.WriteString("| answer | because |\n|---|---|\n")
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		title, rest, _ := bytes.Cut(page, []byte("\n"))
		_, rest, _ = bytes.Cut(rest, []byte("\n## Why\n\n- "))
		why, _, _ := bytes.Cut(rest, []byte("\n"))
		fmt.Fprintf(&b, "| %s | %s |\n", bytes.TrimPrefix(title, []byte("# Decision: ")), why)
	}
	generated(t, doc, "<!-- begin generated by make docs: answers of decide -->\n", b.String())
}
