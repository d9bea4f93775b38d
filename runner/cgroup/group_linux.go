package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gonogo/runner/record"
)

// Group is a control group for one target. It has to be removed.
type Group struct {
	tree   *Tree
	dirs   map[string]string // by controller
	limits record.GroupLimits
	handle *os.File // of version 2: what the kernel takes for the group of a new process
}

var made atomic.Int64

func (t *Tree) name(n int64) string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%d", prefix, pid, t.begun(pid), n)
}

// begun is when a process started, in clock ticks since boot: field 22 of
// proc_pid_stat(5). A group does not outlive the boot. "" is no such process.
func (t *Tree) begun(pid int) string {
	stat, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; field 3 follows the last one.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// New makes a group with these limits. Memory is limited without swap: a limit that
// swap lies behind is none.
func (t *Tree) New(l record.GroupLimits) (*Group, error) {
	g := &Group{tree: t, dirs: map[string]string{}}
	name := t.name(made.Add(1))
	for c, parent := range t.parents {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !(t.version == 2 && errors.Is(err, fs.ErrExist)) {
			return nil, errors.Join(fmt.Errorf("make control group: %w", err), g.Remove())
		}
		g.dirs[c] = dir
	}
	if err := g.limit(l); err != nil {
		return nil, errors.Join(fmt.Errorf("limit control group: %w", err), g.Remove())
	}
	if t.version == 2 {
		var err error
		if g.handle, err = os.Open(g.anyDir()); err != nil {
			return nil, errors.Join(fmt.Errorf("open control group: %w", err), g.Remove())
		}
	}
	return g, nil
}

func (g *Group) anyDir() string {
	for _, dir := range g.dirs {
		return dir
	}
	return ""
}

func (g *Group) limit(l record.GroupLimits) error {
	if l.CPUs > 0 {
		if g.dirs[CPU] == "" {
			return errors.New("a quota needs the controller cpu")
		}
		quota := int64(math.Round(l.CPUs * periodMicros))
		if err := g.quota(quota); err != nil {
			return err
		}
		g.limits.CPUs = float64(quota) / periodMicros
	}
	if l.MemoryBytes > 0 {
		if g.dirs[Memory] == "" {
			return errors.New("a memory limit needs the controller memory")
		}
		return g.memory(l.MemoryBytes)
	}
	return nil
}

func (g *Group) quota(micros int64) error {
	if g.tree.version == 2 {
		return write(g.dirs[CPU], "cpu.max", fmt.Sprintf("%d %d", micros, periodMicros))
	}
	return errors.Join(write(g.dirs[CPU], "cpu.cfs_period_us", strconv.Itoa(periodMicros)), write(g.dirs[CPU], "cpu.cfs_quota_us", strconv.FormatInt(micros, 10)))
}

func (g *Group) memory(bytes uint64) error {
	dir, limit := g.dirs[Memory], strconv.FormatUint(bytes, 10)
	// In a group's own reclaim no swappiness is no swap at all. A limit of memory and swap
	// together would do too, but newer kernels do not count how often that is hit.
	file, swap := "memory.limit_in_bytes", "memory.swappiness"
	if g.tree.version == 2 {
		file, swap = "memory.max", "memory.swap.max"
	}
	if err := write(dir, file, limit); err != nil {
		return err
	}
	if err := write(dir, swap, "0"); err != nil && g.tree.swaps() {
		return fmt.Errorf("keep it from swap: %w", err)
	}
	var err error
	g.limits.MemoryBytes, err = number(dir, file)
	return err
}

// swaps tells whether this machine has swap at all; one that cannot be asked may.
func (t *Tree) swaps() bool {
	data, err := os.ReadFile(filepath.Join(t.proc, "meminfo"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "SwapTotal:" {
			return f[1] != "0"
		}
	}
	return true
}

// Limits are those that the kernel has.
func (g *Group) Limits() record.GroupLimits { return g.limits }

// Version is that of the control groups.
func (g *Group) Version() int { return g.tree.version }

// Place readies the start of a process so that it is in the group before its first
// instruction, and what it forks is too. It is called on the thread that forks, which
// stays locked until leave was called. Version 2 takes the group with the fork; of
// version 1 a thread can be in a group by itself, and what it forks inherits that.
func (g *Group) Place(attr *syscall.SysProcAttr) (leave func() error, err error) {
	if g.tree.version == 2 {
		attr.UseCgroupFD, attr.CgroupFD = true, int(g.handle.Fd())
		return func() error { return nil }, nil
	}
	tid := strconv.Itoa(syscall.Gettid())
	var entered []string
	leave = func() error {
		var errs []error
		for _, c := range entered {
			errs = append(errs, write(g.tree.parents[c], "tasks", tid))
		}
		return errors.Join(errs...)
	}
	for c, dir := range g.dirs {
		if err := write(dir, "tasks", tid); err != nil {
			return nil, errors.Join(fmt.Errorf("enter control group: %w", err), leave())
		}
		entered = append(entered, c)
	}
	return leave, nil
}

// removeTimeout is for processes that were killed and have not quite ended.
const removeTimeout = 5 * time.Second

// Remove removes the group. Its processes must have been ended.
func (g *Group) Remove() error {
	if g.handle != nil {
		g.handle.Close()
		g.handle = nil
	}
	var errs []error
	for c, dir := range g.dirs {
		if err := remove(dir, removeTimeout); err != nil {
			errs = append(errs, fmt.Errorf("remove control group: %w", err))
		}
		delete(g.dirs, c)
	}
	return errors.Join(errs...)
}

func remove(dir string, within time.Duration) error {
	for deadline := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
}

// Sweep removes the groups that runners left which are gone, and names them. One that
// still holds a process stays.
func (t *Tree) Sweep() (removed []string, err error) {
	var errs []error
	var parents []string
	for _, p := range t.parents {
		parents = append(parents, p)
	}
	slices.Sort(parents)
	for _, parent := range slices.Compact(parents) {
		entries, err := os.ReadDir(parent)
		if err != nil {
			return removed, fmt.Errorf("sweep control groups: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() || !t.orphan(e.Name()) {
				continue
			}
			dir := filepath.Join(parent, e.Name())
			if err := remove(dir, 0); err == nil {
				removed = append(removed, dir)
			} else if !errors.Is(err, syscall.EBUSY) {
				errs = append(errs, fmt.Errorf("sweep control groups: %w", err))
			}
		}
	}
	return removed, errors.Join(errs...)
}

// orphan tells whether a name is that of a group whose runner is gone. A process of the
// same number that began at another time is another one.
func (t *Tree) orphan(name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	part := strings.Split(rest, "-")
	if !ok || len(part) != 3 {
		return false
	}
	pid, err := strconv.Atoi(part[0])
	_, err2 := strconv.ParseUint(part[1], 10, 64)
	_, err3 := strconv.ParseUint(part[2], 10, 64)
	return err == nil && err2 == nil && err3 == nil && t.begun(pid) != part[1]
}
