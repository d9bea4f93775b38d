package archive

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

// TestSweep: what a killed writer left is removed, once that is certain, and
// whatever else there is stays.
func TestSweep(t *testing.T) {
	root := t.TempDir()
	out := filepath.Join(root, "results")
	long, now := time.Now().Add(-2*stale), time.Now()
	ours := map[string]time.Time{
		"results/.probe-0a1b2c":                                          long,
		"results/..probe-0a1b2c.3d4e5f.tmp":                              long,
		"results/.new-20261130T194100Z-0a1b2c.tmp/plan.json":             long,
		"results/.new-20261130T194101Z-0a1b2c.tmp/.host.json.0a1b2c.tmp": long,
		".benchmark.json.0a1b2c.tmp":                                     long,
		".probe-3d4e5f":                                                  long,
	}
	others := map[string]time.Time{
		"results/.probe-0a1b2d":                                 now, // somebody may be at it
		"results/.new-20261130T194102Z-0a1b2c.tmp/plan.json":    now,
		"results/.new-20261130T194103Z-0a1b2c.tmp/letter.txt":   long, // not what we write
		"results/.new-20261130T194104Z-0a1b2c.tmp/runs/x.json":  long,
		"results/.new-mine.tmp/plan.json":                       long,
		"results/.notes.0a1b2c.tmp":                             long,
		"results/20261130T194105Z-0a1b2c/.plan.json.0a1b2c.tmp": long, // another session's own business
		".benchmark.json.0a1b2d.tmp":                            now,
		".benchmark.json.swp":                                   long,
		".benchmarks.json.0a1b2c.tmp":                           long,
	}
	for _, files := range []map[string]time.Time{ours, others} {
		for name, at := range files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(path), filepath.Base(path), nil)
			for p := path; p != root && p != out; p = filepath.Dir(p) {
				if err := os.Chtimes(p, at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	w := finishedIn(t, out)
	if err := Publish(filepath.Join(root, "benchmark.json"), mustLoad(t, w.Dir())); err != nil {
		t.Fatal(err)
	}
	for name := range ours {
		if _, err := os.Lstat(filepath.Join(root, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for name := range others {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// TestOpenSweeps: in the folder of the session that it goes on with, at once.
func TestOpenSweeps(t *testing.T) {
	w := mustCreate(t, t.TempDir())
	left := []string{"runs/.0001-x.json.0a1b2c.tmp", ".probes.json.0a1b2c.tmp", "logs/0001-x.log.1234567"}
	for _, name := range append(left, "logs/0001-x.log") {
		write(t, filepath.Join(w.Dir(), filepath.Dir(name)), filepath.Base(name), nil)
	}
	if _, _, err := Open(w.Dir()); err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(w.Dir(), name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(w.Dir(), logsDir, "*"))
	if err != nil || !slices.Equal(logs, []string{filepath.Join(w.Dir(), logsDir, "0001-x-cut1.log")}) {
		t.Errorf("logs: %q, %v", logs, err)
	}
}

// finishedIn archives a complete session in out.
func finishedIn(t *testing.T, out string) *Writer {
	t.Helper()
	w, err := Create(out, smallPlan(), record.Host{OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range w.plan.Steps {
		if err := w.Append(doneRun(st)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	return w
}
