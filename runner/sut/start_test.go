package sut

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStartIsTheOneAskedFor(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec())
	var said struct{ PID, Padding int }
	if err := json.Unmarshal([]byte(get(t, "http://"+p.Address()+"/healthz")), &said); err != nil {
		t.Fatal(err)
	}
	if said.PID != p.PID() || !slices.Equal(p.PIDs(), []int{p.PID()}) {
		t.Errorf("pid %d answers, started %d, listed %v", said.PID, p.PID(), p.PIDs())
	}
	if said.Padding != p.EnvPadding() {
		t.Errorf("it sees %d bytes of padding, recorded %d", said.Padding, p.EnvPadding())
	}
	if p.Ready() <= 0 || p.Settings().Runtime != "stub" || p.Settings().Workers != 1 {
		t.Errorf("ready %v, settings %+v", p.Ready(), p.Settings())
	}
	h, err := p.Health(t.Context())
	if err != nil || !slices.Equal(h.Users, []uint64{10_000}) || !slices.Equal(h.Requests, []uint64{0}) {
		t.Errorf("health %+v, %v", h, err)
	}
	if err := p.Alive(); err != nil {
		t.Error(err)
	}
	stop(t, p, false)
	first, _ := p.Stop()
	if again, err := p.Stop(); again != first || err != nil {
		t.Errorf("a second stop did something: %v, %v after %v", again, err, first)
	}
	if p.ExitStatus() != "" {
		t.Errorf("stopped by us, yet it ended by itself: %s", p.ExitStatus())
	}
}

// C35: yesterday's server is on the port.
func TestStartOnTakenPort(t *testing.T) {
	f := newFixture(t)
	port, healthy := bystander(t)
	s := f.spec()
	s.Target.Env = append(s.Target.Env, fmt.Sprintf("PORT=%d", port))
	f.refuse(s, "ended before it was ready: exit status 1", fmt.Sprintf("127.0.0.1:%d: bind: address already in use", port))
	if !healthy() {
		t.Error("the process on the port was touched")
	}
}

// C35: a server that is not ours answers the probe.
func TestStartAnsweredByAnother(t *testing.T) {
	f := newFixture(t)
	port, healthy := bystander(t)
	f.refuse(f.spec("-say-port", fmt.Sprint(port)), fmt.Sprintf("port %d is answered by another server", port))
	if !healthy() {
		t.Error("the process on the port was touched")
	}
	f.refuse(f.spec("-token", "yesterday"), `token "yesterday" is not ours`)
}

// C36: missing or broken. The ready timeout is minutes away: what is reported
// here is the exit.
func TestStartBroken(t *testing.T) {
	f := newFixture(t)
	missing := f.spec()
	missing.Target.Argv = []string{"no-such-runtime"}
	f.refuse(missing, "start stub", `"no-such-runtime"`, "executable file not found")
	f.refuse(f.spec("-exit-at-once"), "ended before it was ready: exit status 0", "it wrote nothing")
	f.refuse(f.spec("-exit-at-once", "-exit-code", "3", "-stderr-before", "300"), "exit status 3", "it wrote last:\n  bbb")
	f.refuse(f.spec("-no-such-flag"), "exit status 2", "flag provided but not defined")
	f.refuse(f.spec("-never-ready", "-exit-after", "50ms", "-exit-code", "4"), "exit status 4")
	f.refuse(f.spec("-grandchild", "-never-ready", "-exit-after", "50ms"), "exit status 0") // its output stays open
	f.refuse(f.spec("-say-port", "70000"), "names port 70000")
	noCommand := f.spec()
	noCommand.Target.Argv = nil
	f.refuse(noCommand, "no command")
	twice := f.spec()
	f.start(twice).Stop()
	f.refuse(twice, "create log", "file exists")
}

// C36: slow is not broken.
func TestStartSlow(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec("-late", "300ms"))
	if p.Ready() < 300*time.Millisecond {
		t.Errorf("ready after %v, before it listened", p.Ready())
	}
}

func TestStartTimesOut(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-never-ready", "-grandchild", "-ignore-term")
	s.ReadyTimeout = 300 * time.Millisecond
	f.refuse(s, "not ready within 300ms", "no ready line")
	s = f.spec("-no-listen")
	s.ReadyTimeout = 300 * time.Millisecond
	f.refuse(s, "not ready within 300ms", "it says it is ready", "/healthz", "connection refused")
}

func TestStartCancelled(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		eventually(t, "the target runs", func() bool { return len(marked(t, f.mark)) > 0 })
		cancel()
	}()
	if _, err := Start(ctx, f.guard, f.spec("-never-ready")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStartSettingsNotHonoured(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-workers", "2", "-say-workers", "3")
	s.Target.Workers = 2
	f.refuse(s, "settings not honoured: workers is 3, want 2")
	s = f.spec("-workers", "2")
	s.Target.Workers = 2
	p := f.start(s)
	if len(p.PIDs()) != 3 || p.Settings().Workers != 2 {
		t.Errorf("pids %v, settings %+v", p.PIDs(), p.Settings())
	}
	stop(t, p, false)
}

// D3: setup randomisation.
func TestStartPadsAtRandom(t *testing.T) {
	f := newFixture(t)
	seen := map[int]bool{}
	for range 10 {
		p := f.start(f.spec())
		if n := p.EnvPadding(); n < 0 || n > 4095 {
			t.Errorf("padding of %d bytes", n)
		}
		seen[p.EnvPadding()] = true
		p.Stop()
	}
	if len(seen) < 8 {
		t.Errorf("10 starts gave %d sizes", len(seen))
	}
}

func TestEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("HOME", "/home/a")
	t.Setenv("LANG", "C")
	t.Setenv("NODE_OPTIONS", "--inspect")
	t.Setenv("GOGC", "off")
	got := environment([]string{"GOMAXPROCS=1", "GONOGO_TOKEN=forged"}, "T", 3)
	want := "PATH=/bin HOME=/home/a LANG=C NODE_ENV=production HOST=127.0.0.1 PORT=0 GOMAXPROCS=1 GONOGO_TOKEN=forged GONOGO_TOKEN=T GONOGO_PADDING=xxx"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

func TestReadyLineAmongOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := createLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.file.Close()
	lines, err := follow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.file.Close()
	for _, step := range []struct {
		written string
		port    int
	}{
		{"", 0},
		{"noise\n{\"ready\":false,\"port\":1}\n{not json\n", 0},
		{strings.Repeat("x", 3<<20), 0}, // a line too long to be ours
		{"\n{\"ready\":true,\"po", 0},   // half a line
		{"rt\":43127,\"pids\":[7]}", 0}, // whole, but the newline
		{"\n{\"ready\":true,\"port\":2}\n", 43127},
	} {
		log.file.WriteString(step.written)
		got, found, err := lines.ready()
		if err != nil || got.Port != step.port || found != (step.port != 0) {
			t.Errorf("after %.30q: %+v, %v, %v", step.written, got, found, err)
		}
	}
}
