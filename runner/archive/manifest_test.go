package archive

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// listed is a finished session with a log and its manifest.
func listed(t testing.TB, w *Writer) string {
	t.Helper()
	log := filepath.Join(w.Dir(), logsDir, "0001-go-1.get-c50.b01.log")
	if err := os.WriteFile(log, []byte("{\"ready\":true}\nlistening\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteManifest(w.Dir()); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func mustSums(t *testing.T, dir string) Sums {
	t.Helper()
	s, err := CheckManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestManifestIsOfSHA256Sum: the tool that everybody has takes it.
func TestManifestIsOfSHA256Sum(t *testing.T) {
	dir := listed(t, finished(t))
	tool, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("no sha256sum on this system")
	}
	check := func() (string, error) {
		cmd := exec.Command(tool, "-c", "--strict", ManifestFile)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := check()
	if n := strings.Count(out, ": OK\n"); err != nil || n != 7 { // plan, host, contract, 2 runs, seal, log
		t.Errorf("%d files, %v: %s", n, err, out)
	}
	edit(t, dir, hostFile, func(b []byte) []byte { return append(b, ' ') })
	if out, err := check(); err == nil {
		t.Errorf("an altered file passes: %s", out)
	}
}

func TestCheckManifest(t *testing.T) {
	log := "logs/0001-go-1.get-c50.b01.log"
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   []string
	}{
		"nothing":     {func(*testing.T, string) {}, nil},
		"log altered": {func(t *testing.T, d string) { write(t, d, log, []byte("{}\n")) }, []string{log + ": altered"}},
		"two gone": {func(t *testing.T, d string) { remove(t, d, planFile); remove(t, d, log) },
			[]string{log + ": missing", planFile + ": missing"}},
		"no manifest": {func(t *testing.T, d string) { remove(t, d, ManifestFile) }, []string{ManifestFile + ": missing"}},
		"cut": {func(t *testing.T, d string) {
			edit(t, d, ManifestFile, func(b []byte) []byte { return b[:len(b)-1] })
		}, []string{ManifestFile + ": truncated"}},
		"empty": {func(t *testing.T, d string) { write(t, d, ManifestFile, nil) }, []string{ManifestFile + ": truncated"}},
		"line twice": {func(t *testing.T, d string) {
			edit(t, d, ManifestFile, func(b []byte) []byte { return append(b, b...) })
		}, []string{ManifestFile + ": damaged in line 8"}},
		"leaves the folder": {func(t *testing.T, d string) {
			write(t, d, ManifestFile, []byte(strings.Repeat("0", 64)+"  ../x\n"))
		}, []string{ManifestFile + ": damaged in line 1"}},
	} {
		dir := listed(t, finished(t))
		c.damage(t, dir)
		var got []string
		for _, p := range mustSums(t, dir).Problems {
			got = append(got, p.String())
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestManifestIsWhole: a list that lost lines between two newlines, or a folder that
// won a run or a log, is told by the name; a list has no other end than its last line.
func TestManifestIsWhole(t *testing.T) {
	dir := listed(t, finished(t))
	whole, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for i, line := range lines[:len(lines)-1] {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for cut, rest := range map[string][]string{"without": append(slices.Clone(lines[:i]), lines[i+1:]...), "up to": lines[:i]} {
			write(t, dir, ManifestFile, []byte(strings.Join(rest, "")))
			told := fmt.Sprint(mustSums(t, dir).Problems)
			if ours(name) && i > 0 && !strings.Contains(told, name) || cut == "up to" && len(mustSums(t, dir).Problems) == 0 {
				t.Errorf("%s %s: told %s", cut, name, told)
			}
		}
	}
	write(t, dir, ManifestFile, whole)
	write(t, dir, "logs/9999-added.log", []byte("x"))
	if got := mustSums(t, dir).Problems; len(got) != 1 || got[0].File != "logs/9999-added.log" {
		t.Errorf("a log that was added: %v", got)
	}
}

// TestManifestTellsWhatItDoesNotList: a decision that is taken later is no damage,
// but nothing vouches for it.
func TestManifestTellsWhatItDoesNotList(t *testing.T) {
	dir := listed(t, finished(t))
	write(t, dir, "decision.md", []byte("GO\n"))
	s := mustSums(t, dir)
	if len(s.Problems) != 0 || !slices.Equal(s.Extra, []string{"decision.md"}) || s.Files != 7 {
		t.Errorf("%+v", s)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckManifest(dir); err == nil || !strings.Contains(err.Error(), `"link"`) {
		t.Errorf("a link: %v", err)
	}
	if err := WriteManifest(dir); err == nil {
		t.Error("a link is listed")
	}
}

// TestFlipEveryByte changes each byte of each file of a session in turn, the
// manifest's too: whatever changes, something does not follow, and it is that file
// that is named, or what the manifest lost of it.
func TestFlipEveryByte(t *testing.T) {
	dir := listed(t, finished(t))
	for name := range mustFiles(t, dir) {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(whole)/200)
		if name == ManifestFile {
			step = 1
		}
		for i := 0; i < len(whole); i += step {
			for _, bit := range []byte{0x01, 0x20} { // another digit; another case
				data := bytes.Clone(whole)
				data[i] ^= bit
				write(t, dir, name, data)
				s := mustSums(t, dir)
				if len(s.Problems) == 0 || name != ManifestFile && (len(s.Problems) != 1 || s.Problems[0].File != name) {
					t.Fatalf("byte %d of %s: %v", i, name, s.Problems)
				}
			}
		}
		write(t, dir, name, whole)
	}
	if s := mustSums(t, dir); len(s.Problems) > 0 {
		t.Error(s.Problems)
	}
}

func mustFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	files, err := sumFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	files[ManifestFile] = ""
	return files
}

// FuzzAltered: any change or cut of any file of a session is an error of Load or
// a problem of the manifest that names the file, never a panic and never silence.
func FuzzAltered(f *testing.F) {
	w, err := Create(f.TempDir(), smallPlan(), record.Host{OS: "linux", CPUs: []int{0, 1}})
	if err != nil {
		f.Fatal(err)
	}
	for _, st := range w.plan.Steps {
		if err := w.Append(doneRun(st)); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		f.Fatal(err)
	}
	dir := listed(f, w)
	names := sortedNames(mustFiles(f, dir))
	for i := range names {
		f.Add(uint(i), uint(10), byte(1), false)
		f.Add(uint(i), uint(0), byte(0), true)
	}
	f.Fuzz(func(t *testing.T, file, at uint, change byte, cut bool) {
		name := names[file%uint(len(names))]
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer write(t, dir, name, whole)
		i := int(at % uint(len(whole)))
		data := bytes.Clone(whole)
		if cut {
			data = data[:i]
		} else if data[i] ^= change; change == 0 {
			return
		}
		write(t, dir, name, data)
		var told []string
		if s, err := CheckManifest(dir); err != nil {
			told = append(told, err.Error())
		} else {
			for _, p := range s.Problems {
				told = append(told, p.String())
			}
		}
		_, loadErr := Load(dir)
		if loadErr != nil {
			told = append(told, loadErr.Error())
		}
		if all := strings.Join(told, "\n"); len(told) == 0 || name != ManifestFile && !strings.Contains(all, name) {
			t.Fatalf("byte %d of %s ^ %#x, cut %v: told %q", i, name, change, cut, told)
		}
		if loadErr == nil && name != ManifestFile && !strings.HasPrefix(name, logsDir) && name != sealFile {
			t.Fatalf("byte %d of %s ^ %#x, cut %v: it loads", i, name, change, cut)
		}
	})
}
