package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// broken starts a session, breaks something when its first run is kept, and checks
// what has to come of that: an error that names the cause, the runs before it kept,
// what was there before untouched, and nothing alive.
func broken(t *testing.T, u *user, breakIt func(j *job, session string), cause string) {
	t.Helper()
	untouched := u.withOlder()
	j := u.start("compare", "--quick", "--targets", "go-1", "--seed", "1")
	j.await("\nstep 1 of ")
	dirs := u.sessions()
	session := dirs[len(dirs)-1]
	breakIt(j, session)
	r := j.wait()
	r.refused(t, exitFailed, cause, "the finished runs are kept in results/")
	untouched()
	if strings.Contains(r.err, "step 6 of 6, block 1 of 1, 0s left") {
		t.Errorf("it went on to the end:\n%s", r.err)
	}
}

// keptSome: the runs from before the fault can be read, and no conclusion is drawn
// from them.
func (u *user) keptSome() {
	u.t.Helper()
	s := u.newest()
	if len(s.Runs) == 0 || s.Complete() || !s.Finished.IsZero() || !kept(s.Runs[0].Outcome) {
		u.t.Errorf("%d runs, finished %v", len(s.Runs), s.Finished)
	}
	if r := u.run("report", s.ID); r.code != exitInvalid || !strings.Contains(r.out, "INCOMPLETE: NOT EVIDENCE") {
		u.t.Errorf("report: exit %d\n%s", r.code, r.err)
	}
}

// TestTheDiskFillsUp under a session, on a disk of 80 MiB (C61).
func TestTheDiskFillsUp(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	disk := filepath.Join(u.dir, "results")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=80m"); err != nil {
		t.Skipf("mounting a tiny disk needs more rights: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	broken(t, u, func(*job, string) {
		f, err := os.Create(filepath.Join(disk, "ballast"))
		for chunk := make([]byte, 64<<10); err == nil; {
			_, err = f.Write(chunk)
		}
		for err == nil || errors.Is(err, syscall.ENOSPC) { // the last byte, too
			if n, last := f.Write([]byte{0}); n == 0 {
				err = last
				break
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		f.Close()
	}, "no space left on device")
	u.keptSome()
}

// TestTheDiskBecomesReadOnly under a session, as one with errors does (C64).
func TestTheDiskBecomesReadOnly(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	disk := filepath.Join(u.dir, "results")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=80m"); err != nil {
		t.Skipf("mounting a disk needs more rights: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	broken(t, u, func(*job, string) {
		// Busy while a server has its log open for writing: between two runs it is not.
		eventually(t, func() string { return "it is read-only" }, func() bool {
			return syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil
		})
	}, "read-only file system")
	u.keptSome()
}

// TestTheSessionsFolderGoes: somebody clears results while a session runs.
func TestTheSessionsFolderGoes(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	broken(t, u, func(_ *job, session string) {
		if err := os.Rename(session, filepath.Join(u.dir, "elsewhere")); err != nil {
			t.Error(err)
		}
	}, "no such file or directory")
}

// TestDescriptorsRunOut in the runner while a session runs (C31).
func TestDescriptorsRunOut(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	broken(t, u, func(j *job, _ string) {
		limit := syscall.Rlimit{Cur: 3, Max: 3}
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(j.cmd.Process.Pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 {
			t.Error(errno)
		}
	}, "too many open files")
	u.keptSome()
}

// TestNobodyReadsTheProgress: the pipe that stderr goes to is closed. That ends the
// runner, as it ends any command, and what it started.
func TestNobodyReadsTheProgress(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	untouched := u.withOlder()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := u.command("compare", "--quick", "--targets", "go-1", "--seed", "1")
	cmd.Stdout, cmd.Stderr = w, w
	j := u.startCommand(cmd)
	w.Close()
	said := ""
	for b := make([]byte, 4096); !strings.Contains(said, "\nstep 1 of "); {
		n, err := r.Read(b)
		if err != nil {
			t.Fatalf("%v after\n%s", err, said)
		}
		said += string(b[:n])
	}
	r.Close()
	if got := j.wait(); got.code != -1 || got.state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Errorf("it ended with %v", got.state)
	}
	u.awaitNone()
	untouched()
	u.keptSome()
}

// TestFileSizesAreLimited: a limit that free space does not show is met before the
// first run (C61, C64).
func TestFileSizesAreLimited(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	untouched := u.withOlder()
	u.wrap = []string{"/bin/sh", "-c", `ulimit -f 100 && exec "$0" "$@"`}
	r := u.run("compare", "--quick", "--targets", "go-1")
	r.refused(t, exitPreflight, "use output folder: write results/.probe-", "file too large", "--out")
	untouched()
	if n := len(u.sessions()); n != 1 || strings.Contains(r.err, "proving") {
		t.Errorf("%d sessions:\n%s", n, r.err)
	}
}

// TestTheRecordHasNoPlace: that benchmark.json cannot be replaced is told before the
// first run, not after the last. A session that does not replace it may run.
func TestTheRecordHasNoPlace(t *testing.T) {
	t.Parallel()
	needNode(t)
	u := newUser(t, theKit(t))
	if err := os.MkdirAll(filepath.Join(u.dir, "benchmark.json", "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := u.run("compare")
	r.refused(t, exitPreflight, "use output file benchmark.json: it is a folder", "--out")
	if dirs := u.sessions(); len(dirs) > 0 || strings.Contains(r.err, "watching") {
		t.Errorf("it began all the same: %q\n%s", dirs, r.err)
	}
	j := u.start("compare", "--quick", "--targets", "go-1")
	j.await("proving")
	j.signal(os.Interrupt.(syscall.Signal))
	j.wait().refused(t, exitInterrupted)
	u.none()
}

// TestOddNames: a kit, a working folder and an archive with spaces, a newline, an
// escape and other letters in their names. Nothing of it is for a shell, and a
// terminal is not told to obey.
func TestOddNames(t *testing.T) {
	t.Parallel()
	needNode(t)
	const odd = "a b\n'\"$(x)\x1b[31m ü%s"
	kit := filepath.Join(t.TempDir(), odd)
	if err := os.CopyFS(kit, os.DirFS(alteredKit(t, "server.mjs", "server", "server"))); err != nil {
		t.Fatal(err)
	}
	u := newUser(t, kit)
	u.dir = filepath.Join(u.dir, odd)
	if err := os.Mkdir(u.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(odd, "deep")
	j := u.start("compare", "--quick", "--targets", "go-1,node-1", "--seed", "1", "--out", out)
	j.await("\nstep 2 of ")
	j.signal(syscall.SIGINT)
	r := j.wait()
	r.refused(t, exitInterrupted, "the finished runs are kept in a b\uFFFD")
	if strings.Contains(r.err, "\x1b") {
		t.Errorf("escape sequences: %q", r.err)
	}
	for _, args := range [][]string{{"report", "latest", "--out", out}, {"list", "--out", out}, {"verify", "latest", "--out", out}} {
		got := u.run(args...)
		if strings.Contains(got.out+got.err, "\x1b") || args[0] != "list" && got.code != exitInvalid || args[0] == "list" && got.code != exitDone {
			t.Errorf("%s: exit %d\n%q\n%q", args[0], got.code, got.out, got.err)
		}
	}
	if err := os.WriteFile(filepath.Join(u.dir, "file\x1b[2J"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := u.run("compare", "--quick", "--targets", "go-1", "--out", "file\x1b[2J")
	got.refused(t, exitPreflight, "not a directory")
	if strings.Contains(got.err, "\x1b") {
		t.Errorf("escape sequences: %q", got.err)
	}
}
