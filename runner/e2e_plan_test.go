package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/service"
)

// plainPair copies the pair of services without packages, built, and returns the
// folder. What the test changes in it is nobody else's.
func plainPair(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plain")
	if err := os.CopyFS(dir, os.DirFS("../examples/plain")); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "go", "service"))
	built := filepath.Join(dir, "built") // by this process's own cache, not by a user's empty one
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", built, "../examples/plain/go").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	rewrite(t, filepath.Join(dir, "plan.json"), `["go", "build", "-buildvcs=false", "-o", "service", "main.go"]`, `["cp", "../built", "service"]`)
	rewrite(t, filepath.Join(dir, "gateway.json"), `["go", "build", "-buildvcs=false", "-o", "../go/service", "../go/main.go"]`, `["cp", "../built", "../go/service"]`)
	return dir
}

func rewrite(t *testing.T, path, old, text string) {
	t.Helper()
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(was), old) {
		t.Fatalf("%s holds no %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(was), old, text, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestComparePlan measures two services that know nothing of this kit, and refuses to
// once they answer differently.
func TestComparePlan(t *testing.T) {
	t.Parallel()
	needNode(t)
	dir := plainPair(t)
	u := newUser(t, theKit(t))
	planFile := filepath.Join(dir, "plan.json")
	r := u.run("compare", "--quick", "--plan", planFile, "--seed", "1")
	s := u.load()
	if s.Finished.IsZero() || len(s.Plan.Steps) != 6 || len(s.Runs) < 6 {
		t.Fatalf("exit %d, finished %v, %d steps, %d runs\n%s", r.code, s.Finished, len(s.Plan.Steps), len(s.Runs), r.err)
	}
	for _, run := range s.Runs {
		if !kept(run.Outcome) {
			t.Errorf("%s: %s: %s\n%s", run.Step.Key(), run.Outcome, run.Reason, run.LogTail)
		}
		if run.Settings != nil || run.Served != nil || run.PerWorker != nil {
			t.Errorf("%s: what it does not tell is recorded: %+v, %v, %v", run.Step.Key(), run.Settings, run.Served, run.PerWorker)
		}
		if sc, _ := s.Plan.Scenario(run.Step.Scenario); sc.Kind != record.Memory && run.Outcome == record.Done && (run.Load == nil || run.Load.Counts.OK == 0 || run.Ready == 0) {
			t.Errorf("%s: no load, or never ready", run.Step.Key())
		}
	}
	// GET for the ids 1, 500 and 1000, POST for the same.
	if len(s.Contract) != 2 || s.Contract[0].Cases != 6 || s.Plan.Service.Folder != dir {
		t.Errorf("proof %+v, folder %s", s.Contract, s.Plan.Service.Folder)
	}
	if node, _ := s.Plan.Target("node"); !strings.HasPrefix(node.Foreign.Runtime, "v") {
		t.Errorf("runtime %q", node.Foreign.Runtime)
	}
	for _, want := range []string{"Should one service take the place of another: node by go?", "unknown   of go, node, which do not tell", "node: v", "SMOKE RUN"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the page lacks %q:\n%s", want, r.out)
		}
	}
	if got := u.run("verify", s.ID); got.code != exitDone || got.err != "" {
		t.Errorf("verify: exit %d\n%s%s", got.code, got.out, got.err)
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "benchmark.json")); !os.IsNotExist(err) {
		t.Errorf("a session of others' services wrote benchmark.json: %v", err)
	}

	gateway := filepath.Join(dir, "gateway.json")
	if got := u.run("check", "--plan", gateway); got.code != exitDone || got.out != "behind-gateway  6 requests, answered alike\nnode            6 requests, answered alike\n" {
		t.Errorf("a gateway and its backend: exit %d\n%s%s", got.code, got.out, got.err)
	}
	rewrite(t, filepath.Join(dir, "node", "server.mjs"), "+ 0.5, currency", "+ 0.25, currency")
	got := u.run("compare", "--quick", "--plan", planFile)
	if got.code != exitWrong || !strings.Contains(got.err, "wrong: $.price.amount: 1.25, go has 1.5") || !strings.Contains(got.err, "GET /items/500") {
		t.Errorf("services that differ: exit %d\n%s", got.code, got.err)
	}
	if got := u.run("check", "--plan", gateway); got.code != exitWrong || !strings.Contains(got.err, "node answered") {
		t.Errorf("a gateway that differs: exit %d\n%s%s", got.code, got.out, got.err)
	}
	rewrite(t, planFile, `"command`, `"comand`)
	got = u.run("compare", "--quick", "--plan", planFile)
	if got.code != exitUsage || !strings.Contains(got.err, "line 7: targets[0].comand: there is no such member; did you mean command?") {
		t.Errorf("a slip: exit %d\n%s", got.code, got.err)
	}
}

// TestServicesNeverPublish: benchmark.json is of the servers of this kit, however good a
// session of others is.
func TestServicesNeverPublish(t *testing.T) {
	o, err := service.Read("../examples/plain/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	o.CPUs = plan.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}
	p, err := plan.NewService(o)
	if err != nil {
		t.Fatal(err)
	}
	if publishes(p) {
		t.Error("it replaces benchmark.json")
	}
	p.Service = nil
	if !publishes(p) {
		t.Error("it would not even without its services: this test shows nothing")
	}
}

// TestPlanWrite: what is started can be read but for its services, and is never
// written over.
func TestPlanWrite(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	if got := u.run("plan", "--write", "plan.json"); got.code != exitDone || !strings.Contains(got.out, "requests.jsonl: written") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if got := u.run("plan", "--plan", "plan.json", "--quick"); got.code != exitDone || !strings.Contains(got.out, "PORT={port} ./new-service on CPUs") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if got := u.run("plan", "--write", "plan.json"); got.code != exitUsage || !strings.Contains(got.err, "file exists") {
		t.Errorf("exit %d\n%s", got.code, got.err)
	}
	if got := u.run("compare", "--plan", "plan.json", "--quick"); got.code != exitPreflight {
		t.Errorf("services that are not there: exit %d\n%s", got.code, got.err)
	}
	if got := u.run("plan", "--write", "other.json"); got.code != exitDone || !strings.Contains(got.out, "requests.jsonl: there already") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}
