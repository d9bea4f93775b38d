package sut

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// The test binary is also the stub, the guard and a runner that gets killed.
func TestMain(m *testing.M) {
	stub.Hook()
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		if err := RunGuard(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0) // os.Exit sleeps 1 s under -race
	}
	if len(os.Args) > 1 && os.Args[1] == "foreign" {
		serveForeign(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == "runner" {
		victim(os.Args[2:])
	}
	os.Exit(m.Run())
}

// patience is how long a condition may take to come true before a test fails.
const patience = 20 * time.Second

// eventually polls until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

// markName is a variable in the environment of everything a test starts, by
// which it finds what is left of it.
const markName = "SUT_TEST_MARK"

// fixture is a place to start targets in. When the test ends no process with
// its mark may be left.
type fixture struct {
	t     *testing.T
	mark  string
	guard *Guard
	dir   string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	g, err := StartGuard(os.Args[0], "guard")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, mark: rand.Text(), guard: g, dir: t.TempDir()}
	t.Cleanup(func() {
		if left := marked(t, f.mark); len(left) > 0 {
			t.Errorf("processes left behind: %v", left)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// spec is a stub with these flags.
func (f *fixture) spec(flags ...string) Spec {
	return Spec{
		Target:  record.Target{Name: "stub", Argv: stub.Argv(flags...), Env: []string{markName + "=" + f.mark}},
		LogPath: filepath.Join(f.dir, rand.Text()+".log"), ReadyTimeout: 5 * time.Minute, Grace: patience,
	}
}

// start starts a spec that must become ready.
func (f *fixture) start(s Spec) *Process {
	f.t.Helper()
	p, err := Start(f.t.Context(), f.guard, s)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { p.Stop() })
	return p
}

// refuse starts a spec that must not become ready, and checks that the error
// holds each of the texts.
func (f *fixture) refuse(s Spec, texts ...string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	p, err := Start(ctx, f.guard, s)
	if err == nil {
		p.Stop()
		f.t.Fatal("it started")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			f.t.Errorf("error lacks %q: %v", text, err)
		}
	}
	if left := marked(f.t, f.mark); len(left) > 0 {
		f.t.Errorf("processes left behind: %v", left)
	}
}

// stop stops, and checks whether KILL was needed.
func stop(t *testing.T, p *Process, killed bool) {
	t.Helper()
	s, err := p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if s.Killed != killed {
		t.Errorf("killed is %v, want %v", s.Killed, killed)
	}
	if s.Took <= 0 {
		t.Errorf("took %v", s.Took)
	}
}

// bystander is a server that answers the probe and was not started by sut.
func bystander(t *testing.T) (port int, healthy func() bool) {
	t.Helper()
	argv := stub.Argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var line readyLine
	if err := json.NewDecoder(out).Decode(&line); err != nil {
		t.Fatal(err)
	}
	return line.Port, func() bool {
		var h Health
		return json.Unmarshal([]byte(get(t, fmt.Sprintf("http://127.0.0.1:%d/healthz", line.Port))), &h) == nil && h.PID == cmd.Process.Pid
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
