package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/internal/baddisk"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// The test binary is also a gonogo that makes a session of a plan that no flag can
// ask for: one that takes a second or two, so that it can be killed hundreds of
// times, and nevertheless replaces benchmark.json.
const (
	planName  = "GONOGO_TEST_PLAN"  // the file that the plan is in
	faultName = "GONOGO_TEST_FAULT" // kind@call: what happens to a call of package disk
)

// hookSession is that gonogo: with "new" it makes the session, and otherwise it is
// the whole command line.
func hookSession() {
	path := os.Getenv(planName)
	if path == "" {
		return
	}
	watchFor = 10 * time.Millisecond
	ctx, args, s := untilSignal(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}
	fault := plantIn(args[0])
	code := 0
	if args[0] == "new" {
		code = exitWith(s, newSession(ctx, path, s))
	} else {
		code = run(ctx, args, s)
	}
	if fault != nil {
		fmt.Fprintf(os.Stderr, "calls: %d\n", fault.Calls())
	}
	syscall.Exit(code) // os.Exit sleeps 1 s under -race
}

// plantIn plants the fault of the environment in the process that measures, and not
// in those that it starts.
func plantIn(command string) *baddisk.Fault {
	kind, at, ok := strings.Cut(os.Getenv(faultName), "@")
	if !ok || command != "new" && command != "compare" {
		return nil
	}
	n, err := strconv.Atoi(at)
	if err != nil {
		panic(err)
	}
	return baddisk.Plant(n, baddisk.Kind(kind), func() {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})
}

// newSession is what compare does with its plan.
func newSession(ctx context.Context, path string, s streams) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p := &record.Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return err
	}
	k, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("compare", s)
	if err != nil {
		return err
	}
	defer release()
	h, err := preflight(ctx, k, p, "results")
	if err != nil {
		return err
	}
	dir, err := measure(ctx, k, p, h, "results", s)
	if err != nil {
		return err
	}
	return conclude(dir, "results", s)
}

// briefPlan is a session of one server, whose runs nothing on a busy machine can void.
// Where it is pinned to CPUs there are also the canary, which takes longer than all
// the rest, and a meter.
func briefPlan(t *testing.T, pinned bool) *record.Plan {
	t.Helper()
	sets, err := host.Split()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(plan.Options{Kit: version(), CPUs: plan.CPUSets(sets), Targets: []string{"go-1"}, Seed: 1, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	target, get := p.Targets[0], p.Scenarios[0]
	target.Base = ""
	get.Connections, get.Warmup, get.Window, get.Targets = 4, 20*time.Millisecond, 60*time.Millisecond, nil
	get.Kind, get.RatePerSec, get.Arrivals = record.Open, 200, "constant" // which needs no CPU of its own
	if target.GeneratorCPUs = target.CPUs; !pinned {
		target.CPUs, target.GeneratorCPUs = nil, nil
	}
	p.Quick, p.Part, p.Primary, p.Decision, p.Confirm = false, false, nil, nil, nil
	p.Targets = []record.Target{target}
	p.Blocks, p.Scenarios = plan.MinRounds, []record.Scenario{get}
	probe := *p.Probe
	probe.Connections, probe.Warmup, probe.Window = 4, 20*time.Millisecond, 60*time.Millisecond
	p.Probe, p.Rules.Machine = &probe, lax()
	p.Steps = plan.Order(p)
	return p
}

// lax rules about the machine void no run.
func lax() record.MachineRules {
	all := record.Limits{Warn: 1e9, Fail: 1e9}
	return record.MachineRules{ForeignCPU: all, ForeignInRun: all, Unaccounted: all, Steal: all, Running: all, CPUPressure: all, MemoryPressure: all, IOPressure: all,
		Swap: all, Thermal: all, QuotaStops: all, Hiccup: all, Canary: all}
}

// briefBinary is the test binary without the race detector, under which a session
// takes three times as long.
var briefBinary = sync.OnceValues(func() (string, error) {
	if _, err := builtKit(); err != nil { // which makes the root
		return "", err
	}
	path := filepath.Join(root, "brief.test")
	if out, err := exec.Command("go", "test", "-c", "-buildvcs=false", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the test binary: %w\n%s", err, out)
	}
	return path, nil
})

// briefUser has a kit in the working folder and a benchmark.json of before.
func briefUser(t *testing.T, p *record.Plan) *user {
	t.Helper()
	kit := theKit(t)
	u := newUser(t, kit)
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(u.dir, "plan")
	u.env = append(u.env, planName+"="+path)
	for _, err := range []error{os.WriteFile(path, data, 0o644), os.Mkdir(filepath.Join(u.dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(u.dir, "benchmark.json"), []byte("old\n"), 0o644),
		os.Symlink(filepath.Join(kit, "server-node"), filepath.Join(u.dir, "server-node")),
		os.Symlink(filepath.Join(kit, "bin", "server-go"), filepath.Join(u.dir, "bin", "server-go"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// begin starts the test binary as a gonogo.
func (u *user) begin(args ...string) *job {
	u.t.Helper()
	binary, err := briefBinary()
	if err != nil {
		u.t.Fatal(err)
	}
	argv := slices.Concat(u.wrap, []string{binary}, args)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = u.dir, u.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	return u.startCommand(cmd)
}

// must runs it to its end, which has to be that one.
func (u *user) must(code int, args ...string) result {
	u.t.Helper()
	r := u.begin(args...).wait()
	if r.code != code {
		u.t.Fatalf("%q: exit %d, want %d\n%s\n%.2000s", args, r.code, code, r.err, r.out)
	}
	return r
}
