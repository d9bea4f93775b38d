package main

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonogo/runner/archive"
)

// fakeNode puts a shell script before the real node.
func (u *user) fakeNode(script string) {
	u.t.Helper()
	bin := filepath.Join(u.dir, "fake")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		u.t.Fatal(err)
	}
	u.env[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
}

// TestHelp: every command explains itself, on stdout, with exit 0.
func TestHelp(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	all := u.run("--help")
	fields := reflect.TypeFor[commands]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if _, command := field.Tag.Lookup("cmd"); !command {
			continue
		}
		name := cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
		r := u.run(name, "--help")
		if r.code != exitDone || r.err != "" || !strings.HasPrefix(r.out, "Usage: gonogo "+name) {
			t.Errorf("%s --help: exit %d\n%s%s", name, r.code, r.out, r.err)
		}
		if _, hidden := field.Tag.Lookup("hidden"); hidden {
			continue
		}
		if !strings.Contains(all.out, "\n  "+name+" ") || !strings.Contains(r.out, field.Tag.Get("help")[:20]) {
			t.Errorf("%s is not explained:\n%s%s", name, all.out, r.out)
		}
	}
	if r := u.run("--version"); r.code != exitDone || !strings.HasPrefix(r.out, "gonogo ") {
		t.Errorf("--version: exit %d, %q", r.code, r.out)
	}
	if all.code != exitDone || all.err != "" {
		t.Errorf("--help: exit %d, %q", all.code, all.err)
	}
}

// TestUsage: what cannot be meant is refused with exit 2, before anything is done.
func TestUsage(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	for _, c := range []struct {
		args  string
		texts []string
	}{
		{"", []string{`"compare"`, "gonogo --help"}},
		{"measure", []string{"unexpected argument measure", "gonogo --help"}},
		{"compare --fast", []string{"unknown flag --fast"}},
		{"compare results", []string{"unexpected argument results"}},
		{"compare --targets rust-1", []string{`"rust-1"`, "valid names are go-1, node-1, go-", ", node-cluster-"}},
		{"compare --targets go-1,Node-1", []string{`"Node-1"`, "valid names are"}},
		{"compare --targets go-1,,node-1", []string{`""`, "valid names are"}},
		{"compare --targets=", []string{"none named"}},
		{"compare --seed -1", []string{"--seed"}},
		{"compare --seed one", []string{"--seed", `"one"`}},
		{"compare --budget 12", []string{"--budget", `"12"`}},
		{"compare --budget 5s", []string{"5s", "--quick"}},
		{"compare --budget=-12m", []string{"-12m"}},
		{"plan --targets rust-1", []string{"valid names are"}},
		{"plan --targets=", []string{"none named"}},
		{"check --targets rust-1", []string{"valid names are"}},
		{"check --targets=", []string{"none named"}},
		{"check localhost", []string{"http://"}},
		{"report --format pdf", []string{`"table","md","csv","json"`}},
		{"report a b", []string{"unexpected argument b"}},
		{"doctor --for 0", []string{"10s"}},
		{"load", []string{"no URL"}},
	} {
		r := u.run(strings.Fields(c.args)...)
		r.refused(t, exitUsage, c.texts...)
		if t.Failed() {
			t.Fatalf("gonogo %s", c.args)
		}
	}
	if entries, _ := os.ReadDir(u.dir); len(entries) != 1 { // tmp
		t.Errorf("a refused command left %v", entries)
	}
}

// TestPlacesToArchiveIn: a place that cannot hold an archive is refused before
// the first start.
func TestPlacesToArchiveIn(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	if err := os.WriteFile(filepath.Join(u.dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"dangling": "nowhere", "to-file": "file"} {
		if err := os.Symlink(to, filepath.Join(u.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for out, text := range map[string]string{
		"file":     "file: not a directory",
		"file/in":  "file: not a directory",
		"dangling": "dangling: it is a link to nowhere",
		"to-file":  "to-file: it is a link to file",
		"":         "use output folder",
	} {
		r := u.run("compare", "--quick", "--targets", "go-1", "--out", out)
		r.refused(t, exitPreflight, text, "--out")
		if strings.Contains(r.err, "proving") {
			t.Errorf("--out %q: servers were started", out)
		}
	}
}

// TestNodesThatWillNotDo are refused before anything is measured, with what they
// said themselves.
func TestNodesThatWillNotDo(t *testing.T) {
	t.Parallel()
	needNode(t)
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, theKit(t))
		u.fakeNode("echo v18.20.4")
		u.run("compare").refused(t, exitPreflight, `"v18.20.4", need 20 or newer`, "--targets go-1,go-")
	})
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, theKit(t))
		u.fakeNode("echo cannot load libnode >&2; exit 127")
		u.run("compare").refused(t, exitPreflight, "exit status 127", "cannot load libnode", "--targets go-1,go-")
	})
	t.Run("a syntax error", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, alteredKit(t, "server.mjs", "listen(delayed(", "listen(delayed(("))
		r := u.run("compare", "--quick", "--targets", "go-1,node-1")
		r.refused(t, exitPreflight, "start node-1: it ended before it was ready: exit status 1", "SyntaxError", "nothing was timed")
		if strings.Count(r.err, "start node-1") != 1 {
			t.Errorf("the cause is told more than once:\n%s", r.err)
		}
	})
}

// TestContractBreakers: servers that answer differently are not timed.
func TestContractBreakers(t *testing.T) {
	t.Parallel()
	needNode(t)
	u := newUser(t, alteredKit(t, "api.mjs", "'name required'", "'no name'"))
	for _, args := range [][]string{{"compare", "--quick", "--targets", "go-1,node-1"}, {"check", "--targets", "go-1,node-1"}} {
		r := u.run(args...)
		diff := r.err
		if args[0] == "check" { // its report is the diff
			diff, r.out = r.out, ""
		}
		r.refused(t, exitWrong)
		for _, text := range []string{"node-1 answered", `{\"error\":\"no name\"}`, "go-1 answered", `{\"error\":\"name required\"}`} {
			if !strings.Contains(diff, text) {
				t.Errorf("%s: the difference lacks %q:\n%s", args[0], text, diff)
			}
		}
		if strings.Contains(r.err, "step 1") {
			t.Errorf("something was timed:\n%s", r.err)
		}
	}
	for _, dir := range u.sessions() {
		if s, err := archive.Load(dir); err != nil || len(s.Runs) > 0 || s.Contract != nil {
			t.Errorf("archived: %v", err)
		}
	}
}
