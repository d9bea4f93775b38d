package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

const limitName = "GONOGO_TEST_FILE_LIMIT"

// hook makes the test binary conclude a session under a limit on the size of
// files, which free space does not show, when it is started for that.
func hook() {
	hookSession()
	limit, err := strconv.ParseUint(os.Getenv(limitName), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the write then returns EFBIG
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
	s := streams{nil, os.Stdout, os.Stderr}
	syscall.Exit(exitWith(s, conclude(os.Args[1], os.Args[2], s)))
}

// TestConcludeOnAFullDisk: what cannot be written whole is not written at all, and
// what has been measured is reported nevertheless.
func TestConcludeOnAFullDisk(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := filepath.Join(out, archived(t, out, "standard", true))
	if r := concluded(dir, out); r.code != exitDone {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	published := filepath.Join(out, "benchmark.json")
	// The largest file that is written is the first that does not fit.
	largest, size := "", int64(0)
	for _, path := range []string{published, filepath.Join(dir, "report.html")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	for _, c := range []struct {
		limit int64
		cause string
	}{
		{size - 1, "write " + largest + ": "},
		{10, ": file too large"},
	} {
		if err := os.WriteFile(published, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		before := tree(t, out)
		cmd := exec.Command(os.Args[0], dir, out)
		cmd.Env = append(os.Environ(), limitName+"="+strconv.FormatInt(c.limit, 10))
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e // pipes, which have no size
		cmd.Run()
		r := result{state: cmd.ProcessState, code: cmd.ProcessState.ExitCode(), err: e.String()}
		r.refused(t, exitFailed, c.cause, "gonogo report "+dir+" prints it")
		if want := inProcess("report", dir, "--out", out); o.String() != want.out {
			t.Errorf("limit %d: printed %d bytes, the report has %d", c.limit, o.Len(), len(want.out))
		}
		after := tree(t, out)
		for name, was := range before {
			if after[name] != was {
				t.Errorf("limit %d: %s was %d bytes and is %d", c.limit, name, len(was), len(after[name]))
			}
		}
		if len(after) != len(before) {
			t.Errorf("limit %d: %d files, before %d", c.limit, len(after), len(before))
		}
	}
}

// TestEveryReaderFindsAWholeRecord: while sessions replace each other, whoever
// opens benchmark.json reads one of them, whole.
func TestEveryReaderFindsAWholeRecord(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	published := filepath.Join(out, "benchmark.json")
	var sessions []*record.Session
	for _, name := range []string{"standard", "lone-max"} {
		s, err := archive.Load(filepath.Join(out, archived(t, out, name, true)))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	if err := archive.Publish(published, sessions[0]); err != nil {
		t.Fatal(err)
	}
	stop, read := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { read <- n }()
		for ; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			data, err := os.ReadFile(published)
			var s struct {
				ID string `json:"id"`
			}
			if err == nil {
				err = json.Unmarshal(data, &s)
			}
			if err != nil || s.ID != sessions[0].ID && s.ID != sessions[1].ID {
				t.Errorf("read %d bytes of session %q: %v", len(data), s.ID, err)
				return
			}
		}
	}()
	for i := range 40 {
		if err := archive.Publish(published, sessions[i%2]); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if n := <-read; n == 0 {
		t.Error("nothing was read in between")
	}
}
