package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/record"
)

// TestLoadTruncated cuts every file of a session at every length: an error that
// names the file, each time.
func TestLoadTruncated(t *testing.T) {
	w := finished(t)
	for _, name := range append(sortedNames(w.sums), sealFile) {
		path := filepath.Join(w.Dir(), name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(whole) - 1; n >= 0; n-- {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(w.Dir()); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s cut to %d of %d bytes: %v", name, n, len(whole), err)
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustLoad(t, w.Dir())
}

func TestLoadTruncatedBenchmark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := Publish(file, mustLoad(t, finished(t).Dir())); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(whole) - 1; n >= 0; n-- {
		if err := os.Truncate(file, int64(n)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestLoadDamaged(t *testing.T) {
	run := "runs/0001-go-1.get-c50.b01.json"
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"no plan":  {func(t *testing.T, d string) { remove(t, d, planFile) }, "plan.json: no such file"},
		"no host":  {func(t *testing.T, d string) { remove(t, d, hostFile) }, "host.json: no such file"},
		"no runs":  {func(t *testing.T, d string) { os.RemoveAll(filepath.Join(d, runsDir)) }, "runs: no such file"},
		"run gone": {func(t *testing.T, d string) { remove(t, d, run) }, `"` + run + `": missing`},
		"one digit changed": {func(t *testing.T, d string) {
			edit(t, d, run, func(b []byte) []byte { return bytes.Replace(b, []byte("230123457"), []byte("130123457"), 1) })
		}, `"` + run + `": altered`},
		"run added": {func(t *testing.T, d string) {
			b, _ := os.ReadFile(filepath.Join(d, run))
			write(t, d, "runs/0009-go-1.get-c50.b09.json", b)
		}, "added since"},
		"not an object": {func(t *testing.T, d string) { write(t, d, planFile, []byte("[]\n")) }, "plan.json: truncated or damaged"},
		"two values": {func(t *testing.T, d string) {
			edit(t, d, planFile, func(b []byte) []byte { return append(b, b...) })
		}, "plan.json: truncated or damaged"},
		"too large": {func(t *testing.T, d string) { write(t, d, planFile, make([]byte, maxFile+1)) }, "plan.json: larger than 16 MiB"},
		"link that leaves": {func(t *testing.T, d string) {
			remove(t, d, planFile)
			if err := os.Symlink("/etc/hostname", filepath.Join(d, planFile)); err != nil {
				t.Fatal(err)
			}
		}, "plan.json: path escapes"},
		"named pipe": {func(t *testing.T, d string) {
			remove(t, d, hostFile)
			if err := syscall.Mkfifo(filepath.Join(d, hostFile), 0o644); err != nil {
				t.Skip(err)
			}
		}, "host.json: not a regular file"},
		"other schema": {func(t *testing.T, d string) {
			edit(t, d, sealFile, func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1)
			})
		}, "schema version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := finished(t).Dir()
			c.damage(t, dir)
			_, err := Load(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}

func TestLoadIgnoresWhatIsNoRun(t *testing.T) {
	dir := finished(t).Dir()
	for _, junk := range []string{"runs/.0001-go-1.get-c50.b01.json.abc.tmp", "runs/notes.txt", "runs/copy of 0001.json", "extra.json"} {
		write(t, dir, junk, []byte("junk"))
	}
	if s := mustLoad(t, dir); len(s.Runs) != 2 {
		t.Errorf("%d runs", len(s.Runs))
	}
}

// TestLoadRenamed: a folder copied under another name keeps its identity when it
// is complete and has none to tell when it is not.
func TestLoadRenamed(t *testing.T) {
	w := finished(t)
	moved := filepath.Join(t.TempDir(), "copy")
	if err := os.Rename(w.Dir(), moved); err != nil {
		t.Fatal(err)
	}
	if s := mustLoad(t, moved); s.ID != w.ID() {
		t.Errorf("id %s", s.ID)
	}
	remove(t, moved, sealFile)
	if s := mustLoad(t, moved); s.ID != "copy" || !s.Started.IsZero() {
		t.Errorf("id %s, started %v", s.ID, s.Started)
	}
}

// TestLoadBounds: short texts that stand for much memory are refused before
// they are decoded.
func TestLoadBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"runs":   {`{"runs":[` + strings.Repeat("null,", maxRuns) + "null]}\n", "runs: more than"},
		"values": {`{"runs":[{"load":{"slowest":[` + strings.Repeat("{},", maxValues+1) + "{}]}}]}\n", "values"},
		"plan":   {`{"plan":{"steps":[` + strings.Repeat("{} ,", maxFile/4) + "{}]}}\n", "plan: larger than"},
		"cells":  {`{"schema_version":1,"plan":{"targets":[{}` + strings.Repeat(",{}", 100) + `],"scenarios":[{}` + strings.Repeat(",{}", 100) + "]}}\n", "more than 10000 cells"},
		"deep":   {strings.Repeat("[", 100_000) + "\n", "damaged"},
	} {
		file := filepath.Join(t.TempDir(), "benchmark.json")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load("/dev/zero"); err == nil || !strings.Contains(err.Error(), "neither a folder nor a regular file") {
		t.Errorf("a device: %v", err)
	}
}

func TestLoadRefusesARunCountedTwice(t *testing.T) {
	s := mustLoad(t, finished(t).Dir())
	s.Runs = append(s.Runs, s.Runs[0])
	data, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), "has two runs") {
		t.Errorf("got %v", err)
	}
}

func TestErrorsHoldNoControlCharacters(t *testing.T) {
	s := &record.Session{SchemaVersion: record.SchemaVersion, Finished: time.Now()}
	for range 20 {
		s.Runs = append(s.Runs, record.Run{Step: record.Step{Target: "\x1b[2J\x07"}})
	}
	data, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "benchmark.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(file)
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07") || strings.Count(err.Error(), "\n") > 6 {
		t.Errorf("got %q", err)
	}
}

// FuzzLoad: whatever a benchmark.json holds, Load gives a valid session or an
// error that names the file.
func FuzzLoad(f *testing.F) {
	w, err := Create(f.TempDir(), smallPlan(), record.Host{})
	if err != nil {
		f.Fatal(err)
	}
	for _, st := range w.plan.Steps {
		if err := w.Append(doneRun(st)); err != nil {
			f.Fatal(err)
		}
	}
	s, err := Load(w.Dir())
	if err != nil {
		f.Fatal(err)
	}
	seed, err := encode(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"schema_version":1,"runs":[null],"plan":{"steps":[{}]}}` + "\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(dir, "benchmark.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(file)
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeSession(again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := encode(back); err != nil || !bytes.Equal(again, third) {
			t.Fatalf("encoding is not stable: %v\n%s\n%s", err, again, third)
		}
	})
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, dir, name string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	after := f(bytes.Clone(b))
	if bytes.Equal(after, b) {
		t.Fatalf("%s is unchanged", name)
	}
	write(t, dir, name, after)
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// A plan that was edited while its session ran cannot pass for the one that the
// runs were made under, also before there is a seal.
func TestLoadAnotherPlan(t *testing.T) {
	w, err := Create(t.TempDir(), smallPlan(), record.Host{OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	r := doneRun(w.plan.Steps[0])
	r.PlanSHA256 = w.PlanSHA256()
	if err := w.Append(r); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(w.Dir()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(w.Dir(), planFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(w.Dir()); err == nil || !strings.Contains(err.Error(), "another plan") {
		t.Errorf("got %v", err)
	}
}
