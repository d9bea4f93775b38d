package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if r := inProcess("list", "--out", out); r.code != exitDone || r.out != "" || !strings.Contains(r.err, "gonogo compare makes one") {
		t.Errorf("none: exit %d, %q, %q", r.code, r.out, r.err)
	}
	ids := map[string]string{} // by outcome
	for want, s := range map[string]struct {
		name   string
		finish bool
	}{"complete": {"standard", true}, "smoke run": {"quick", true}, "incomplete": {"incomplete", true}, "cut short": {"one-repeat", false}} {
		ids[want] = archived(t, out, s.name, s.finish)
	}
	r := inProcess("list", "--out", out)
	lines := strings.Split(r.out, "\n")
	if r.code != exitDone || r.err != "" || len(lines) != 6 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for want, id := range ids {
		if !strings.Contains(r.out, id+"  2") || !lineHas(lines, id, want) {
			t.Errorf("%s, %s:\n%s", id, want, r.out)
		}
	}
	if !lineHas(lines, ids["complete"], "6       48    go-1 node-1 go-2 node-cluster-2") {
		t.Errorf("blocks, runs and targets:\n%s", r.out)
	}
	var all []entry
	if r := inProcess("list", "--out", out, "--json"); json.Unmarshal([]byte(r.out), &all) != nil || len(all) != 4 || all[0].ID >= all[3].ID && all[0].ID != all[3].ID && all[0].Started == nil {
		t.Errorf("JSON: %s", r.out)
	}

	// One that is damaged is listed with the others, and is no silent success.
	overwrite(t, filepath.Join(out, ids["complete"], "plan.json"), []byte("{"))
	r = inProcess("list", "--out", out)
	if r.code != exitFailed || !lineHas(strings.Split(r.out, "\n"), ids["complete"], "damaged") || !strings.Contains(r.err, "1 of 4 cannot be read") || !strings.Contains(r.err, "gonogo: hint: gonogo verify") {
		t.Errorf("damaged: exit %d\n%s%s", r.code, r.out, r.err)
	}
}

func lineHas(lines []string, id, text string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, id) {
			return strings.Contains(l, text)
		}
	}
	return false
}

// TestShow: a run by its number, its step and its file, from the folder and from
// the record in one file.
func TestShow(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := whole(t, out, "standard")
	overwrite(t, filepath.Join(dir, "logs", "0002-node-1.get-c50.b01.log"), []byte("one\ntwo\n\x1b[2Jthree\n"))
	want := inProcess("show", dir, "node-1/get-c50/b01", "--lines", "2")
	for _, text := range []string{"node-1/get-c50/b01 attempt 1 of 1", "rate_per_sec                 10000\n", "server_cpu_ns_per_request    100000\n",
		"20000 planned = 20000 ok", "\n  | two\n  | \uFFFD[2Jthree\n"} {
		if !strings.Contains(want.out, text) {
			t.Errorf("lacks %q:\n%s", text, want.out)
		}
	}
	if want.code != exitDone || want.err != "" || strings.Contains(want.out, "| one") {
		t.Errorf("exit %d\n%s%s", want.code, want.out, want.err)
	}
	for _, name := range []string{"2", "0002", "0002-node-1.get-c50.b01", "runs/0002-node-1.get-c50.b01.json", "node-1/get-c50/b01@1"} {
		if got := inProcess("show", dir, name, "--lines", "2"); got.out != want.out {
			t.Errorf("%s: exit %d\n%s%s", name, got.code, got.out, got.err)
		}
	}
	if r := inProcess("show", filepath.Join(out, "benchmark.json"), "2"); r.code != exitDone || !strings.Contains(r.out, "holds no logs") {
		t.Errorf("from one file: exit %d\n%s", r.code, r.out)
	}
	var v shown
	if r := inProcess("show", dir, "2", "--json"); json.Unmarshal([]byte(r.out), &v) != nil || v.Run == nil || v.Run.Step.Key() != "node-1/get-c50/b01" || len(v.LogTail) != 3 {
		t.Errorf("JSON: %s", r.out)
	}
	inProcess("show", dir, "node-1/get-c50/b99").refused(t, exitFailed, `"node-1/get-c50/b99"`, "it has 48 runs, the first is go-1/get-c50/b01")
	inProcess("show", dir, "node-1/get-c50/b01@2").refused(t, exitFailed, "the run has 1 attempt")
	inProcess("show", dir, "2", "--lines", "-1").refused(t, exitUsage)
	if err := os.Remove(filepath.Join(dir, "logs", "0002-node-1.get-c50.b01.log")); err != nil {
		t.Fatal(err)
	}
	if r := inProcess("show", dir, "2"); r.code != exitDone || !strings.Contains(r.out, "0002-node-1.get-c50.b01.log: no such file") {
		t.Errorf("without its log: exit %d\n%s", r.code, r.out)
	}
}

// TestShowFailedRun: a run that failed says why, and is marked.
func TestShowFailedRun(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := archived(t, out, "crash-in-repeat-2", true)
	r := inProcess("show", id, "node-1/get-c50/b02", "--out", out)
	if r.code != exitDone || !strings.Contains(r.out, "outcome                      failed\n") || !strings.Contains(r.out, "\n  reason ") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
