package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gonogo/runner/capacity"
	"gonogo/runner/cgroup"
	"gonogo/runner/floor"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// grouped is a place for control groups; without one the test is skipped, and says why.
func grouped(t *testing.T, controllers ...string) *cgroup.Tree {
	t.Helper()
	tree, err := cgroup.Find(controllers...)
	if missing := (*cgroup.Missing)(nil); errors.As(err, &missing) {
		t.Skipf("no control groups for a test: %s; %s", missing.What, missing.Do)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// floorPlan searches in short trials between 48 and 80 MiB.
func floorPlan(targets ...record.Target) *record.Plan {
	search := record.Scenario{Name: "memory-floor", Kind: record.MemoryFloor, Requests: getUser, Connections: 4, RatePerSec: 300, Arrivals: "constant",
		Warmup: 50 * time.Millisecond, Window: 400 * time.Millisecond}
	for i := range targets {
		targets[i].Group = &record.GroupLimits{MemoryBytes: 80 << 20}
	}
	p := planOf([]record.Scenario{search}, targets...)
	p.Kind, p.Quick = record.MemoryFloor, true
	limits, rules := plan.CapacityRules(0.95, time.Second), plan.FloorRules(80)
	limits.RequestsMin, limits.AchievedMin, limits.WindowMax = 50, 0.5, time.Second
	rules.Lowest, rules.High, rules.Low = 48<<20, record.Votes{Need: 1, Of: 1}, record.Votes{Need: 1, Of: 1}
	p.Rules.Capacity, p.Rules.Floor, p.Rules.ErrorRatioMax = &limits, &rules, 1
	return p
}

func descended(t *testing.T, p *record.Plan) (o outcome, a floor.Answer) {
	t.Helper()
	c := config(t, p, &o, nil)
	c.Groups = grouped(t, cgroup.Memory)
	c.LogName = func(st record.Step, _ int) string { return strings.ReplaceAll(st.Key(), "/", ".") + ".log" }
	c.LogPath = func(st record.Step, n int) string { return filepath.Join(c.Root, c.LogName(st, n)) }
	if err := SearchFloors(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	again := floor.New(*p.Rules.Floor)
	pids := map[int]bool{}
	for _, r := range o.runs {
		tried := floor.Look(*p.Rules.Capacity, *p.Rules.Floor, r, true)
		t.Logf("%s at %d MiB: %s %s %v", r.Step.Key(), tried.LimitBytes>>20, r.Outcome, r.Reason, tried.Limits)
		for _, pid := range r.PIDs {
			if pids[pid] {
				t.Errorf("process %d ran twice", pid)
			}
			pids[pid] = true
		}
		if err := again.Tell(tried); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := c.Groups.Sweep(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return o, again.Answer()
}

// Known truth: a server that holds 64 MiB needs a limit of 64 MiB and what the kernel
// takes to run it; below that it is killed.
func TestFloorOfAServerOfKnownNeed(t *testing.T) {
	needy := target("stub", "-need", "64")
	needy.Env = []string{"GOGC=25"}
	o, a := descended(t, floorPlan(needy))
	const mib = 1 << 20
	if hi, ok := a.Floor(); !ok || hi < 60*mib || hi > 68*mib || a.Lo < 60*mib-4*mib || hi-a.Lo > 4*mib {
		t.Errorf("answer %+v, want a floor of 64 MiB within 4", a)
	}
	if !slices.Equal(a.Bound, []capacity.Limit{floor.OOMKill}) {
		t.Errorf("bound by %v, want the kernel's kill", a.Bound)
	}
	// The kernel's own count of what it took where nothing was scarce says the same.
	if peak := o.runs[0].Group.Life.PeakBytes; peak != nil && (*peak < 60*mib || *peak > 68*mib) {
		t.Errorf("unlimited it took %d MiB, so it is no server that needs 64", *peak/mib)
	}
	for _, r := range o.runs {
		if g := r.Group; g == nil || g.Limits != *r.Limits || r.Outcome == record.Done && (g.Window == nil || *g.Life.OOMKills != 0) {
			t.Errorf("%s: group %+v of limits %+v", r.Step.Key(), g, r.Limits)
		}
	}
}

// The program of a target is out of the page cache before its group is made, so that the
// group is charged for it; a command without a slash is looked for as exec does.
func TestProgramIsDropped(t *testing.T) {
	root := t.TempDir()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(root, &fs); err != nil || fs.Type == 0x01021994 { // tmpfs
		t.Skipf("%s is in memory (%v): nothing can be dropped there", root, err)
	}
	f, err := os.OpenFile(filepath.Join(root, "program"), os.O_CREATE|os.O_RDWR, 0o755)
	if err == nil {
		_, err = f.Write(make([]byte, 1<<20))
		err = errors.Join(err, f.Sync())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cached := func() bool {
		b, err := syscall.Mmap(int(f.Fd()), 0, 1<<20, syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Munmap(b)
		pages := make([]byte, 1<<20/os.Getpagesize())
		if _, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), 1<<20, uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
			t.Skip(errno)
		}
		return slices.Contains(pages, 1)
	}
	s := step{Config: Config{Root: root}, target: record.Target{Argv: []string{"./program"}}}
	if !cached() {
		t.Skip("a file that was just written is not cached here")
	}
	if err := s.uncache(); err != nil || cached() {
		t.Errorf("it is still cached: %v", err)
	}
	s.target.Argv = []string{"no-such-program"}
	if err := s.uncache(); err == nil {
		t.Error("a program that is not there was dropped")
	}
}

// A quota stops a busy server, and the run counts how often; without a place for groups a
// target with limits fails and says so.
func TestQuotaIsCounted(t *testing.T) {
	busy := target("stub", "-delay", "2ms", "-busy")
	busy.Group = &record.GroupLimits{CPUs: 0.2}
	p := planOf([]record.Scenario{closedLoop(600 * time.Millisecond)}, busy)
	var o outcome
	c := config(t, p, &o, nil)
	c.Groups = grouped(t, cgroup.CPU)
	if err := Execute(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	r := o.runs[0]
	if r.Outcome != record.Done || r.Group == nil || r.Group.Limits.CPUs != 0.2 || r.Group.Window == nil || r.Group.Window.Throttled == nil {
		t.Fatalf("%s %s: group %+v, want one with a window", r.Outcome, r.Reason, r.Group)
	}
	used := r.ServerCPU.Total().Seconds() / r.ServerCPUOver.Seconds()
	if starved := used < 0.15; !starved && (*r.Group.Window.Throttled < 2 || *r.Group.Window.ThrottledFor <= 0) { // a busy machine may give it less than its quota
		t.Fatalf("%s %s: group %+v, want a window in which it was stopped", r.Outcome, r.Reason, r.Group)
	}
	if used > 0.35 {
		t.Errorf("it used %.2f of a CPU with a quota of 0.2", used)
	}
	var refused outcome
	c = config(t, p, &refused, nil)
	if err := Execute(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if r := refused.runs[0]; r.Outcome != record.Failed || !strings.Contains(r.Reason, "no place for one") || len(r.PIDs) > 0 {
		t.Errorf("without a place: %s %s", r.Outcome, r.Reason)
	}
	if _, err := os.Stat(c.LogPath(r.Step, 0)); err == nil {
		t.Error("a process was started without its limits")
	}
}
