package sut

import (
	"crypto/rand"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Known truth of method C1: threads and a forked process burn CPU time, which
// the kernel also adds up in the rusage of the whole tree once it is reaped.
// Two accounts of one burn, so a loaded machine makes no difference. What lies
// between the reading and the end of the processes is in only one of them.
func TestCPUAgreesWithRusage(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec("-workers", "2", "-burn", "200ms", "-burn-threads", "2"))
	got, err := p.CPU()
	if err != nil {
		t.Fatal(err)
	}
	stop(t, p, false)
	u := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	user, system := time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
	if least := 3 * 2 * 200 * time.Millisecond; got.Total() < least { // primary and workers, two threads each
		t.Errorf("CPU time %v, at least %v was burnt", got.Total(), least)
	}
	if ratio := float64(got.Total()) / float64(user+system); math.Abs(ratio-1) > 0.02 {
		t.Errorf("CPU time %v, rusage %v: ratio %.4f", got.Total(), user+system, ratio)
	}
	// The split is known to a tick a process, beside the 2 % of the total.
	if off := got.User - user; off.Abs() > 3*tick+(user+system)/50 {
		t.Errorf("user time %v, rusage %v", got.User, user)
	}
}

func TestCPUOfTheDead(t *testing.T) {
	f := newFixture(t)
	p := f.start(f.spec())
	stop(t, p, false)
	if c, err := p.CPU(); err == nil {
		t.Errorf("a dead target used %v", c)
	}
}

// C45, method E5: every thread of every process is where it was put, and no
// thread of the runner has moved.
func TestAffinity(t *testing.T) {
	f := newFixture(t)
	all := usable(t)
	one := all[len(all)-1:]
	s := f.spec("-workers", "2")
	s.Target.CPUs = one
	p := f.start(s)
	if got, err := p.CPUsAllowed(); err != nil || !slices.Equal(got, one) {
		t.Errorf("pinned: %v, %v, want %v", got, err, one)
	}
	free := f.start(f.spec())
	if got, err := free.CPUsAllowed(); err != nil || !slices.Equal(got, all) {
		t.Errorf("not pinned: %v, %v, want %v", got, err, all)
	}
	for tid, now := range affinities(t) {
		if now != cpuSet(all) {
			t.Errorf("thread %d of the runner was moved", tid)
		}
	}
	if len(all) > 1 {
		set := cpuSet(all)
		unix.SchedSetaffinity(p.PID(), &set) // behind its back
		if got, _ := p.CPUsAllowed(); !slices.Equal(got, all) {
			t.Errorf("moved: %v, want %v", got, all)
		}
	}
}

func TestAffinityRefused(t *testing.T) {
	f := newFixture(t)
	for _, row := range [][]int{{1023}, {5000}, {-1}} {
		s := f.spec()
		s.Target.CPUs = row
		f.refuse(s, "pin to CPUs")
	}
	absent := f.spec() // the kernel leaves out what is not there
	absent.Target.CPUs = []int{usable(t)[0], 1023}
	if _, err := Start(t.Context(), f.guard, absent); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "1023") {
		t.Errorf("half of the CPUs: %v", err)
	}
}

// usable are the CPUs of the test itself.
func usable(t *testing.T) (cpus []int) {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		t.Fatal(err)
	}
	for c := range 1024 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

func cpuSet(cpus []int) (set unix.CPUSet) {
	for _, c := range cpus {
		set.Set(c)
	}
	return set
}

func affinities(t *testing.T) map[int]unix.CPUSet {
	t.Helper()
	tids, err := threads(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]unix.CPUSet{}
	for _, tid := range tids {
		var set unix.CPUSet
		if unix.SchedGetaffinity(tid, &set) == nil {
			all[tid] = set
		}
	}
	return all
}

// lockedStart starts a target and ends its own thread: a goroutine that ends
// locked takes its thread with it, unless it is the process's first.
func lockedStart(f *fixture, started chan<- *Process, thread *int) {
	runtime.LockOSThread()
	if *thread = unix.Gettid(); *thread == os.Getpid() {
		go lockedStart(f, started, thread) // on another, while this one is held
		<-f.t.Context().Done()
		return
	}
	p, err := Start(f.t.Context(), f.guard, f.spec())
	if err != nil {
		f.t.Error(err)
	}
	started <- p
}

// The parent-death signal must not be tied to a thread that may end: the
// goroutine that asked for the start ends its thread here, and the target lives.
func TestTargetOutlivesTheThreadThatAsked(t *testing.T) {
	f := newFixture(t)
	started := make(chan *Process)
	var thread int
	go lockedStart(f, started, &thread)
	p := <-started
	if p == nil {
		t.Fatal("not started")
	}
	eventually(t, "the thread has ended", func() bool {
		now, err := threads(os.Getpid())
		return err == nil && !slices.Contains(now, thread)
	})
	if _, err := p.Health(t.Context()); err != nil {
		t.Error(err)
	}
	stop(t, p, false)
}

// A goroutine that is not locked moves between threads when others are busy.
func TestForksComeFromOneThread(t *testing.T) {
	stopSpinning := make(chan struct{})
	defer close(stopSpinning)
	for range 4 {
		go func() {
			for {
				select {
				case <-stopSpinning:
					return
				default:
					runtime.Gosched()
				}
			}
		}()
	}
	seen := map[int]bool{}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		done := make(chan int)
		starter() <- func() {
			runtime.Gosched() // go on wherever there is room
			done <- unix.Gettid()
		}
		seen[<-done] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d threads", len(seen))
	}
}

// Without a guard the kernel still ends what the runner forked itself.
func TestKilledRunnerWithoutGuard(t *testing.T) {
	mark := rand.Text()
	cmd, expect := startVictim(t, "unguarded", mark)
	expect("up")
	if n := len(marked(t, mark)); n != 1 {
		t.Fatalf("%d processes", n)
	}
	cmd.Process.Kill()
	eventually(t, "nothing is left", func() bool { return len(marked(t, mark)) == 0 })
}
