package archive

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/record"
)

func TestWriteFileWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "benchmark.json")
	if err := writeBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half of the n"); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	only(t, dir, "benchmark.json", "old")
	if err := writeBytes(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "benchmark.json", "new")
}

// only demands that dir holds this file and nothing else.
func only(t *testing.T, dir, name, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("folder holds %v", entries)
	}
	if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
		t.Fatalf("file holds %q, %v, want %q", b, err, want)
	}
}

// TestPlacesThatCannotHoldAnArchive are those that even root cannot write to.
func TestPlacesThatCannotHoldAnArchive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", nil)
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"file", "dangling", "file/below"} {
		path := filepath.Join(dir, out)
		err := Probe(path)
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, strings.Split(out, "/")[0])) {
			t.Errorf("probe %s: %v", out, err)
		}
		if _, err := Create(path, smallPlan(), record.Host{}); err == nil {
			t.Errorf("created an archive in %s", out)
		}
	}
	// A folder where a file is to go.
	if err := os.MkdirAll(filepath.Join(dir, "benchmark.json", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeBytes(filepath.Join(dir, "benchmark.json"), nil); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProbeLeavesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "results")
	if err := Probe(out); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
