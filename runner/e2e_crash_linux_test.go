package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
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
	"gonogo/runner/internal/baddisk"
	"gonogo/runner/record"
)

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
	if spoilt := strings.Contains(said, "no conclusion can be drawn"); s.Complete() == spoilt {
		t.Errorf("complete %v, but it said %v", s.Complete(), spoilt)
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

// moments is how many times a session is killed: 3, or what GONOGO_CRASH says. That
// is the long form, in which each call that changes the disk also fails once.
func moments(t *testing.T) (n int, long bool) {
	n, err := strconv.Atoi(os.Getenv("GONOGO_CRASH"))
	if err != nil {
		return 3, false
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
	p := briefPlan(t, false)
	length, calls := wholeSession(t, p)
	plans, lengths := []*record.Plan{p}, []time.Duration{length}
	if long { // every other one
		pinned := briefPlan(t, true)
		length, _ := wholeSession(t, pinned)
		plans, lengths = append(plans, pinned), append(lengths, length)
	}
	seed := crashSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var killed, faulty tally
	t.Run("all", func(t *testing.T) {
		for i := range n {
			p, length := plans[i%len(plans)], lengths[i%len(plans)]
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
