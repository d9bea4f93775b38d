package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// machine is where facts are read: a root folder with proc and sys in it, and
// the CPUs this process may use, ascending. Tests put another machine there.
type machine struct {
	root string
	cpus []int
}

func (m machine) path(name string) string { return filepath.Join(m.root, name) }

// read returns a small file without the space around it, or "" and false.
func (m machine) read(name string) (string, bool) {
	b, err := os.ReadFile(m.path(name))
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(b)), true
}

// readUint returns a file that holds one number.
func (m machine) readUint(name string) (uint64, bool) {
	s, ok := m.read(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// cpuFile is a file of one CPU, such as topology/core_id.
func cpuFile(cpu int, name string) string {
	return fmt.Sprintf("sys/devices/system/cpu/cpu%d/%s", cpu, name)
}

// parseList reads the kernel's form of a set of CPUs: "0-3,8,10-11", ascending.
func parseList(s string) ([]int, error) {
	var list []int
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil, fmt.Errorf("parse CPU list %q: %w", s, err)
		}
		b, err := strconv.Atoi(to)
		if err != nil {
			return nil, fmt.Errorf("parse CPU list %q: %w", s, err)
		}
		if a < 0 || b < a || b > maxCPU {
			return nil, fmt.Errorf("parse CPU list %q: %w", s, errors.New("not a range of CPUs"))
		}
		for cpu := a; cpu <= b; cpu++ {
			list = append(list, cpu)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// maxCPU is the largest number that any kernel gives a CPU (CONFIG_NR_CPUS).
const maxCPU = 8191
