package archive

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAStrangersFolder: nothing outside the folder of a session is read, renamed or
// removed for what lies in it, and a pipe is not waited for.
func TestAStrangersFolder(t *testing.T) {
	const secret = "SECRET OF SOMEBODY ELSE"
	run := RunFile(doneRun(smallPlan().Steps[0]))
	for name, plant := range map[string]func(dir, outside string) error{
		"a run": func(dir, outside string) error { return swap(filepath.Join(dir, run), filepath.Join(outside, "file")) },
		"the plan": func(dir, outside string) error {
			return swap(filepath.Join(dir, planFile), filepath.Join(outside, "file"))
		},
		"the runs":   func(dir, outside string) error { return swap(filepath.Join(dir, runsDir), outside) },
		"a relative": func(dir, _ string) error { return swap(filepath.Join(dir, planFile), "../../etc/passwd") },
		"a pipe": func(dir, _ string) error {
			os.Remove(filepath.Join(dir, planFile))
			return syscall.Mkfifo(filepath.Join(dir, planFile), 0o600)
		},
	} {
		dir, outside := finished(t).Dir(), t.TempDir()
		write(t, outside, "file", []byte(secret+"\n"))
		if err := plant(dir, outside); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir, outside := finished(t).Dir(), t.TempDir()
	write(t, outside, "file", []byte(secret))
	if err := swap(filepath.Join(dir, logsDir, "out.log"), filepath.Join(outside, "file")); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{"logs/out.log", "../" + filepath.Base(outside) + "/file", filepath.Join(outside, "file"), "logs/../../x"} {
		if data, err := ReadFile(dir, log); err == nil {
			t.Errorf("%s: %s", log, data)
		}
	}
	for _, line := range []string{"../x", "/etc/passwd", "a/../../x", "./x"} {
		write(t, dir, ManifestFile, []byte(strings.Repeat("0", 64)+"  "+line+"\n"))
		if _, err := readManifest(dir); err == nil {
			t.Errorf("a manifest may name %s", line)
		}
	}
}

// TestResumeStaysInside: to resume sweeps leftovers, and those of another folder are
// none.
func TestResumeStaysInside(t *testing.T) {
	for _, folder := range []string{runsDir, logsDir} {
		dir, outside := mustCreate(t, t.TempDir()).Dir(), t.TempDir()
		write(t, outside, "mine.log", []byte("x"))
		write(t, outside, "mine.log.12", []byte("x"))
		if err := swap(filepath.Join(dir, folder), outside); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(dir); err == nil {
			t.Errorf("%s leads outside, and is opened", folder)
		}
		for _, name := range []string{"mine.log", "mine.log.12"} {
			if _, err := os.Stat(filepath.Join(outside, name)); err != nil {
				t.Errorf("%s leads outside: %v", folder, err)
			}
		}
	}
}

// swap puts a link in the place of a file or a folder.
func swap(path, to string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(to, path)
}
