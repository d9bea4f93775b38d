package sut

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/record"
)

// serveForeign is a server that was not written for this kit: it says nothing of
// itself and listens where it is told.
func serveForeign(args []string) {
	f := flag.NewFlagSet("foreign", flag.ExitOnError)
	name := f.String("name", "app", "in what it writes")
	port := f.String("port", os.Getenv("PORT"), "to listen on")
	status := f.Int("status", 200, "of every answer")
	exit := f.Int("exit", -1, "end with this code at once")
	away := f.Bool("away", false, "have a process in a session of its own listen instead")
	fork := f.Bool("fork", false, "fork a worker 60 ms after listening")
	f.Parse(args)
	if *exit >= 0 {
		fmt.Println(*name, "fails")
		syscall.Exit(*exit)
	}
	child := func(detach bool, args ...string) {
		c := exec.Command(os.Args[0], append([]string{"foreign"}, args...)...)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: detach}
		if err := c.Start(); err != nil {
			panic(err)
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR2)
	switch {
	case *away:
		child(true, "-name", "away", "-port", *port)
	default:
		go http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(*status)
			fmt.Fprintf(w, "%s %s %s", *name, r.Host, os.Getenv("BACKEND"))
		}))
	}
	if *fork {
		time.AfterFunc(60*time.Millisecond, func() { child(false, "-name", "worker", "-port", "0") })
	}
	fmt.Println(*name, "starts")
	fmt.Println(*name, "ends by", <-signals)
	syscall.Exit(0)
}

// foreignSpec is a foreign server with these flags, behind companions.
func (f *fixture) foreignSpec(flags []string, before ...record.Companion) Spec {
	return Spec{
		Target: record.Target{Name: "svc", Argv: append([]string{os.Args[0], "foreign"}, flags...), Env: []string{markName + "=" + f.mark},
			Foreign: &record.Foreign{URL: "http://127.0.0.1:{port}", Ready: "/up", ReadyWithin: patience, Before: before}},
		LogPath: filepath.Join(f.dir, rand.Text()+".log"), ReadyTimeout: patience, Grace: patience,
	}
}

func (f *fixture) companion(name string, flags ...string) record.Companion {
	return record.Companion{Name: name, Argv: append([]string{os.Args[0], "foreign", "-name", name}, flags...), Env: []string{markName + "=" + f.mark},
		URL: "http://127.0.0.1:{port}", Ready: "/", ReadyWithin: patience}
}

func logOf(t *testing.T, s Spec) string {
	t.Helper()
	text, err := os.ReadFile(s.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestForeign(t *testing.T) {
	f := newFixture(t)
	s := f.foreignSpec([]string{"-port={port}"})
	s.Target.Foreign.StopSignal = "SIGUSR2"
	p := f.start(s)
	if h := p.Host(); h != p.Address() || !strings.HasPrefix(h, "127.0.0.1:") || strings.HasSuffix(h, ":0") {
		t.Errorf("address %s, host %s", p.Address(), h)
	}
	if p.Ready() <= 0 || !slices.Equal(p.PIDs(), []int{p.PID()}) {
		t.Errorf("ready after %v, processes %v, primary %d", p.Ready(), p.PIDs(), p.PID())
	}
	if _, err := p.Health(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("it told its health: %v", err)
	}
	if err := p.Alive(); err != nil {
		t.Error(err)
	}
	if cpu, err := p.CPU(); runtime.GOOS == "linux" && (err != nil || cpu.User+cpu.System <= 0) {
		t.Errorf("CPU %v, %v", cpu, err)
	}
	if stop, err := p.Stop(); err != nil || stop.Killed {
		t.Errorf("stop %+v, %v", stop, err)
	}
	if got, want := logOf(t, s), "app starts\napp ends by user defined signal 2\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

// TestForeignWorkersThatComeLater: what is forked after the first answer is part of
// the target too.
func TestForeignWorkersThatComeLater(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.foreignSpec([]string{"-fork"}))
	if n := len(p.PIDs()); runtime.GOOS == "linux" && n != 2 {
		t.Errorf("%d processes, want 2", n)
	}
}

// TestForeignCompanions: a gateway and its backend are one target.
func TestForeignCompanions(t *testing.T) {
	f := newFixture(t)
	s := f.foreignSpec([]string{"-name", "gateway"}, f.companion("store"), f.companion("backend"))
	s.Target.Env = append(s.Target.Env, "BACKEND={port:backend}")
	p := f.start(s)
	members := p.members()
	if len(members) != 3 || len(p.PIDs()) != 3 || !slices.IsSorted(p.PIDs()) {
		t.Fatalf("%d members, processes %v", len(members), p.PIDs())
	}
	resp, err := http.Get("http://" + p.Address() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var name, host, backend string
	if _, err := fmt.Fscan(resp.Body, &name, &host, &backend); err != nil || name != "gateway" || backend != fmt.Sprint(members[1].port) || backend == fmt.Sprint(p.port) {
		t.Errorf("%s answers on %s with backend %s: %v", name, host, backend, err)
	}
	if runtime.GOOS == "linux" {
		var sum time.Duration
		for _, m := range members {
			c, err := cpuTotal(m)
			if err != nil {
				t.Fatal(err)
			}
			sum += c
		}
		whole, err := p.CPU()
		if err != nil || whole.User+whole.System < sum {
			t.Errorf("CPU %v is less than the %v that its members had used before: %v", whole, sum, err)
		}
	}
	if _, err := p.Stop(); err != nil {
		t.Error(err)
	}
	const started, ended = "store starts\nbackend starts\ngateway starts\n", "gateway ends by terminated\nbackend ends by terminated\nstore ends by terminated\n"
	if got := logOf(t, s); got != started+ended {
		t.Errorf("log %q", got)
	}
}

// cpuTotal is what one member has used.
func cpuTotal(m *Process) (time.Duration, error) {
	c, err := (&Process{cmd: m.cmd, pids: m.pids, spec: m.spec}).CPU()
	return c.User + c.System, err
}

// TestForeignCompanionDies: the end of a companion is that of the target.
func TestForeignCompanionDies(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.foreignSpec(nil, f.companion("backend")))
	if err := syscall.Kill(p.members()[0].PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Exited():
	case <-time.After(patience):
		t.Fatal("nobody noticed")
	}
	if s := p.ExitStatus(); s != "svc/backend: signal: killed" {
		t.Errorf("exit status %q", s)
	}
	if err := p.Alive(); err == nil || !strings.Contains(err.Error(), "svc/backend") {
		t.Errorf("alive: %v", err)
	}
	if _, err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// TestForeignRefused: what does not become ready is named, and nothing of it is left.
func TestForeignRefused(t *testing.T) {
	f := newFixture(t)
	soon := func(s Spec) Spec {
		s.Target.Foreign.ReadyWithin = 300 * time.Millisecond
		return s
	}
	f.refuse(soon(f.foreignSpec([]string{"-status", "503"})), "start svc: not ready within 300ms", "/up: status 503, want 200", "app starts")
	f.refuse(f.foreignSpec([]string{"-exit", "3"}), "ended before it was ready: exit status 3", "app fails")
	f.refuse(f.foreignSpec(nil, f.companion("a"), f.companion("b", "-exit", "4")), "start svc/b: it ended before it was ready: exit status 4")
	f.refuse(f.foreignSpec([]string{"-exit", "5"}, f.companion("a")), "start svc: it ended before it was ready: exit status 5")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	s := f.foreignSpec(nil)
	s.Target.Foreign.URL = other.URL
	f.refuse(s, "somebody answers on "+strings.TrimPrefix(other.URL, "http://")+" already")
	if runtime.GOOS == "linux" {
		f.refuse(f.foreignSpec([]string{"-away"}), "answered by another server")
	}
}

// TestForeignRemote: a server that runs already is asked, and left alone.
func TestForeignRemote(t *testing.T) {
	asked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.Host + r.URL.Path:
		default:
		}
	}))
	defer other.Close()
	url := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s := Spec{Target: record.Target{Name: "far", Argv: []string{}, Foreign: &record.Foreign{URL: url, Ready: "/up", ReadyWithin: patience}},
		LogPath: filepath.Join(t.TempDir(), "log"), ReadyTimeout: patience}
	p, err := Start(t.Context(), nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := <-asked, strings.TrimPrefix(url, "http://")+"/up"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if got, want := p.Address(), strings.TrimPrefix(other.URL, "http://"); got != want {
		t.Errorf("address %s, want %s", got, want)
	}
	if len(p.PIDs()) != 0 {
		t.Errorf("processes %v", p.PIDs())
	}
	if _, err := p.CPU(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("its CPU time is known: %v", err)
	}
	if err := p.Alive(); err != nil {
		t.Error(err)
	}
	if stop, err := p.Stop(); err != nil || stop.Killed {
		t.Errorf("stop %+v, %v", stop, err)
	}
	select {
	case <-p.Exited():
		t.Error("it ended")
	default:
	}
	if resp, err := http.Get(other.URL); err != nil {
		t.Error(err)
	} else {
		resp.Body.Close()
	}
	other.Close()
	s.LogPath += "2"
	s.Target.Foreign.ReadyWithin = 100 * time.Millisecond
	if _, err := Start(t.Context(), nil, s); err == nil || !strings.Contains(err.Error(), "reach far at "+url) {
		t.Errorf("reached nobody: %v", err)
	}
}

// TestRun: commands that a plan runs between runs.
func TestRun(t *testing.T) {
	f := newFixture(t)
	run := func(limit time.Duration, argv ...string) (string, error) {
		return Run(t.Context(), f.guard, f.dir, []string{markName + "=" + f.mark, "GIVEN=yes"}, argv, limit)
	}
	if out, err := run(patience, "sh", "-c", "pwd; echo $GIVEN"); err != nil || !strings.HasSuffix(out, "\nyes") || !strings.HasPrefix(out, f.dir) {
		t.Errorf("output %q, %v", out, err)
	}
	if _, err := run(patience, "sh", "-c", "echo why >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3; it wrote last:\n  why") {
		t.Errorf("a command that failed: %v", err)
	}
	if _, err := run(50*time.Millisecond, "sleep", "60"); err == nil || !strings.Contains(err.Error(), "did not end within 50ms") {
		t.Errorf("a command that hangs: %v", err)
	}
	if _, err := run(patience, "no-such-command"); err == nil {
		t.Error("no command was run")
	}
}
