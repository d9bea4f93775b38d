package cgroup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Tree is where this process may make groups.
type Tree struct {
	version int
	// parents are the folders that groups are made in, by controller. Version 2 has one
	// for all; of version 1 each controller has its own.
	parents map[string]string
	proc    string
	root    string // in front of every path; "" but in tests
}

// Find looks for a place to make groups with these controllers: of version 2 if it has
// them all, else of version 1. It says with a *Missing what there is not.
func Find(controllers ...string) (*Tree, error) { return find("", "/proc", controllers) }

func find(root, proc string, controllers []string) (*Tree, error) {
	mounts, err := readMounts(proc)
	if err != nil {
		return nil, err
	}
	own, err := readOwn(proc)
	if err != nil {
		return nil, err
	}
	t := &Tree{parents: map[string]string{}, proc: proc, root: root}
	second := t.second(mounts, own, controllers)
	if second == nil {
		return t, nil
	}
	first := t.first(mounts, own, controllers)
	switch {
	case first == nil:
		return t, nil
	case first.What == "":
		return nil, second
	}
	return nil, first
}

// Version is that of the control groups: 1 or 2.
func (t *Tree) Version() int { return t.version }

// mount is a hierarchy of groups as this process sees it.
type mount struct {
	root, point string
	controllers []string // of version 1
	second      bool
}

// readMounts reads the hierarchies from mountinfo, see proc_pid_mountinfo(5).
func readMounts(proc string) ([]mount, error) {
	data, err := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	var all []mount
	for line := range strings.Lines(string(data)) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := mount{root: unescape(left[3]), point: unescape(left[4]), second: right[0] == "cgroup2"}
		if right[0] == "cgroup" {
			m.controllers = strings.Split(right[2], ",")
		}
		if m.second || m.controllers != nil {
			all = append(all, m)
		}
	}
	return all, nil
}

// unescape undoes the octal escapes of mountinfo.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// readOwn reads which group of each hierarchy this process is in; "" names version 2's.
func readOwn(proc string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return nil, fmt.Errorf("find own control group: %w", err)
	}
	own := map[string]string{}
	for line := range strings.Lines(string(data)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		for _, c := range strings.Split(part[1], ",") {
			own[c] = part[2]
		}
	}
	return own, nil
}

// folder is where a group of a hierarchy is in the file system. A container may see a
// part of the hierarchy alone, with its own group as the root of it.
func (t *Tree) folder(m mount, group string) (string, bool) {
	rest, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || rest != "" && rest[0] != '/' || strings.Contains(group, "/../") || strings.HasPrefix(group, "/..") {
		return "", false
	}
	return filepath.Join(t.root, m.point, rest), true
}

// first finds the place of each controller in hierarchies of version 1: below the
// runner's own group, so that its limits hold for the targets too. An empty What says
// that there is no such hierarchy.
func (t *Tree) first(mounts []mount, own map[string]string, controllers []string) *Missing {
	for _, c := range controllers {
		i := slices.IndexFunc(mounts, func(m mount) bool { return slices.Contains(m.controllers, c) })
		if i < 0 {
			return &Missing{}
		}
		dir, ok := t.folder(mounts[i], own[c])
		if !ok {
			return &Missing{fmt.Sprintf("this process's own %s group %s is outside of %s", c, own[c], mounts[i].point), "start the container with its own control groups (docker run --cgroupns=private)"}
		}
		if err := writable(dir, "tasks"); err != nil {
			return &Missing{fmt.Sprintf("no group can be made in %s: %v", dir, err), "run it as root; in a container also with /sys/fs/cgroup mounted writable"}
		}
		t.parents[c] = dir
	}
	t.version = 1
	return nil
}

// second finds the place in the hierarchy of version 2. There a group holds processes or
// hands controllers on to groups below it, never both. So it is the runner's own group,
// if that is delegated to it and it is alone there and can step aside; else the nearest
// group above that hands the controllers on already and that this user may use.
func (t *Tree) second(mounts []mount, own map[string]string, controllers []string) *Missing {
	group, ok := own[""]
	i := slices.IndexFunc(mounts, func(m mount) bool { return m.second })
	if i < 0 || !ok {
		return &Missing{"no control groups are mounted", "mount them: mount -t cgroup2 none /sys/fs/cgroup"}
	}
	top, _ := t.folder(mounts[i], cmp.Or(mounts[i].root, "/"))
	home, ok := t.folder(mounts[i], group)
	if !ok {
		return &Missing{fmt.Sprintf("this process's own group %s is outside of %s", group, mounts[i].point), "start the container with its own control groups (docker run --cgroupns=private)"}
	}
	if lacks := without(filepath.Join(home, "cgroup.controllers"), controllers); len(lacks) == 0 && filepath.Base(home) != t.name(0) && t.aside(home, controllers) {
		t.take(home, controllers)
		return nil
	}
	var closed string
	for dir := home; ; dir = filepath.Dir(dir) {
		if len(without(filepath.Join(dir, "cgroup.subtree_control"), controllers)) == 0 {
			err := writable(dir, "cgroup.procs")
			if err == nil {
				t.take(dir, controllers)
				return nil
			}
			closed = cmp.Or(closed, fmt.Sprintf("no group can be made in %s: %v", dir, err))
		}
		if dir == top || len(dir) <= len(top) {
			break
		}
	}
	if lacks := without(filepath.Join(top, "cgroup.controllers"), controllers); len(lacks) > 0 {
		return &Missing{fmt.Sprintf("the control groups of %s have no controller %s", mounts[i].point, strings.Join(lacks, ", ")), "boot with it (cgroup_enable=memory), or give the container access to it"}
	}
	return &Missing{cmp.Or(closed, fmt.Sprintf("no group above %s hands the controllers %s on", home, strings.Join(controllers, ", "))),
		"run it as root, or in a scope of its own: systemd-run --user --scope -p Delegate=yes gonogo ..."}
}

func (t *Tree) take(dir string, controllers []string) {
	t.version = 2
	for _, c := range controllers {
		t.parents[c] = dir
	}
}

// without lists what a space-separated file of a group does not name.
func without(path string, controllers []string) []string {
	data, _ := os.ReadFile(path) // one that cannot be read names none
	has := strings.Fields(string(data))
	return slices.DeleteFunc(slices.Clone(controllers), func(c string) bool { return slices.Contains(has, c) })
}

// aside moves this process into a group below its own and has its own hand the
// controllers on. It does so where nobody else is in it: who is, is not ours to move.
func (t *Tree) aside(home string, controllers []string) bool {
	procs, err := os.ReadFile(filepath.Join(home, "cgroup.procs"))
	if err != nil || strings.TrimSpace(string(procs)) != strconv.Itoa(os.Getpid()) || writable(home, "cgroup.subtree_control") != nil {
		return false
	}
	base := filepath.Join(home, t.name(0))
	if err := os.Mkdir(base, 0o755); err != nil {
		return false
	}
	if err := write(base, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		os.Remove(base)
		return false
	}
	if err := write(home, "cgroup.subtree_control", "+"+strings.Join(controllers, " +")); err != nil {
		write(home, "cgroup.procs", strconv.Itoa(os.Getpid()))
		os.Remove(base)
		return false
	}
	return true
}

// writable asks the kernel; root may write to all that is not mounted read-only.
func writable(dir, file string) error {
	const w = 2
	for _, path := range []string{dir, filepath.Join(dir, file)} {
		if err := syscall.Access(path, w); err != nil {
			return err
		}
	}
	return nil
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
