package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
)

// whole is a session as compare leaves it, with a log for each run.
func whole(t testing.TB, out, name string) string {
	t.Helper()
	dir := filepath.Join(out, archived(t, out, name, true))
	s, err := archive.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Runs {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(r.LogFile)), []byte("{\"ready\":true}\nlistening\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := keep(dir, out, s, findings.Evaluate(s)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestVerify(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := whole(t, out, "standard")
	id := filepath.Base(dir)
	for _, ref := range []string{"latest", id, id[:20], dir, filepath.Join(out, "benchmark.json")} {
		r := inProcess("verify", ref, "--out", out)
		if r.code != exitDone || r.err != "" || !strings.Contains(r.out, "every printed number follows from the raw record") {
			t.Errorf("%s: exit %d\n%s%s", ref, r.code, r.out, r.err)
		}
		// The record that was published is held against the folder, from either side.
		if !strings.Contains(r.out, "ok     benchmark.json") {
			t.Errorf("%s: benchmark.json is not compared:\n%s", ref, r.out)
		}
	}
	var v verification
	if r := inProcess("verify", id, "--out", out, "--json"); json.Unmarshal([]byte(r.out), &v) != nil || !v.Follows || v.Session != id || len(v.Checked) < 6 {
		t.Errorf("JSON: %s", r.out)
	}
	inProcess("verify", "19990101", "--out", out).refused(t, exitFailed, "newest in "+out)
}

// wrong verifies an archive that must not pass, and gives what was found.
func wrong(t *testing.T, ref, out string) string {
	t.Helper()
	r := inProcess("verify", ref, "--out", out)
	if r.code != exitInvalid || !strings.Contains(r.err, "gonogo: error: verify archive") || !strings.Contains(r.err, "\ngonogo: hint: ") || !strings.Contains(r.out, "NOT EVERYTHING FOLLOWS") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	return r.out + r.err
}

// TestVerifyFlippedByte flips one byte at three places of every file of a session:
// it is named.
func TestVerifyFlippedByte(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := whole(t, out, "one-repeat")
	files := tree(t, dir)
	if len(files) < 12 {
		t.Fatalf("%d files", len(files))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		for _, i := range []int{0, len(content) / 2, len(content) - 1} {
			data := []byte(content)
			data[i] ^= 1
			overwrite(t, filepath.Join(dir, name), data)
			if found := wrong(t, dir, out); !strings.Contains(found, name) {
				t.Errorf("byte %d of %s: %s", i, name, found)
			}
		}
		overwrite(t, filepath.Join(dir, name), []byte(content))
	}
	if r := inProcess("verify", dir, "--out", out); r.code != exitDone {
		t.Errorf("put right again, it does not pass: %s", r.out)
	}
}

// TestVerifyFindsANumber alters printed numbers and makes the sums right again, as
// somebody would who wants another result: the number itself is found.
func TestVerifyFindsANumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, text, want string }{
		// 40 000 answers in 2 s, and 20 000 of Node.
		{"runs.csv", ",20000,", ",20001,", "runs.csv: go-1/get-c50/b01, rate_per_sec: says 20001, the raw record gives 20000"},
		{"runs.csv", ",40000,", ",40001,", "runs.csv: go-1/get-c50/b01, planned: says 40001, the raw record gives 40000"},
		{"report.md", "| 20000", "| 20010", "says \"20010\", the raw record gives \"20000\""},
	} {
		out := t.TempDir()
		dir := whole(t, out, "one-repeat")
		data, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(c.old)) {
			t.Errorf("%s holds no %q:\n%s", c.file, c.old, data)
			continue
		}
		overwrite(t, filepath.Join(dir, c.file), bytes.Replace(data, []byte(c.old), []byte(c.text), 1))
		if err := archive.WriteManifest(dir); err != nil {
			t.Fatal(err)
		}
		if found := wrong(t, dir, out); !strings.Contains(found, c.want) || strings.Contains(found, "WRONG  checksums") {
			t.Errorf("%s: %s", c.want, found)
		}
	}
}

// A page that another build worded is vouched for by its sum alone, and verify says
// so; with the sum gone wrong too, it is altered.
func TestVerifyAnotherBuild(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := whole(t, out, "one-repeat") // of gonogo "test"
	file := filepath.Join(dir, "report.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, file, append(data, "Another word.\n"...))
	if found := wrong(t, dir, out); !strings.Contains(found, "WRONG  checksums") {
		t.Errorf("an altered page: %s", found)
	}
	if err := archive.WriteManifest(dir); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"verify", dir, "--out", out}, streams{nil, &stdout, &stderr})
	if code != exitDone || !strings.Contains(stdout.String(), "report.md is as gonogo test wrote it") {
		t.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())
	}
}

// TestVerifyPublished: one digit of benchmark.json that is not as in the folder.
func TestVerifyPublished(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := whole(t, out, "standard")
	file := filepath.Join(out, "benchmark.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, file, bytes.Replace(data, []byte(`"user_ns": 1200000000`), []byte(`"user_ns": 1300000000`), 1))
	for _, ref := range []string{dir, file} {
		if found := wrong(t, ref, out); !strings.Contains(found, "runs[0].server_cpu.user_ns is 1300000000") || !strings.Contains(found, "1200000000") {
			t.Errorf("%s: %s", ref, found)
		}
	}
}

// FuzzVerifyPublished: any change or cut of benchmark.json behind its id, be it of a
// space, is found, and the file named.
func FuzzVerifyPublished(f *testing.F) {
	out := f.TempDir()
	dir := whole(f, out, "one-repeat")
	file := filepath.Join(out, "benchmark.json")
	s, err := archive.Load(dir)
	if err != nil {
		f.Fatal(err)
	}
	if err := archive.Publish(file, s); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	id := bytes.Index(data, []byte(filepath.Base(dir))) + len(filepath.Base(dir))
	for at := range uint(20) {
		f.Add(at*997, byte(1+at%2*0x1f), false)
	}
	f.Add(uint(1), byte(0), true)
	f.Add(uint(len(data)-id-1), byte(0), true)
	f.Fuzz(func(t *testing.T, at uint, change byte, cut bool) {
		i := id + int(at%uint(len(data)-id))
		altered := bytes.Clone(data)
		if cut {
			altered = altered[:i]
		} else if altered[i] ^= change; change == 0 {
			return
		}
		overwrite(t, file, altered)
		if found := wrong(t, dir, out); !strings.Contains(found, "WRONG  benchmark.json") || !strings.Contains(found, file) {
			t.Errorf("byte %d ^ %#x, cut %v: %s", i, change, cut, found)
		}
	})
}

// TestVerifyCutShort: a session without an end has no sums to hold it to, and that
// is said; what it has is checked all the same.
func TestVerifyCutShort(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	id := archived(t, out, "incomplete", false)
	if found := wrong(t, id, out); !strings.Contains(found, "MANIFEST.sha256: missing") || !strings.Contains(found, "report.md was not written") || !strings.Contains(found, "ok     numbers") {
		t.Error(found)
	}
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
