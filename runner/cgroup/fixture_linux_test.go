package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// machine is a folder with what a kernel shows of its control groups.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T, mountinfo, own string) *machine {
	m := &machine{t, t.TempDir()}
	m.put("proc/self/mountinfo", mountinfo)
	m.put("proc/self/cgroup", own)
	m.put("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal:       0 kB\n")
	m.process(os.Getpid(), 4711)
	return m
}

// process is one that began at a time, with a name that holds what separates fields.
func (m *machine) process(pid, begun int) {
	m.put(fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf("%d (a) b (c) S 1 %s%d 0 0\n", pid, strings.Repeat("0 ", 17), begun))
}

func (m *machine) put(path, text string) {
	m.t.Helper()
	path = filepath.Join(m.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) has(path string) string {
	data, _ := os.ReadFile(filepath.Join(m.root, path))
	return string(data)
}

func (m *machine) find(controllers ...string) (*Tree, error) {
	return find(m.root, filepath.Join(m.root, "proc"), controllers)
}

func (m *machine) must(controllers ...string) *Tree {
	m.t.Helper()
	tree, err := m.find(controllers...)
	if err != nil {
		m.t.Fatal(err)
	}
	return tree
}

// group makes a group of version 2 with what the kernel puts into it.
func (m *machine) group2(path, controllers, handed, procs string) {
	m.put(path+"/cgroup.controllers", controllers)
	m.put(path+"/cgroup.subtree_control", handed)
	m.put(path+"/cgroup.procs", procs)
}

const (
	mount2 = "31 23 0:28 / /cg rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	mounts = "31 23 0:28 / /cg rw - tmpfs tmpfs rw\n33 31 0:29 / /cg/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n"
	empty2 = "41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n"
)

// A shell of root under systemd: its own group has other processes, the slices above
// hand controllers on.
func TestSecondAsRoot(t *testing.T) {
	m := newMachine(t, mount2, "0::/user.slice/session-1.scope\n")
	m.group2("cg", "cpuset cpu io memory pids", "cpu memory pids", "")
	m.group2("cg/user.slice", "cpu memory pids", "memory pids", "")
	m.group2("cg/user.slice/session-1.scope", "memory pids", "", "7\n8\n")
	if tree := m.must(Memory); tree.Version() != 2 || tree.parents[Memory] != filepath.Join(m.root, "cg/user.slice") {
		t.Errorf("memory: %+v, want the nearest group that hands it on", tree)
	}
	if tree := m.must(CPU, Memory); tree.parents[CPU] != filepath.Join(m.root, "cg") {
		t.Errorf("both: %+v, want the group that hands both on", tree)
	}
}

// A scope that systemd delegated: the runner, alone in it, steps aside and hands the
// controllers on; a second look finds the same place.
func TestSecondDelegated(t *testing.T) {
	m := newMachine(t, mount2, "0::/app.slice/run-1.scope\n")
	m.group2("cg", "cpu memory", "cpu memory", "")
	m.group2("cg/app.slice", "cpu memory", "cpu memory", "")
	m.group2("cg/app.slice/run-1.scope", "cpu memory", "", strconv.Itoa(os.Getpid())+"\n")
	home := filepath.Join(m.root, "cg/app.slice/run-1.scope")
	tree := m.must(CPU, Memory)
	aside := fmt.Sprintf("gonogo-%d-4711-0", os.Getpid())
	if tree.parents[CPU] != home || m.has("cg/app.slice/run-1.scope/"+aside+"/cgroup.procs") != strconv.Itoa(os.Getpid()) ||
		m.has("cg/app.slice/run-1.scope/cgroup.subtree_control") != "+cpu +memory" {
		t.Errorf("%+v: the runner has not stepped aside into %s, or its group does not hand controllers on", tree, aside)
	}
	m.put("proc/self/cgroup", "0::/app.slice/run-1.scope/"+aside+"\n")
	m.put("cg/app.slice/run-1.scope/cgroup.subtree_control", "cpu memory")
	m.group2("cg/app.slice/run-1.scope/"+aside, "cpu memory", "", strconv.Itoa(os.Getpid())+"\n")
	if again := m.must(CPU, Memory); again.parents[CPU] != home {
		t.Errorf("a second look finds %+v, want %s", again, home)
	}
}

// Without a place the refusal says what is missing and what to do.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name       string
		machine    func(t *testing.T) *machine
		what, todo string
	}{
		{"nothing is mounted", func(t *testing.T) *machine { return newMachine(t, "", "0::/\n") }, "no control groups are mounted", "mount -t cgroup2"},
		{"a kernel without memory accounting", func(t *testing.T) *machine {
			m := newMachine(t, mount2, "0::/x\n")
			m.group2("cg", "cpu pids", "cpu", "")
			m.group2("cg/x", "cpu", "", "1\n")
			return m
		}, "have no controller memory", "cgroup_enable=memory"},
		{"others in the group, and nobody above hands on", func(t *testing.T) *machine {
			m := newMachine(t, mount2, "0::/\n")
			m.group2("cg", "cpu memory", "", "1\n9\n")
			return m
		}, "hands the controllers memory on", "systemd-run --user --scope -p Delegate=yes"},
		{"a part of the tree that is not one's own", func(t *testing.T) *machine {
			return newMachine(t, "31 23 0:28 /docker/b /cg rw - cgroup2 cgroup2 rw\n", "0::/docker/a\n")
		}, "is outside of /cg", "cgroupns"},
		{"version 1 read-only", func(t *testing.T) *machine {
			return newMachine(t, mounts, "4:memory:/gone\n3:cpu,cpuacct:/\n")
		}, "no group can be made in", "root"},
	} {
		m := c.machine(t)
		_, err := m.find(Memory)
		missing := (*Missing)(nil)
		if !errors.As(err, &missing) || !strings.Contains(missing.What, c.what) || !strings.Contains(missing.Do, c.todo) {
			t.Errorf("%s: %v (%+v), want %q and %q", c.name, err, missing, c.what, c.todo)
		}
	}
}

// Version 1 beside a tree of version 2 without controllers, seen from the inside of a
// container without a view of its own: the own group is the root of the mount.
func TestFirst(t *testing.T) {
	m := newMachine(t, strings.ReplaceAll(mounts, "0:32 / ", "0:32 /docker/a ")+empty2, "9:name=systemd:/\n4:memory:/docker/a\n3:cpu,cpuacct:/job\n0::/\n")
	m.put("cg/memory/tasks", "")
	m.put("cg/cpu/job/tasks", "")
	m.group2("cg/unified", "", "", "")
	tree := m.must(CPU, Memory)
	if tree.Version() != 1 || tree.parents[Memory] != filepath.Join(m.root, "cg/memory") || tree.parents[CPU] != filepath.Join(m.root, "cg/cpu/job") {
		t.Fatalf("%+v", tree)
	}
	g, err := tree.New(record.GroupLimits{CPUs: 0.5, MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{filepath.Join(g.dirs[CPU], "cpu.cfs_quota_us"): "50000", filepath.Join(g.dirs[CPU], "cpu.cfs_period_us"): "100000",
		filepath.Join(g.dirs[Memory], "memory.limit_in_bytes"): "67108864", filepath.Join(g.dirs[Memory], "memory.swappiness"): "0"} {
		if got, _ := os.ReadFile(file); string(got) != want {
			t.Errorf("%s holds %q, want %s", file, got, want)
		}
	}
}

// What the kernel's documentation shows of each file, to the unit.
func TestCounts(t *testing.T) {
	m := newMachine(t, mount2, "0::/\n")
	m.group2("cg", "cpu memory", "cpu memory", "1\n")
	g, err := m.must(CPU, Memory).New(record.GroupLimits{CPUs: 1.5, MemoryBytes: 96 << 20})
	if err != nil {
		t.Fatal(err)
	}
	name := "cg/" + filepath.Base(g.anyDir()) + "/"
	if m.has(name+"cpu.max") != "150000 100000" || m.has(name+"memory.max") != "100663296" || m.has(name+"memory.swap.max") != "0" {
		t.Errorf("limits are %q, %q and %q", m.has(name+"cpu.max"), m.has(name+"memory.max"), m.has(name+"memory.swap.max"))
	}
	if _, err := g.Read(); err == nil {
		t.Error("a group without counters counts nothing")
	}
	m.put(name+"cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 40\nnr_throttled 12\nthrottled_usec 345\nnr_bursts 0\n")
	m.put(name+"memory.events", "low 0\nhigh 0\nmax 77\noom 3\noom_kill 2\noom_group_kill 0\n")
	m.put(name+"memory.stat", "anon 1\nfile 2\npgmajfault 9\nworkingset_refault_anon 1\nworkingset_refault_file 5\n")
	m.put(name+"memory.peak", "100663296\n")
	m.put(name+"memory.pressure", "some avg10=0.12 avg60=0.00 avg300=0.00 total=2500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=100\n")
	c, err := g.Read()
	if err != nil || *c.Periods != 40 || *c.Throttled != 12 || *c.ThrottledFor != 345*time.Microsecond || *c.LimitHits != 77 || *c.OOMKills != 2 || *c.MajorFaults != 9 ||
		*c.Refaults != 5 || *c.PeakBytes != 96<<20 || *c.Stalled != 2500*time.Microsecond {
		t.Errorf("counts %s, %v", told(c), err)
	}
	older := c
	fewer := uint64(30)
	older.Periods, older.Stalled = &fewer, nil
	if grown := c.Since(older); *grown.Periods != 10 || *grown.Throttled != 0 || grown.Stalled != nil || grown.PeakBytes != nil {
		t.Errorf("grown by %s, want 10 periods, and nothing of what was not told before", told(grown))
	}
}

// Version 1 has other names, other units, and no pressure.
func TestCountsOfFirst(t *testing.T) {
	m := newMachine(t, mounts, "4:memory:/\n3:cpu,cpuacct:/\n")
	m.put("cg/memory/tasks", "")
	m.put("cg/cpu/tasks", "")
	g, err := m.must(CPU, Memory).New(record.GroupLimits{CPUs: 2, MemoryBytes: 96 << 20})
	if err != nil {
		t.Fatal(err)
	}
	name := "/" + filepath.Base(g.anyDir()) + "/"
	m.put("cg/cpu"+name+"cpu.stat", "nr_periods 40\nnr_throttled 12\nthrottled_time 345000\n")
	m.put("cg/memory"+name+"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
	m.put("cg/memory"+name+"memory.failcnt", "77\n")
	m.put("cg/memory"+name+"memory.stat", "cache 1\npgmajfault 9\nworkingset_refault 5\n") // before Linux 5.9
	m.put("cg/memory"+name+"memory.max_usage_in_bytes", "100663296\n")
	if c, err := g.Read(); err != nil || *c.Periods != 40 || *c.Throttled != 12 || *c.ThrottledFor != 345*time.Microsecond || *c.OOMKills != 2 || *c.LimitHits != 77 ||
		*c.MajorFaults != 9 || *c.Refaults != 5 || *c.PeakBytes != 96<<20 || c.Stalled != nil {
		t.Errorf("counts %s, %v", told(c), err)
	}
}

// A limit that swap lies behind is none.
func TestSwapIsRefused(t *testing.T) {
	m := newMachine(t, mount2, "0::/\n")
	m.group2("cg", "memory", "memory", "1\n")
	m.put("proc/meminfo", "SwapTotal: 1024 kB\n")
	tree := m.must(Memory)
	name := tree.name(made.Load() + 1)
	if err := os.MkdirAll(filepath.Join(m.root, "cg", name, "memory.swap.max"), 0o755); err != nil { // which cannot be written
		t.Fatal(err)
	}
	if _, err := tree.New(record.GroupLimits{MemoryBytes: 1 << 20}); err == nil || !strings.Contains(err.Error(), "keep it from swap") {
		t.Errorf("%v, want a refusal", err)
	}
}

// The groups of runners that are gone are swept, those of living ones and of others stay.
func TestSweep(t *testing.T) {
	m := newMachine(t, mount2, "0::/\n")
	m.group2("cg", "memory", "memory", "1\n")
	m.process(500, 1000)
	dead := []string{"gonogo-500-999-1", "gonogo-501-1000-2"} // the number of another process now; of none
	for _, name := range append([]string{"gonogo-500-1000-1", "gonogo-x-1-1", "gonogo-500-1000", "user.slice", fmt.Sprintf("gonogo-%d-4711-3", os.Getpid())}, dead...) {
		if err := os.Mkdir(filepath.Join(m.root, "cg", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := m.must(Memory).Sweep()
	for i := range removed {
		removed[i] = filepath.Base(removed[i])
	}
	if err != nil || !slices.Equal(removed, dead) {
		t.Errorf("removed %v, %v; want %v", removed, err, dead)
	}
	if left, _ := os.ReadDir(filepath.Join(m.root, "cg")); len(left) != 5+3 { // and the three files
		t.Errorf("%d entries are left", len(left))
	}
}
