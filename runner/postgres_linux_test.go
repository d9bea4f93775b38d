package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// However a session with PostgreSQL ends, the PostgreSQL ends with it; a Ctrl-C leaves
// no file of it either.
func TestPostgresEndsWithItsSession(t *testing.T) {
	t.Parallel()
	kit, _ := postgresKit(t)
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
		keeps  bool // its files
	}{{"interrupted", syscall.SIGINT, exitInterrupted, false}, {"killed", syscall.SIGKILL, -1, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			temp, err := os.MkdirTemp("", "gonogo-test-") // the user's own is in a folder that PostgreSQL's user may not enter
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(temp) })
			if err := os.Chmod(temp, 0o755); err != nil {
				t.Fatal(err)
			}
			u := newUser(t, kit)
			u.env = append(u.env, "TMPDIR="+temp)
			j := u.start("postgres", "--quick")
			j.await("proving that the targets answer alike")
			if len(matching("environ", "PGHOST="+temp)) == 0 {
				t.Fatal("no PostgreSQL runs")
			}
			syscall.Kill(j.cmd.Process.Pid, c.signal)
			if r := j.wait(); r.code != c.code {
				t.Errorf("exit %d, want %d\n%s", r.code, c.code, r.err)
			}
			eventually(t, func() string { return "PostgreSQL and its servers are gone" }, func() bool { return len(matching("environ", "PGHOST="+temp)) == 0 })
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 != c.keeps {
				t.Errorf("left %v, %v", left, err)
			}
			if r := u.run("compare", "--resume", "latest"); r.code != exitPreflight || !strings.Contains(r.err, "was removed when it was cut short") {
				t.Errorf("resumed: exit %d\n%s", r.code, r.err)
			}
		})
	}
}
