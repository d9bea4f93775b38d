package archive

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFull archives onto a disk of 64 KiB until it is full (C61): what was
// there stays whole, the error names the file and the cause, and what has been
// archived so far still loads.
func TestDiskFull(t *testing.T) {
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a tiny disk needs more rights: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	if err := Probe(mount); err == nil || !strings.Contains(err.Error(), "0 MiB free, 64 needed") {
		t.Errorf("probe: %v", err)
	}
	benchmark := filepath.Join(mount, "benchmark.json")
	if err := writeBytes(benchmark, []byte("old\n")); err != nil {
		t.Fatal(err)
	}
	w := mustCreate(t, mount)
	big := doneRun(w.plan.Steps[0])
	big.LogTail = strings.Repeat("x", 40<<10)
	if err := w.Append(big); err != nil {
		t.Fatal(err)
	}
	second := doneRun(w.plan.Steps[1])
	second.LogTail = big.LogTail
	err := w.Append(second)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "b02.json") {
		t.Fatalf("got %v", err)
	}
	s := mustLoad(t, w.Dir())
	if len(s.Runs) != 1 || s.Complete() {
		t.Errorf("%d runs, complete %v", len(s.Runs), s.Complete())
	}
	s.Finished, s.Plan.Steps = s.Started, s.Plan.Steps[:1]
	if err := Publish(benchmark, s); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("publish: %v", err)
	}
	if b, err := os.ReadFile(benchmark); err != nil || string(b) != "old\n" {
		t.Errorf("the old file is %q, %v", b, err)
	}
}

// TestFileSizeLimit runs itself under a limit on file size, which free space
// does not show.
func TestFileSizeLimit(t *testing.T) {
	if dir := os.Getenv("ARCHIVE_TEST_LIMIT"); dir != "" {
		signal.Ignore(syscall.SIGXFSZ) // the write then returns EFBIG
		limit := syscall.Rlimit{Cur: 32 << 10, Max: 32 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Skip(err)
		}
		path := filepath.Join(dir, "benchmark.json")
		if err := writeBytes(path, make([]byte, 33<<10)); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("write: %v", err)
		}
		if err := Probe(dir); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("probe: %v", err)
		}
		only(t, dir, "benchmark.json", "old")
		return
	}
	dir := t.TempDir()
	write(t, dir, "benchmark.json", []byte("old"))
	cmd := exec.Command(os.Args[0], "-test.run=^TestFileSizeLimit$")
	cmd.Env = append(os.Environ(), "ARCHIVE_TEST_LIMIT="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
