package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestNoShell: nothing that is shipped hands a line to a shell.
func TestNoShell(t *testing.T) {
	shell := regexp.MustCompile(`"(/bin/|/usr/bin/)?(ba|da|z)?sh"|shell:\s*true|\bexecSync\(|child_process'?\)?\.exec\(`)
	if !shell.MatchString(`exec.Command("sh", "-c", line)`) || !shell.MatchString("spawn(x, { shell: true })") {
		t.Fatal("the form finds no shell")
	}
	seen := 0
	for _, root := range []string{".", "../server-go", "../server-node"} {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || ext != ".go" && ext != ".mjs" {
				return err
			}
			text, err := os.ReadFile(path)
			if m := shell.Find(text); m != nil {
				t.Errorf("%s: %s", path, m)
			}
			seen++
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("%d files: the test shows nothing", seen)
	}
}

// TestDecideInAStrangersFolder: a decision that is a pipe is not waited for, and one
// that leads outside is neither read nor written through.
func TestDecideInAStrangersFolder(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := filepath.Join(out, decidable(t, out))
	outside := filepath.Join(t.TempDir(), "file")
	overwrite(t, outside, []byte(`{"answer":"SECRET"}`))
	for name, plant := range map[string]func(path string) error{
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link": func(path string) error { return os.Symlink(outside, path) },
	} {
		path := filepath.Join(dir, decisionData)
		os.Remove(path)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"decide", dir}, {"decide", dir, "--replace"}, {"verify", dir}} {
			r := inProcess(args...)
			if r.code == exitDone || strings.Contains(r.out+r.err, "SECRET") {
				t.Errorf("%s: %v: exit %d\n%s", name, args, r.code, r.err)
			}
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != `{"answer":"SECRET"}` {
		t.Errorf("what lies outside is now %s, %v", data, err)
	}
}

// TestEndlessFiles: what never ends is refused, not read into memory.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero on this system")
	}
	out := t.TempDir()
	id := decidable(t, out)
	for _, args := range [][]string{
		{"load", "merge", "/dev/zero"}, {"decide", id, "--out", out, "--inputs", "/dev/zero"},
		{"load", "--requests-file", "/dev/zero", "http://127.0.0.1:1/"}, {"check", "--requests", "/dev/zero", "http://127.0.0.1:1"},
	} {
		if r := inProcess(args...); r.code != exitUsage {
			t.Errorf("%v: exit %d, %.200s", args, r.code, r.err)
		}
	}
}
