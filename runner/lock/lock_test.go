//go:build linux || darwin

package lock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also another process that takes the lock and says so.
func TestMain(m *testing.M) {
	if path := os.Getenv("GONOGO_TEST_HOLD"); path != "" {
		if _, err := Take(path, "compare"); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadString('\n')
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

// hold starts another process that holds the lock of path.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GONOGO_TEST_HOLD="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("the other process said %q, %v", said, err)
	}
	return cmd
}

func TestTheSecondIsRefusedAndToldWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if h, is := Who(path); is {
		t.Errorf("held by %v before there was a lock", h)
	}
	other := hold(t, path)
	_, err := Take(path, "compare")
	held := (*Held)(nil)
	if !errors.As(err, &held) || held.Holder.PID != other.Process.Pid || held.Holder.Command != "compare" || time.Since(held.Holder.Since) > time.Minute {
		t.Fatalf("%v, want process %d", err, other.Process.Pid)
	}
	if text := fmt.Sprintf("process %d (compare), since 2", other.Process.Pid); !strings.Contains(err.Error(), text) {
		t.Errorf("%q lacks %q", err, text)
	}
	if h, is := Who(path); !is || h.PID != other.Process.Pid {
		t.Errorf("Who: %v, %v", h, is)
	}
}

// TestNothingLasts: a holder that is killed leaves no lock, whatever is in the file.
func TestNothingLasts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := hold(t, path)
	other.Process.Kill()
	other.Wait()
	if data, _ := os.ReadFile(path); len(data) == 0 {
		t.Error("the killed holder's text is gone: this tests nothing")
	}
	l, err := Take(path, "compare")
	if err != nil {
		t.Fatal(err)
	}
	if h, is := Who(path); !is || h.PID != os.Getpid() {
		t.Errorf("Who: %v, %v", h, is)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if h, is := Who(path); is {
		t.Errorf("released, and held by %v", h)
	}
	if l, err = Take(path, "again"); err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestAReusedPID: the text of a dead holder whose PID a living process has now is
// not taken for that of the present holder, which has not signed yet.
func TestAReusedPID(t *testing.T) {
	if processStart(os.Getpid()) == "" {
		t.Skip("the start of a process is not known here")
	}
	path := filepath.Join(t.TempDir(), "lock")
	hold(t, path)
	for name, text := range map[string]string{
		"another start": fmt.Sprintf(`{"pid":%d,"since":"2026-11-30T12:00:00Z","command":"compare","process_start":"1@before"}`, os.Getpid()),
		"dead":          `{"pid":2147483647,"since":"2026-11-30T12:00:00Z","command":"compare"}`,
		"cut":           `{"pid":12`,
		"nothing":       "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		h, is := Who(path)
		if !is || h.PID != 0 || h.String() != "a process that has not said which" {
			t.Errorf("%s: %v, %v", name, h, is)
		}
	}
}

// TestOtherUsers can lock and sign the same file, and nobody is led elsewhere.
func TestOtherUsers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	was := syscall.Umask(0o077)
	l, err := Take(path, "compare")
	syscall.Umask(was)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{link, pipe, dir, filepath.Join(dir, "none", "lock")} {
		if _, err := Take(odd, "compare"); err == nil || errors.As(err, new(*Held)) {
			t.Errorf("%s: %v", filepath.Base(odd), err)
		}
	}
}
