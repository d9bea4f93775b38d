package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

var update = flag.Bool("update", false, "rewrite testdata")

var epoch = time.Date(2026, 11, 30, 19, 41, 0, 0, time.UTC)

// session has two targets, two blocks and numbers that can be checked by hand. In
// block b Go answers 40 000 - 1 000 (b-1) requests in 2 s and Node half as many;
// both use 1.9 s of CPU. Latencies are 1.000..1.999 ms, evenly. Go holds 20 MiB
// under load and Node 90. Go's /healthz answers after 10 ms x b and its API 1 ms
// later; Node's after 60 ms x b and 5 ms.
func session() *record.Session {
	get := []record.Request{{Method: "GET", Path: "/users/{id}"}}
	s := &record.Session{
		SchemaVersion: record.SchemaVersion, ID: "20261130T194100Z-a1b2c3", Started: epoch, Finished: epoch.Add(time.Minute),
		Host: record.Host{OS: "linux", Arch: "amd64", CPUModel: "Example CPU", GoVersion: "go1.26.0", NodeVersion: "v20.20.2", Grade: "B", CPUs: []int{0, 1},
			Checks: []record.Check{{Name: "foreign CPU", OK: true, Observed: "0 %", Limit: "5 %"}, {Name: "CPU governor", Observed: "powersave", Limit: "performance"}, {Name: "steal", Unknown: true, Observed: "not told", Limit: "1 %"}}},
		Plan: record.Plan{SchemaVersion: record.SchemaVersion, Blocks: 2,
			Targets: []record.Target{{Name: "go-1", Base: "node-1", Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}}, {Name: "node-1", Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}}},
			Scenarios: []record.Scenario{
				{Name: "get-c50", Kind: record.Closed, Requests: get, Connections: 50, Window: 2 * time.Second},
				{Name: "memory-c300", Kind: record.Memory, Requests: get, Connections: 300, Window: 2 * time.Second},
			}},
	}
	for b := 1; b <= 2; b++ {
		for _, sc := range s.Plan.Scenarios {
			for _, t := range s.Plan.Targets {
				st := record.Step{Index: len(s.Plan.Steps), Block: b, Target: t.Name, Scenario: sc.Name}
				s.Plan.Steps = append(s.Plan.Steps, st)
				s.Runs = append(s.Runs, run(st, sc))
			}
		}
	}
	return s
}

func run(st record.Step, sc record.Scenario) record.Run {
	n, mib, ready, api := uint64(40_000-1_000*(st.Block-1)), uint64(20), 10*time.Millisecond, time.Millisecond
	if st.Target == "node-1" {
		n, mib, ready, api = n/2, 90, 60*time.Millisecond, 5*time.Millisecond
	}
	first := ready*time.Duration(st.Block) + api
	r := record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done, Started: epoch.Add(time.Duration(st.Index) * 5 * time.Second),
		Ready: ready * time.Duration(st.Block), FirstAnswer: &first, ServerCPU: &record.CPUTime{User: 1900 * time.Millisecond},
		Load: &record.LoadResult{Kind: record.Closed, Connections: sc.Connections, Window: sc.Window, Counts: record.Counts{Planned: n, OK: n, InWindow: n}}}
	if sc.Kind == record.Memory {
		pss := mib << 20
		m := record.MemoryReading{Processes: 1, PSS: &pss, RSS: pss}
		r.Memory = &record.MemoryWatch{Idle: &m, Rest: &m, Load: []record.MemoryAt{{At: time.Second, MemoryReading: m}}}
		return r
	}
	h := histogram.New()
	for i := range n {
		h.Record(time.Millisecond + time.Duration(i%1000)*time.Microsecond)
	}
	r.Load.Service = h.Encode()
	return r
}

func written(t *testing.T, write Writer, s *record.Session, e findings.Evaluation) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, s, e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// evaluated adds a verdict of each word, which a session of two blocks does not give.
func evaluated(s *record.Session) findings.Evaluation {
	e := findings.Evaluate(s)
	half := 0.5
	for _, word := range []string{"BETTER", "WORSE", "EQUIVALENT", "INCONCLUSIVE", "INVALID"} {
		e.Verdicts = append(e.Verdicts, record.Verdict{
			Primary: record.Primary{Metric: "p99_ns", Scenario: "get-c50", Target: "go-1", Base: "node-1"}, Word: word, Why: "<made & up>", Ratio: &half})
	}
	return e
}

func TestGolden(t *testing.T) {
	s := session()
	e := evaluated(s)
	for name, write := range All {
		got := written(t, write, s, e)
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not as in %s:\n%s", name, path, got)
		}
		if again := written(t, write, s, e); again != got {
			t.Errorf("%s: the second time differs", name)
		}
	}
}

// A name of Prometheus, of XML or of a benchmark holds what its format allows.
func TestHostileNames(t *testing.T) {
	s := session()
	hostile := "a b/c=\"d\"\\\n<e>,f-1"
	s.Plan.Targets[0].Name = hostile
	for i := range s.Runs {
		if s.Runs[i].Step.Target == "go-1" {
			s.Runs[i].Step.Target, s.Plan.Steps[i].Target = hostile, hostile
		}
	}
	s.ID = "x\nBenchmarkFake 1 1 ns/op"
	e := findings.Evaluate(s)
	var u struct {
		Cases []struct {
			Name string `xml:"name,attr"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(written(t, JUnit, s, e)), &u); err != nil || len(u.Cases) != 4 { // the session and three gates
		t.Errorf("JUnit: %v, %d cases", err, len(u.Cases))
	}
	for name, write := range map[string]Writer{"hyperfine": Hyperfine, "github": GitHub} {
		if !json.Valid([]byte(written(t, write, s, e))) {
			t.Errorf("%s is not JSON", name)
		}
	}
	for line := range strings.Lines(written(t, Bench, s, e)) {
		if strings.HasPrefix(line, "BenchmarkFake") {
			t.Errorf("a name became a line: %q", line)
		}
	}
	prom := written(t, Prometheus, s, e)
	if want := `target="a b/c=\"d\"\\\n<e>,f-1"`; !strings.Contains(prom, want) {
		t.Errorf("no label %s in\n%s", want, prom)
	}
	if log := written(t, Log, s, e); !strings.Contains(log, `Tag=a_b/c="d"\_<e>_f-1/get-c50/b01,0.000,2.000,1.999,`) {
		t.Errorf("no such tag in\n%s", log)
	}
}

// What is no evidence says so wherever there is a place for it.
func TestNotEvidence(t *testing.T) {
	s := session()
	s.Plan.Quick = true
	e := findings.Evaluate(s)
	for name, want := range map[string]string{
		"bench": "warning: smoke run", "github": "smoke run", "junit": `type="NOT EVIDENCE"`, "prometheus": "gonogo_session_evidence 0\n",
	} {
		if got := written(t, All[name], s, e); !strings.Contains(got, want) {
			t.Errorf("%s does not say %q:\n%s", name, want, got)
		}
	}
}

// Three things make a session no evidence, and each has its own name: it was a smoke
// run, it lacks runs, or it is whole and void.
func TestWhyNoEvidence(t *testing.T) {
	void := func(s *record.Session) findings.Evaluation {
		e := findings.Evaluate(s)
		e.Findings = append(e.Findings, record.Finding{Code: "twin", Severity: record.Voids, Text: "the twins differ"})
		return e
	}
	for want, change := range map[string]func(*record.Session){
		"void session: no conclusion can be drawn: the twins differ": func(*record.Session) {},
		"incomplete session: no conclusion can be drawn":             func(s *record.Session) { s.Runs = s.Runs[:len(s.Runs)-1] },
		"smoke run, and incomplete: not evidence":                    func(s *record.Session) { s.Plan.Quick, s.Finished = true, time.Time{} },
		"smoke run: not evidence":                                    func(s *record.Session) { s.Plan.Quick = true },
	} {
		s := session()
		change(s)
		if got := written(t, Bench, s, void(s)); !strings.Contains(got, "\nwarning: "+want+"\n") {
			t.Errorf("no %q in\n%.400s", want, got)
		}
	}
	s := session()
	if got := written(t, Bench, s, findings.Evaluate(s)); strings.Contains(got, "warning:") {
		t.Errorf("a whole session has a warning:\n%.400s", got)
	}
}

// A record of before the API's own first answer was kept has the one of /healthz,
// and says so.
func TestStartOfOldRecords(t *testing.T) {
	s := session()
	for i := range s.Runs {
		s.Runs[i].FirstAnswer = nil
	}
	got := written(t, Hyperfine, s, findings.Evaluate(s))
	if !strings.Contains(got, `"min": 0.01,`) || !strings.Contains(got, `"until": "right answer of /healthz"`) {
		t.Error(got)
	}
}

// A session without runs is written as one, in every format.
func TestEmpty(t *testing.T) {
	s := session()
	s.Runs, s.Finished = nil, time.Time{}
	e := findings.Evaluate(s)
	for name, write := range All {
		if got := written(t, write, s, e); strings.Contains(got, "NaN") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := written(t, Hyperfine, s, e); got != "{\n  \"results\": []\n}\n" {
		t.Errorf("hyperfine: %q", got)
	}
	if got := written(t, GitHub, s, e); got != "[]\n" {
		t.Errorf("github: %q", got)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteError(t *testing.T) {
	s := session()
	e := findings.Evaluate(s)
	for name, write := range All {
		if err := write(broken{}, s, e); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that does not count is in no format: its latencies neither in the log nor in
// the pooled distribution.
func TestVoidRunsStayOut(t *testing.T) {
	s := session()
	r := &s.Runs[0] // go-1/get-c50/b01
	r.Outcome, r.Reason = record.Void, "disturbed"
	e := findings.Evaluate(s)
	if log := written(t, Log, s, e); strings.Contains(log, "Tag=go-1/get-c50/b01") || !strings.Contains(log, "Tag=go-1/get-c50/b02") {
		t.Errorf("log:\n%s", log)
	}
	if d := written(t, Distribution, s, e); !strings.Contains(d, "#[Cell = go-1/get-c50, service time in ms, processes pooled = 1,") {
		t.Errorf("distribution:\n%.200s", d)
	}
	if b := written(t, Bench, s, e); strings.Count(b, "target=go-1/scenario=get-c50") != 1 {
		t.Errorf("bench:\n%s", b)
	}
}
