package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

// The tests in e2e_*_test.go run the real binary as a user does, in a working
// folder of their own, against the real servers.

// patience is how long a condition may take to come true before a test fails.
const patience = 60 * time.Second

func TestMain(m *testing.M) {
	hook()
	flag.Parse()
	// What is ignored here, as under nohup, would be ignored by the commands too; what
	// is handled is back at its default in them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	// These tests wait more than they work: more of them than CPUs, unless the
	// command line says otherwise.
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		flag.Set("test.parallel", "5")
	}
	code := m.Run()
	if root != "" {
		if left := runningFrom(root); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "left behind by these tests: %q\n", left)
			code = 1
		}
		if err := os.RemoveAll(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// needNode skips without Node, but not where it must be there.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatal("no node on PATH, and REQUIRE_NODE is set")
		}
		t.Skip("NO NODE ON PATH: this is not tested")
	}
}

// user is somebody at a shell: a kit, a working folder, an environment.
type user struct {
	t    *testing.T
	kit  string
	dir  string // also HOME, by which all that is started from here is found
	env  []string
	wrap []string // words before the command, such as a shell that sets a limit
}

func newUser(t *testing.T, kit string) *user {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, kit: kit, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + temp,
		"GONOGO_TEST_LOCK=" + filepath.Join(dir, "lock")}} // what other tests measure is none of a test's business
	t.Cleanup(u.endLeft)
	return u
}

func (u *user) command(args ...string) *exec.Cmd {
	argv := append(append([]string{}, u.wrap...), filepath.Join(u.kit, "bin", "gonogo"))
	argv = append(argv, args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = u.dir, u.env
	return cmd
}

// result is what a finished command leaves.
type result struct {
	state    *os.ProcessState
	code     int // -1: ended by a signal
	out, err string
}

// run runs a command to its end.
func (u *user) run(args ...string) result {
	u.t.Helper()
	return u.start(args...).wait()
}

// job is a command that runs.
type job struct {
	*user
	cmd      *exec.Cmd
	target   string // that it measures
	out, err transcript
	ended    chan struct{}
}

func (u *user) start(args ...string) *job {
	u.t.Helper()
	return u.startCommand(u.command(args...))
}

func (u *user) startCommand(cmd *exec.Cmd) *job {
	u.t.Helper()
	j := &job{user: u, cmd: cmd, ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = &j.out, &j.err
	}
	cmd.WaitDelay = patience // what it left behind may hold its output open
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(j.ended)
	}()
	u.t.Cleanup(func() {
		cmd.Process.Kill()
		<-j.ended
	})
	return j
}

func (j *job) wait() result {
	j.t.Helper()
	select {
	case <-j.ended:
	case <-time.After(2 * patience):
		j.t.Fatalf("it has not ended; it said\n%s", j.err.String())
	}
	s := j.cmd.ProcessState
	return result{state: s, code: s.ExitCode(), out: j.out.String(), err: j.err.String()}
}

// await waits until the command has said text on stderr.
func (j *job) await(text string) {
	j.t.Helper()
	eventually(j.t, func() string { return fmt.Sprintf("it says %q; it said\n%s%s", text, &j.err, &j.out) }, func() bool {
		select {
		case <-j.ended: // what it said last is in the transcript now
			if !strings.Contains(j.err.String(), text) {
				j.t.Fatalf("it ended without saying %q; it said\n%s", text, j.err.String())
			}
		default:
		}
		return strings.Contains(j.err.String(), text)
	})
}

// eventually polls until ok.
func eventually(t *testing.T, what func() string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what())
		}
	}
}

// transcript is output that can be read while it grows.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// twoLines is the form of every error: the last thing on stderr. The cause may
// go on for some lines.
var twoLines = regexp.MustCompile(`(?s)(?:^|\n)gonogo: error: \S[^\n]*.*\ngonogo: hint: \S[^\n]*\n$`)

// refused checks an unsuccessful end: its code, the two-line form, what the
// error says, and that nothing is on stdout.
func (r result) refused(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit %d, want %d (%v)", r.code, code, r.state)
	}
	if r.out != "" {
		t.Errorf("on stdout, which is for reports: %q", r.out)
	}
	if !twoLines.MatchString(r.err) || strings.Count(r.err, "gonogo: error: ") != 1 {
		t.Errorf("not an error and a hint:\n%s", r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			t.Errorf("stderr lacks %q:\n%s", text, r.err)
		}
	}
}

// sessions are the archives in results, oldest first.
func (u *user) sessions() []string {
	u.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(u.dir, "results", "2*"))
	if err != nil {
		u.t.Fatal(err)
	}
	return dirs
}

// load reads the only archive there is.
func (u *user) load() *record.Session {
	u.t.Helper()
	dirs := u.sessions()
	if len(dirs) != 1 {
		u.t.Fatalf("%d archives: %q", len(dirs), dirs)
	}
	s, err := archive.Load(dirs[0])
	if err != nil {
		u.t.Fatal(err)
	}
	return s
}

// tree is every file under a folder, by its path, with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// clusterTarget is the name of the Node cluster on this machine.
func clusterTarget(t *testing.T) string {
	t.Helper()
	p, err := planFlags{Quick: true}.plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range p.Targets {
		if strings.HasPrefix(target.Name, "node-cluster-") {
			return target.Name
		}
	}
	t.Fatal("no cluster among the targets")
	return ""
}

// inProcess runs a command line as main does, on a background context.
func inProcess(args ...string) result {
	var out, errs bytes.Buffer
	code := run(context.Background(), args, streams{strings.NewReader(""), &out, &errs})
	return result{code: code, out: out.String(), err: errs.String()}
}
