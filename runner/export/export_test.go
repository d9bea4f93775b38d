package export

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	get = record.Request{Method: "GET", Path: "/users/{id}", WantStatus: 200, WantBody: `{"id":"{id}","name":"User {id}"}`}
	add = record.Request{Method: "POST", Path: "/users", Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"name":"User {id}"}`, WantStatus: 201, WantBody: `{"id":"{digits}","name":"User {id}"}`}
)

func job(s record.Scenario) Job {
	s.Connections, s.Warmup, s.Window = 50, time.Second, 1100*time.Millisecond
	return Job{Kit: "0.1.0", Scenario: s, Host: "10.0.0.1:8080", IDs: 3, Seed: 1, Timeout: 5 * time.Second}
}

var (
	closed = job(record.Scenario{Name: "post-c50", Kind: record.Closed, Requests: []record.Request{add}})
	open   = job(record.Scenario{Name: "get-open", Kind: record.Open, Requests: []record.Request{get}, RatePerSec: 21500.5, Arrivals: "poisson"})
)

// golden holds a text to a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s is not what is written now (%v); go test ./runner/export -update, and read the difference. Now:\n%s", path, err, got)
	}
}

// TestGolden: one closed and one open loop in the language of each engine.
func TestGolden(t *testing.T) {
	for engine, ext := range map[string]string{"k6": "js", "vegeta": "sh", "hyperfoil": "hf.yaml"} {
		for name, j := range map[string]Job{"closed": closed, "open": open} {
			text, err := Engines[engine](j)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, engine+"-"+name+"."+ext, text.Text)
			for _, lost := range text.Lost {
				if !strings.Contains(text.Text, lost) {
					t.Errorf("%s %s: %q is told to the caller and not in the text", engine, name, lost)
				}
			}
		}
	}
}

// TestWhatIsLostIsSaid: each row is what the engine's own documentation says that it
// has not.
func TestWhatIsLostIsSaid(t *testing.T) {
	memory := open
	memory.Scenario.Kind = record.Memory
	short := closed
	short.Scenario.Window = 500 * time.Millisecond
	for _, c := range []struct {
		engine string
		j      Job
		word   string
		said   bool
	}{
		{"k6", open, "poisson", true}, {"k6", closed, "poisson", false}, {"vegeta", open, "poisson", true}, {"hyperfoil", open, "poisson", false},
		{"k6", open, "body", false}, {"vegeta", open, "body", true}, {"hyperfoil", closed, "body", true},
		{"k6", open, "was due", true}, {"hyperfoil", open, "was due", true}, {"vegeta", closed, "was due", false},
		{"k6", memory, "memory", true}, {"vegeta", memory, "memory", true}, {"hyperfoil", memory, "memory", true}, {"k6", open, "memory", false},
		{"k6", short, "times under 1s", true}, {"k6", closed, "times under 1s", false},
	} {
		text, err := Engines[c.engine](c.j)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(text.Lost, "\n"), c.word); said != c.said {
			t.Errorf("%s %s: %q said: %v, want %v", c.engine, c.j.Scenario.Name, c.word, said, c.said)
		}
	}
}

func TestRefused(t *testing.T) {
	share := open
	share.Scenario.RatePerSec = 0
	search := closed
	search.Scenario.Kind = "capacity"
	for engine, write := range Engines {
		if _, err := write(share); !errors.Is(err, ErrRate) {
			t.Errorf("%s: an open loop without a rate: %v", engine, err)
		}
		if _, err := write(search); err == nil {
			t.Errorf("%s: took a search", engine)
		}
	}
	mix := closed
	mix.Scenario.Requests = []record.Request{get, add}
	if _, err := Hyperfoil(mix); err == nil || !strings.Contains(err.Error(), "mixes 2 requests") {
		t.Errorf("hyperfoil: a mix: %v", err)
	}
}

// TestAHostileNameStaysInItsComment: a line break in a name would end the comment.
func TestAHostileNameStaysInItsComment(t *testing.T) {
	j := closed
	j.Scenario.Name = "x\nrm -rf /\n\u2028"
	for engine, write := range Engines {
		text, err := write(j)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.Text, "\nrm") || strings.Contains(text.Text, "\u2028") {
			t.Errorf("%s: the name broke out:\n%.300s", engine, text.Text)
		}
	}
}

// TestVegetaScript runs the script with a vegeta that prints its arguments and
// targets: warm-up and window send all ids once, as vegeta's flags say.
func TestVegetaScript(t *testing.T) {
	dir := t.TempDir()
	fake := "#!/bin/sh\necho \"$@\" >>" + dir + "/calls\nif [ $1 = attack ]; then for a; do case $a in -targets=*) cat \"${a#-targets=}\";; esac; done; else cat; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "vegeta"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := Vegeta(closed)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", text.Text)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"eyJuYW1lIjoiVXNlciAxIn0=", "eyJuYW1lIjoiVXNlciAyIn0=", "eyJuYW1lIjoiVXNlciAzIn0="} { // printf '{"name":"User 1"}' | base64
		line := `{"method":"POST","url":"http://10.0.0.1:8080/users","body":"` + body + `","header":{"Content-Type":["application/json"]}}`
		if strings.Count(string(out), line+"\n") != 1 {
			t.Errorf("targets are\n%s\nwant once %s", out, line)
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if n := strings.Count(string(calls), "-rate=0 -workers=50 -max-workers=50 -connections=50 -max-connections=50"); err != nil || n != 2 ||
		strings.Count(string(calls), "-duration=1000ms") != 1 || strings.Count(string(calls), "-duration=1100ms") != 1 {
		t.Errorf("%v: vegeta was called by\n%s", err, calls)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp.*")); len(left) > 0 {
		t.Errorf("the targets are left behind: %v", left)
	}
}

// TestK6Script runs the script in Node with stand-ins for k6's modules: it sends what
// the scenario says, and holds replies to status and body.
func TestK6Script(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no node to run the script in")
	}
	text, err := K6(closed)
	if err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("import http from 'k6/http';", "const sent = []; let reply = {}; const http = { request: (...a) => { sent.push(a); return reply; }, expectedStatuses: (s) => s };",
		"import { check, randomSeed } from 'k6';", "let checked; const check = (r, c) => { checked = Object.values(c)[0](r); }; const randomSeed = () => {}; const __VU = 1;",
		"export default function ()", "function iterate()").Replace(text.Text) + `
const answers = [];
for (const [status, body] of [[201, '{"id":"10001","name":"User ID"}'], [201, '{"id":"1x","name":"User ID"}'], [201, '{"id":"","name":"User ID"}'],
  [200, '{"id":"10001","name":"User ID"}'], [201, '{"id":"10001","name":"User 0"}'], [201, null]]) {
  const random = Math.random;
  Math.random = () => 0.5; // of ids 1 to 3: 2
  reply = { status, body: body && body.replace('ID', '2') };
  iterate();
  Math.random = random;
  answers.push(checked);
}
const [method, url, body, params] = sent[0];
console.log(JSON.stringify([answers, method, url, body, params.headers, params.timeout, params.responseCallback, options.scenarios.window.vus, options.scenarios.window.startTime]));
`
	path := filepath.Join(t.TempDir(), "script.mjs")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, path).CombinedOutput()
	want := `[[true,false,false,false,false,false],"POST","http://10.0.0.1:8080/users","{\"name\":\"User 2\"}",{"Content-Type":"application/json"},"5000ms",201,50,"1000ms"]`
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, out, want)
	}
}
