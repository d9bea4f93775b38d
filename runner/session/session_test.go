package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/internal/stub"
	"gonogo/runner/load"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// The test binary is also the stub, the guard, the generator and the meter.
func TestMain(m *testing.M) {
	stub.Hook()
	serve := map[string]func() error{
		"guard":     func() error { return sut.RunGuard(os.Stdin, os.Stdout) },
		"generator": func() error { return load.Serve(context.Background(), os.Stdin, os.Stdout, nil) },
	}
	serve["meter"] = func() error { return serveMeter(os.Args[len(os.Args)-1]) }
	if len(os.Args) > 1 && serve[os.Args[1]] != nil {
		if err := serve[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0) // os.Exit sleeps 1 s under -race
	}
	os.Exit(m.Run())
}

// serveMeter is the command that a session starts beside a run: --cpus 0,1.
func serveMeter(list string) error {
	var cpus []int
	for _, c := range strings.Split(list, ",") {
		cpu, err := strconv.Atoi(c)
		if err != nil {
			return err
		}
		cpus = append(cpus, cpu)
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		stop()
	}()
	out := json.NewEncoder(os.Stdout)
	hiccups, err := host.Meter(ctx, cpus, func() { out.Encode(record.MeterEvent{Event: "ready"}) })
	if err != nil {
		return err
	}
	return out.Encode(record.MeterEvent{Event: "result", Result: hiccups})
}

var getUser = []record.Request{{Method: "GET", Path: "/users/{id}", WantStatus: 200,
	WantBody: `{"id":"{id}","name":"User {id}","email":"user{id}@example.com"}`}}

func closedLoop(window time.Duration) record.Scenario {
	return record.Scenario{Name: "get-c4", Kind: record.Closed, Requests: getUser, Connections: 4, Warmup: 50 * time.Millisecond, Window: window}
}

func planOf(scenarios []record.Scenario, targets ...record.Target) *record.Plan {
	p := &record.Plan{Targets: targets, Scenarios: scenarios, Rules: plan.DefaultRules(), RequestTimeout: 5 * time.Second, Blocks: 1}
	all := record.Limits{Warn: math.MaxFloat64, Fail: math.MaxFloat64} // what else runs on a machine that tests voids no run
	p.Rules.Machine = record.MachineRules{ForeignCPU: all, ForeignInRun: all, Unaccounted: all, Steal: all, Running: all, CPUPressure: all, MemoryPressure: all, IOPressure: all,
		Swap: all, Thermal: all, QuotaStops: all, Hiccup: all, Canary: all}
	for _, t := range targets {
		for _, s := range scenarios {
			p.Steps = append(p.Steps, record.Step{Index: len(p.Steps), Block: 1, Target: t.Name, Scenario: s.Name})
		}
	}
	return p
}

func target(name string, flags ...string) record.Target {
	return record.Target{Name: name, Argv: stub.Argv(flags...), Workers: 1}
}

// outcome is what a test session left.
type outcome struct {
	runs []*record.Run
	log  []string // order of events
	err  error
}

func execute(t *testing.T, ctx context.Context, p *record.Plan, observe func(Event)) outcome {
	t.Helper()
	var o outcome
	o.err = Execute(ctx, config(t, p, &o, observe), nil)
	return o
}

// config keeps what a session leaves in an outcome.
func config(t *testing.T, p *record.Plan, o *outcome, observe func(Event)) Config {
	t.Helper()
	dir := t.TempDir()
	name := func(st record.Step, attempt int) string { return fmt.Sprintf("%03d-%d.log", st.Index, attempt) }
	return Config{
		Plan: p, Root: dir, Guard: []string{os.Args[0], "guard"}, Generator: []string{os.Args[0], "generator"},
		LogPath: func(st record.Step, attempt int) string { return filepath.Join(dir, name(st, attempt)) }, LogName: name,
		Append: func(r *record.Run) error {
			sc, _ := p.Scenario(r.Step.Scenario)
			if err := r.Validate(sc.Kind); err != nil {
				t.Error(err)
			}
			o.log = append(o.log, "kept "+r.Step.Target)
			o.runs = append(o.runs, r)
			return nil
		},
		Observe: func(e Event) {
			if e.Run == nil {
				o.log = append(o.log, "begin "+e.Step.Target)
			}
			if observe != nil {
				observe(e)
			}
		},
	}
}

func TestALatencyRunAndAMemoryRun(t *testing.T) {
	memoryRun := record.Scenario{Name: "memory-c4", Kind: record.Memory, Requests: getUser, Connections: 4,
		Window: 300 * time.Millisecond, Idle: 10 * time.Millisecond, Rest: 10 * time.Millisecond}
	o := execute(t, t.Context(), planOf([]record.Scenario{closedLoop(300 * time.Millisecond), memoryRun}, target("stub")), nil)
	if o.err != nil || len(o.runs) != 2 {
		t.Fatalf("%d runs, %v", len(o.runs), o.err)
	}
	latency, memory := o.runs[0], o.runs[1]
	for _, r := range o.runs {
		if r.Outcome != record.Done {
			t.Fatalf("%s: %s: %s", r.Step.Key(), r.Outcome, r.Reason)
		}
		if r.Load.Counts.OK == 0 || r.Ready <= 0 || len(r.PIDs) == 0 || r.Stop == nil {
			t.Errorf("%s lacks counts, ready time, pids or stop: %+v", r.Step.Key(), r)
		}
		if r.FirstAnswer == nil || *r.FirstAnswer < r.Ready {
			t.Errorf("%s: ready after %v, the first answer after %v", r.Step.Key(), r.Ready, r.FirstAnswer)
		}
		if r.Served == nil || *r.Served != r.Load.Counts.Planned {
			t.Errorf("%s: the server counted %v of %d requests", r.Step.Key(), r.Served, r.Load.Counts.Planned)
		}
	}
	if latency.Load.Service == nil || latency.ServerCPU == nil || latency.ServerCPU.Total() <= 0 {
		t.Error("the latency run lacks latency or server CPU")
	}
	if over := latency.ServerCPUOver; over == nil || *over < latency.Load.Window {
		t.Errorf("CPU time over %v, a window of %v", over, latency.Load.Window)
	}
	m := memory.Memory
	if m.Idle == nil || m.LoadEnd == nil || m.Rest == nil || len(m.Load) == 0 || m.Idle.RSS == 0 {
		t.Errorf("the memory run lacks a reading: %+v", m)
	}
	gates := func(r *record.Run) (n int) {
		for _, ch := range r.Checks {
			if strings.HasPrefix(ch.Name, "CPU used by others") || ch.Name == "memory pressure" || ch.Name == "swap" {
				n++
			}
		}
		return n
	}
	if latency.Environment == nil || memory.Environment == nil || gates(latency) != 3 || gates(memory) != 3 {
		t.Errorf("held against gates of the machine: %d in the latency run, %d in the memory run", gates(latency), gates(memory))
	}
	if latency.PIDs[0] == memory.PIDs[0] {
		t.Error("two runs shared a process")
	}
}

// A run that broke is kept with its reason and without a number; the next
// target is measured all the same.
func TestBrokenTargets(t *testing.T) {
	for _, c := range []struct {
		name    string
		flags   []string
		outcome record.Outcome
		reason  string
	}{
		{"dies under load", []string{"-exit-after=400ms", "-exit-code=3"}, record.Failed, "exit status 3"},
		{"is never ready", []string{"-exit-at-once", "-exit-code=7"}, record.Failed, "exit status 7"},
		{"answers 500 to each 50th", []string{"-broken=50"}, record.Failed, "wrong status"},
		{"answers a wrong body to each 50th", []string{"-wrong-body=50"}, record.Failed, "wrong body"},
		{"redirects", []string{"-redirect=50"}, record.Failed, "wrong status"},
		{"replaces a worker", []string{"-workers=2", "-worker-exit=500ms", "-refork"}, record.Failed, "process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad, good := target("bad", c.flags...), target("good")
			if strings.Contains(strings.Join(c.flags, " "), "workers") {
				bad.Workers = 2
			}
			o := execute(t, t.Context(), planOf([]record.Scenario{closedLoop(800 * time.Millisecond)}, bad, good), nil)
			if o.err != nil || len(o.runs) != 2 {
				t.Fatalf("%d runs, %v", len(o.runs), o.err)
			}
			r := o.runs[0]
			if r.Outcome != c.outcome || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("got %s: %s; want %s with %q", r.Outcome, r.Reason, c.outcome, c.reason)
			}
			if o.runs[1].Outcome != record.Done {
				t.Errorf("the good target after it: %s: %s", o.runs[1].Outcome, o.runs[1].Reason)
			}
		})
	}
}

// A run is kept before the next one begins.
func TestKeptBeforeTheNextBegins(t *testing.T) {
	o := execute(t, t.Context(), planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a"), target("b")), nil)
	if want := []string{"begin a", "kept a", "begin b", "kept b"}; !slices.Equal(o.log, want) {
		t.Errorf("got %q, want %q", o.log, want)
	}
}

// Of the confirmation steps those that were asked for run, and nothing else.
func TestConfirm(t *testing.T) {
	p := planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a"), target("b"))
	for i, name := range []string{"b", "a"} {
		p.Confirm = append(p.Confirm, record.Step{Index: 2 + i, Block: 2, Position: i, Target: name, Scenario: "get-c4"})
	}
	var o outcome
	err := Confirm(t.Context(), config(t, p, &o, nil), nil, p.Confirm[1:])
	if err != nil || len(o.runs) != 1 || o.runs[0].Step != p.Confirm[1] || o.runs[0].Load == nil {
		t.Errorf("%d runs, %v", len(o.runs), err)
	}
}

func TestARecordThatCannotBeKeptEndsTheSession(t *testing.T) {
	p := planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a"), target("b"))
	full, kept := errors.New("disk full"), 0
	dir := t.TempDir()
	err := Execute(t.Context(), Config{
		Plan: p, Root: dir, Guard: []string{os.Args[0], "guard"}, Generator: []string{os.Args[0], "generator"},
		LogPath: func(record.Step, int) string { return filepath.Join(dir, "log") }, LogName: func(record.Step, int) string { return "log" },
		Append: func(*record.Run) error { kept++; return full }, Observe: func(Event) {},
	}, nil)
	if !errors.Is(err, full) || kept != 1 {
		t.Errorf("%d runs offered, error %v", kept, err)
	}
}

// A signal in the second step: the first is kept, the second is marked, nothing
// lives on and the third never begins.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := execute(t, ctx, planOf([]record.Scenario{closedLoop(10 * time.Second)}, target("a"), target("b")), func(e Event) {
		if e.Step.Target == "a" && e.Run == nil {
			go func() { // once the target runs
				for !slices.ContainsFunc(children(t), func(argv string) bool { return strings.Contains(argv, "generator") }) {
					time.Sleep(2 * time.Millisecond)
				}
				cancel()
			}()
		}
	})
	if !errors.Is(o.err, context.Canceled) || len(o.runs) != 1 || o.runs[0].Outcome != record.Interrupted {
		t.Fatalf("%d runs, %v", len(o.runs), o.err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The targets of a block get the same requests, every block others.
func TestSeeds(t *testing.T) {
	spec := func(target string, block int) uint64 {
		s := step{Config: Config{Plan: &record.Plan{Seed: 7}}, run: &record.Run{Step: record.Step{Target: target, Block: block}}}
		return s.spec("").Seed
	}
	if spec("a", 1) != spec("b", 1) || spec("a", 1) == spec("a", 2) {
		t.Errorf("block 1: %d and %d, block 2: %d", spec("a", 1), spec("b", 1), spec("a", 2))
	}
}

func TestExampleQuotesTheMostFrequentKind(t *testing.T) {
	got := example(map[string]record.ErrorKind{"reset": {Count: 2, Example: "r"}, "timeout": {Count: 3, Example: "t"}})
	if want := "; 3 x timeout, such as: t"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
