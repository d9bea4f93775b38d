// Package postgres runs a PostgreSQL that exists for one session: a cluster of its own in
// a temporary folder, reachable by a Unix socket in it and by nothing else, run by an
// ordinary user and removed when it is stopped. What the machine has otherwise of
// PostgreSQL is not touched.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed")

// User owns the databases. It is a name inside of the cluster, not one of the system.
const User = "gonogo"

const (
	readyWithin = 30 * time.Second
	stopWithin  = 5 * time.Second
	pollEvery   = 10 * time.Millisecond
)

// settings are not the default ones where those would measure something else: a disk,
// and what PostgreSQL does by itself from time to time.
var settings = []string{"listen_addresses=", "unix_socket_permissions=0700", "max_connections=60", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
	"autovacuum=off", "log_min_messages=fatal"}

// Settings are those that are not PostgreSQL's defaults.
func Settings() []string { return slices.Clone(settings) }

// Server is a PostgreSQL that runs.
type Server struct {
	bin    string
	dir    string // of the cluster, its log and its socket
	as     *account
	cmd    *exec.Cmd
	exited chan struct{}
}

// Find gives the folder of PostgreSQL's programs: the newest of those that Debian puts
// aside, or the one on PATH.
func Find() (bin string, err error) {
	newest := 0
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // fails for a bad pattern alone
	for _, path := range found {
		dir := filepath.Dir(path)
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && v > newest {
			newest, bin = v, dir
		}
	}
	if path, err := exec.LookPath("initdb"); newest == 0 && err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			bin = filepath.Dir(path)
		}
	}
	if bin == "" {
		return "", fmt.Errorf("find initdb in /usr/lib/postgresql and on PATH: %w", ErrMissing)
	}
	return bin, nil
}

// Start makes a cluster and runs it on the CPUs, wherever the system likes if there are
// none, until Stop. When ctx ends first, nothing of it is left.
func Start(ctx context.Context, bin string, cpus []int) (*Server, error) {
	s := &Server{bin: bin, exited: make(chan struct{})}
	if err := s.start(ctx, cpus); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", errors.Join(err, s.Stop()))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, cpus []int) (err error) {
	if s.as, err = ordinary(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "gonogo-postgres-"); err != nil {
		return err
	}
	if err := s.as.own(s.dir); err != nil {
		return err
	}
	if _, err := s.command(ctx, "initdb", "-D", s.data(), "-U", User, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	if err := s.launch(cpus); err != nil {
		return err
	}
	return s.await(ctx)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// environment is all that PostgreSQL's programs see.
func (s *Server) environment() []string {
	return []string{"PATH=" + s.bin + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "LC_ALL=C", "TZ=UTC", "PGHOST=" + s.dir, "PGUSER=" + User}
}

// command runs one of PostgreSQL's programs to its end.
func (s *Server) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.dir, s.environment(), s.as.attributes()
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // and those that it started
	cmd.WaitDelay = stopWithin
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// launch runs the server as a child of this process, so that its CPU time is known to be
// ours, in a group of its own, so that a Ctrl-C at the terminal does not end it before
// those that ask it.
func (s *Server) launch(cpus []int) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-k", s.dir}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), args...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = s.dir, s.environment(), log, log
	s.cmd.SysProcAttr = s.as.attributes()
	s.cmd.SysProcAttr.Setpgid = true
	started := make(chan error)
	go func() {
		err := start(s.cmd, cpus)
		started <- err
		if err == nil {
			s.cmd.Wait()
			close(s.exited)
		}
	}()
	if err := <-started; err != nil {
		s.cmd = nil
		return err
	}
	return nil
}

// await returns when the server takes connections: it says so in the file that it is
// found by, as its own tools read it.
func (s *Server) await(ctx context.Context) error {
	for late := time.Now().Add(readyWithin); ; {
		text, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid")) // not there yet
		if lines := strings.Split(string(text), "\n"); len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-time.After(pollEvery):
		case <-s.exited:
			return fmt.Errorf("it ended before it was ready: %s", s.log())
		case <-ctx.Done():
			return ctx.Err()
		}
		if time.Now().After(late) {
			return fmt.Errorf("not ready within %v: %s", readyWithin, s.log())
		}
	}
}

// log is the end of what the server wrote.
func (s *Server) log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-1000):]))
}

// Database makes a database and gives the environment in which libpq and its like find it.
func (s *Server) Database(ctx context.Context, name string) ([]string, error) {
	if _, err := s.command(ctx, "createdb", name); err != nil {
		return nil, fmt.Errorf("make database %s: %w", name, err)
	}
	return []string{"PGHOST=" + s.dir, "PGUSER=" + User, "PGDATABASE=" + name}, nil
}

// Query runs a statement and gives its rows, a line each.
func (s *Server) Query(ctx context.Context, database, statement string) (string, error) {
	return s.command(ctx, "psql", "-X", "-A", "-t", "-d", database, "-c", statement)
}

// Version is what the server says of itself: postgres (PostgreSQL) 15.14.
func (s *Server) Version(ctx context.Context) (string, error) {
	return s.command(ctx, "postgres", "--version")
}

// Dir is the folder of all that there is of it.
func (s *Server) Dir() string { return s.dir }

// PID is the number of its first process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop ends the server, whoever is still connected, and removes what there was of it.
func (s *Server) Stop() error {
	if s.cmd != nil {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} { // fast, immediate, and what a kernel does
			s.cmd.Process.Signal(signal)
			select {
			case <-s.exited:
				return s.remove()
			case <-time.After(stopWithin):
			}
		}
		return fmt.Errorf("stop PostgreSQL: PID %d survives KILL", s.PID())
	}
	return s.remove()
}

func (s *Server) remove() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
