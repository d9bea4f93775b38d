package cgroup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/record"
)

// The test binary is also the process in the group: burn for so long, or hold so many MiB.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		n, _ := strconv.Atoi(os.Args[2])
		switch os.Args[1] {
		case "burn":
			for begin := cpuTime(); cpuTime()-begin < time.Duration(n)*time.Millisecond; {
			}
			syscall.Exit(0)
		case "leave": // a group that nobody removes
			tree, err := Find(Memory)
			if err == nil {
				_, err = tree.New(record.GroupLimits{MemoryBytes: uint64(n) << 20})
			}
			if err != nil {
				syscall.Exit(1)
			}
			syscall.Exit(0)
		case "hold":
			b, err := syscall.Mmap(-1, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE) // which the race detector does not double
			if err != nil {
				syscall.Exit(1)
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			syscall.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// live is the machine's own tree; without the right to use it the test is skipped, and
// says why.
func live(t *testing.T) *Tree {
	t.Helper()
	tree, err := Find(CPU, Memory)
	if missing := (*Missing)(nil); errors.As(err, &missing) {
		t.Skipf("no control groups for a test: %s; %s", missing.What, missing.Do)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// within runs the test binary in a group and returns how it ended and what was counted.
func within(t *testing.T, tree *Tree, l record.GroupLimits, args ...string) (end string, c record.GroupCounts, took time.Duration) {
	t.Helper()
	g, err := tree.New(l)
	if err != nil {
		t.Fatal(err)
	}
	if g.Limits() != l || g.Version() != tree.Version() {
		t.Errorf("limits %+v of version %d, want %+v", g.Limits(), g.Version(), l)
	}
	dir := g.anyDir()
	cmd := exec.Command(os.Args[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	runtime.LockOSThread()
	leave, err := g.Place(cmd.SysProcAttr)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err = errors.Join(cmd.Start(), leave())
	runtime.UnlockOSThread()
	if err != nil {
		t.Fatal(err)
	}
	// Others may have left theirs; the maker of this one lives.
	if removed, err := tree.Sweep(); err != nil || strings.Contains(strings.Join(removed, " "), filepath.Base(dir)) {
		t.Errorf("swept %v, %v: the maker lives", removed, err)
	}
	cmd.Wait()
	took = time.Since(begin)
	if c, err = g.Read(); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	return cmd.ProcessState.String(), c, took
}

// told prints counters, not where they are.
func told(c record.GroupCounts) string {
	b, err := json.Marshal(c)
	return fmt.Sprint(string(b), err)
}

// 8 ms of CPU time at a fiftieth of a CPU: 2 ms in each period of 100, so it is stopped at
// the end of three at least, however little a busy machine gives it.
func TestLiveQuota(t *testing.T) {
	end, c, took := within(t, live(t), record.GroupLimits{CPUs: 0.02}, "burn", "8")
	if end != "exit status 0" || c.Throttled == nil || *c.Throttled < 3 || *c.Periods < *c.Throttled || *c.ThrottledFor <= 0 || took < 250*time.Millisecond {
		t.Errorf("%s after %v, counts %s: want a process that was throttled", end, took, told(c))
	}
	if c.OOMKills != nil {
		t.Error("memory was counted, though it was not limited")
	}
	if end, c, _ := within(t, live(t), record.GroupLimits{CPUs: 64}, "burn", "8"); end != "exit status 0" || *c.Throttled != 0 {
		t.Errorf("%s, %d of %d periods throttled within a quota that is never used up", end, *c.Throttled, *c.Periods)
	}
}

func TestLiveMemory(t *testing.T) {
	tree := live(t)
	end, c, _ := within(t, tree, record.GroupLimits{MemoryBytes: 32 << 20}, "hold", "64")
	if end != "signal: killed" || c.OOMKills == nil || *c.OOMKills != 1 || *c.LimitHits == 0 {
		t.Errorf("%s, counts %s: want a kill for lack of memory", end, told(c))
	}
	end, c, _ = within(t, tree, record.GroupLimits{MemoryBytes: 128 << 20}, "hold", "64")
	if end != "exit status 0" || *c.OOMKills != 0 || c.PeakBytes != nil && (*c.PeakBytes < 64<<20 || *c.PeakBytes > 112<<20) {
		t.Errorf("%s, counts %s: want a peak of 64 MiB and the runtime's own", end, told(c))
	}
	if c.Throttled != nil {
		t.Error("the CPU was counted, though it was not limited")
	}
}

// The thread that forks is back where it was: another child is in no group of ours.
func TestLiveLeave(t *testing.T) {
	tree := live(t)
	g, err := tree.New(record.GroupLimits{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leave, err := g.Place(&syscall.SysProcAttr{})
	if err == nil {
		err = leave()
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cat", "/proc/self/cgroup").Output(); err != nil || strings.Contains(string(out), prefix+strconv.Itoa(os.Getpid())) {
		t.Errorf("%s%v", out, err)
	}
}

// What a runner that is gone left is removed by the next.
func TestLiveSweep(t *testing.T) {
	tree := live(t)
	cmd := exec.Command(os.Args[0], "leave", "64")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s%d-", prefix, cmd.Process.Pid)
	removed, err := tree.Sweep()
	if err != nil || len(removed) == 0 || !strings.Contains(strings.Join(removed, " "), name) {
		t.Errorf("removed %v, %v; want one of %s", removed, err, name)
	}
	if left, _ := filepath.Glob(filepath.Join(tree.parents[Memory], name+"*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// onDisk skips where files are nowhere but in the page cache.
func onDisk(t *testing.T, dir string) {
	t.Helper()
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Type == tmpfs {
		t.Skipf("%s is in memory (%v): nothing can be dropped there", dir, err)
	}
}

// A program that was dropped from the page cache is charged to the group that starts it.
func TestLiveUncache(t *testing.T) {
	tree := live(t)
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile(cat)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program") // which nobody else runs
	onDisk(t, filepath.Dir(program))
	f, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = f.Write(append(data, make([]byte, 8<<20)...))
		err = errors.Join(err, f.Sync(), f.Close()) // what is not on the disk yet is not dropped
	}
	if err != nil {
		t.Fatal(err)
	}
	reads := func() uint64 {
		g, err := tree.New(record.GroupLimits{MemoryBytes: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Remove()
		cmd := exec.Command(program, program)
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		leave, err := g.Place(cmd.SysProcAttr)
		if err == nil {
			err = errors.Join(cmd.Start(), leave())
		}
		if err == nil {
			err = cmd.Wait()
		}
		c, err2 := g.Read()
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if c.PeakBytes == nil {
			t.Skip("this kernel tells no peak")
		}
		return *c.PeakBytes
	}
	warm := reads()
	if err := Uncache(program); err != nil {
		t.Fatal(err)
	}
	if cold := reads(); cold < warm+7<<20 {
		t.Errorf("%d bytes are charged for a program of 8 MiB that was dropped, %d for one that was there", cold, warm)
	}
}
