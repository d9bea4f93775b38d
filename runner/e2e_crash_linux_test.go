package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/archive"
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
	cmd := exec.Command(binary, args...)
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

// recovers checks what is left of a session that met its end, or a fault, after it
// had told of the runs in said: that all of it can be read, that it goes on, and
// what comes of that. It tells where the end came.
func (u *user) recovers(said string) (where string) {
	t := u.t
	t.Helper()
	u.awaitNone()
	dirs := u.sessions()
	if len(dirs) == 0 {
		u.published(nil)
		u.begin("compare", "--resume", "latest").wait().refused(t, exitFailed, "there is none")
		u.must(exitDone, "new") // what is left is in nobody's way
		u.published(u.load())
		return "before it had a folder"
	}
	s, told := u.load(), strings.Count(said, "\nstep ")
	if n := len(s.Runs); n < told {
		t.Errorf("%d runs can be read, %d were told of", n, told)
	}
	u.published(s)
	before := tree(t, filepath.Join(dirs[0], "runs"))
	where = fmt.Sprintf("after %d of %d runs", len(s.Runs), len(s.Plan.Steps))
	if _, err := os.Lstat(filepath.Join(dirs[0], archive.ManifestFile)); err == nil {
		where = "when it was finished"
		u.begin("compare", "--resume", "latest").wait().refused(t, exitPreflight, "it is finished")
	} else {
		u.must(exitDone, "compare", "--resume", "latest")
	}
	s = u.load()
	if done := bytes.Contains([]byte(said), []byte("no conclusion can be drawn")); s.Complete() == done {
		t.Errorf("complete %v, but it said %v", s.Complete(), done)
	}
	u.must(map[bool]int{true: exitDone, false: exitInvalid}[s.Complete()], "report", "latest")
	u.must(exitDone, "verify", "latest")
	u.published(s)
	after := tree(t, dirs[0])
	for name, data := range before {
		if !strings.HasSuffix(name, ".tmp") && after["runs/"+name] != data {
			t.Errorf("runs/%s is another one now", name)
		}
	}
	for name := range after {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("the session holds %s", name)
		}
	}
	if len(s.Resumes) > 1 {
		t.Errorf("%d resumes", len(s.Resumes))
	}
	u.none()
	return where
}

// published: benchmark.json is the one of before or the session's, whole; of a
// session that is complete and has its manifest it is the latter.
func (u *user) published(s *record.Session) {
	u.t.Helper()
	path := filepath.Join(u.dir, "benchmark.json")
	data, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	manifest := false
	if s != nil {
		_, err := os.Lstat(filepath.Join(u.dir, "results", s.ID, archive.ManifestFile))
		manifest = err == nil
	}
	if string(data) == "old\n" {
		if manifest && s.Complete() {
			u.t.Error("benchmark.json is still the one of before")
		}
		return
	}
	if s == nil || !s.Complete() {
		u.t.Fatalf("benchmark.json is neither the old nor a new one: %.40q", data)
	}
	if same, err := archive.Same(path, s); err != nil || !same {
		u.t.Errorf("benchmark.json is neither the old nor the new one: %.40q, %v", data, err)
	}
}

// moments is how many times a session is killed: 6, or what GONOGO_CRASH says. That
// is the long form, in which each call that changes the disk also fails once.
func moments(t *testing.T) (n int, long bool) {
	n, err := strconv.Atoi(os.Getenv("GONOGO_CRASH"))
	if err != nil {
		return 6, false
	}
	return n, true
}

// crashSeed is GONOGO_CRASH_SEED, or a new one.
func crashSeed(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(os.Getenv("GONOGO_CRASH_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("GONOGO_CRASH_SEED=%d", seed)
	return seed
}

// TestCrash kills the runner at moments spread over the whole length of a session,
// and puts faults into the calls by which it changes the disk: one call fails, half
// done, or the runner is killed at it. In the long form that is each call, and
// without it two; TestAFaultAtEveryCall of package archive has them all, without a
// session. Whatever happened, nothing lives on, every run that was told of can be
// read, benchmark.json is the old or the new one, the session goes on to its end, and
// verify finds nothing.
func TestCrash(t *testing.T) {
	t.Parallel()
	n, long := moments(t)
	p := briefPlan(t, long)
	length, calls := wholeSession(t, p)
	seed := crashSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var killed, faulty tally
	t.Run("all", func(t *testing.T) {
		for i := range n {
			// The last may be beyond the end.
			moment := time.Duration((float64(i) + rng.Float64()) / float64(n) * 1.02 * float64(length))
			t.Run(fmt.Sprintf("moment %03d", i+1), func(t *testing.T) {
				t.Parallel()
				u := briefUser(t, p)
				j := u.begin("new")
				select {
				case <-time.After(moment):
				case <-j.ended:
				}
				j.cmd.Process.Kill()
				<-j.ended
				killed.add(t, fmt.Sprintf("killed after %v of %v", moment.Round(time.Millisecond), length.Round(time.Millisecond)), u.recovers(j.err.String()))
			})
		}
		for _, f := range faults(rng, calls, long) {
			faulty.of++
			t.Run(fmt.Sprintf("%s at call %03d", f.kind, f.at), func(t *testing.T) {
				t.Parallel()
				u := briefUser(t, p)
				env := u.env
				u.env = append(append([]string{}, env...), fmt.Sprintf("%s=%s@%d", faultName, f.kind, f.at))
				r := u.begin("new").wait()
				u.env = env
				u.faulty(r, f.kind)
				faulty.add(t, fmt.Sprintf("of %d calls", calls), u.recovers(r.err))
			})
		}
	})
	killed.of = n
	killed.print("kill -9 at moments of a session", seed)
	faulty.print("faults at calls that change the disk", seed)
}

// wholeSession makes one that nothing happens to, and tells how long it takes and how
// many calls of package disk it makes.
func wholeSession(t *testing.T, p *record.Plan) (length time.Duration, calls int) {
	t.Helper()
	u := briefUser(t, p)
	u.env = append(u.env, faultName+"="+string(baddisk.Fails)+"@1000000")
	begun := time.Now()
	r := u.must(exitDone, "new")
	length = time.Since(begun)
	u.published(u.load())
	if _, err := fmt.Sscanf(r.err[strings.LastIndex(r.err, "calls: "):], "calls: %d", &calls); err != nil || calls < 50 {
		t.Fatalf("%d calls, %v\n%s", calls, err, r.err)
	}
	return length, calls
}

// faults are two at random calls, or two at each.
func faults(rng *rand.Rand, calls int, long bool) []planted {
	var all []planted
	for _, kind := range []baddisk.Kind{baddisk.Short, baddisk.Torn} {
		first, last := 1, calls
		if !long {
			first = 1 + rng.IntN(calls)
			last = first
		}
		for at := first; at <= last; at++ {
			all = append(all, planted{kind, at})
		}
	}
	return all
}

type planted struct {
	kind baddisk.Kind
	at   int
}

// faulty: the process died, or it said which call failed and what to do. A log that
// cannot be made costs its run and not the session.
func (u *user) faulty(r result, kind baddisk.Kind) {
	u.t.Helper()
	switch {
	case kind == baddisk.Torn:
		if ws := r.state.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
			u.t.Errorf("it ended with %v", r.state)
		}
	case r.code == exitDone && r.out != "":
		u.t.Errorf("nobody was told:\n%s", r.err)
	case !strings.Contains(r.err, "no space left on device") && !strings.Contains(r.err, "input/output error"):
		u.t.Errorf("exit %d, the cause is not told:\n%s", r.code, r.err)
	}
}

// tally counts what came out right.
type tally struct {
	of    int
	right atomic.Int64
	mu    sync.Mutex
	where map[string]int
}

func (c *tally) add(t *testing.T, what, where string) {
	if t.Failed() {
		t.Logf("%s, %s", what, where)
		return
	}
	c.right.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.where == nil {
		c.where = map[string]int{}
	}
	c.where[where]++
}

func (c *tally) print(what string, seed uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Printf("%s: %d of %d (seed %d)\n", what, c.right.Load(), c.of, seed)
	for _, where := range slices.Sorted(maps.Keys(c.where)) {
		fmt.Printf("  %3d %s\n", c.where[where], where)
	}
}
