package postgres

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bin skips loudly without PostgreSQL, or fails where it is required.
func bin(t *testing.T) string {
	t.Helper()
	dir, err := Find()
	if errors.Is(err, ErrMissing) && os.Getenv("REQUIRE_POSTGRES") == "" {
		t.Skip("POSTGRESQL IS NOT INSTALLED: this is not tested")
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestServer(t *testing.T) {
	s, err := Start(t.Context(), bin(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	env, err := s.Database(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"PGHOST=" + s.Dir(), "PGUSER=gonogo", "PGDATABASE=one"}; strings.Join(env, " ") != strings.Join(want, " ") {
		t.Errorf("environment %v, want %v", env, want)
	}
	for statement, want := range map[string]string{
		"SELECT current_database()":                               "one",
		"SELECT count(*) FROM pg_settings WHERE name='port'":      "1",
		"SHOW listen_addresses":                                   "",
		"SHOW unix_socket_directories":                            s.Dir(),
		"SHOW server_encoding":                                    "UTF8",
		"SHOW autovacuum":                                         "off",
		"SELECT count(*) FROM pg_stat_activity WHERE usename='x'": "0",
	} {
		if got, err := s.Query(t.Context(), "one", statement); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", statement, got, err, want)
		}
	}
	if v, err := s.Version(t.Context()); err != nil || !strings.HasPrefix(v, "postgres (PostgreSQL) ") {
		t.Errorf("version %q, %v", v, err)
	}
	if info, err := os.Stat(s.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v: others may look into it", info, err)
	}
	if info, err := os.Stat("/proc/self"); err == nil && info.IsDir() {
		if owner, err := os.Stat("/proc/" + strconv.Itoa(s.PID())); err != nil || owner.Sys().(*syscall.Stat_t).Uid == 0 {
			t.Errorf("it runs as root: %v", err)
		}
	}
	pid := s.PID()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	gone(t, pid, s.Dir())
}

// An interrupt at any moment leaves nothing.
func TestInterrupted(t *testing.T) {
	dir := bin(t)
	temp, err := os.MkdirTemp("", "gonogo-test-") // one of t's is in a folder that no other user may enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	for _, after := range []time.Duration{0, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := Start(ctx, dir, nil)
		cancel()
		if err == nil {
			s.Stop()
			t.Fatalf("it started in %v", after)
		}
		if !strings.Contains(err.Error(), "deadline exceeded") && !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("after %v: %v", after, err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("after %v: left %v, %v", after, left, err)
		}
	}
}

func TestWithoutPostgreSQL(t *testing.T) {
	if _, err := Start(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "run initdb") {
		t.Errorf("got %v", err)
	}
}

func gone(t *testing.T, pid int, dir string) {
	t.Helper()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s: %v", dir, err)
	}
}
