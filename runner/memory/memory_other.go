//go:build !linux

package memory

import (
	"fmt"
	"slices"

	"github.com/shirou/gopsutil/v3/process"

	"gonogo/runner/record"
)

// Method names where the numbers come from. It is archived beside them, because
// numbers of two methods must not be compared.
const Method = "rss"

func tree(root int) ([]int, error) {
	p, err := process.NewProcess(int32(root))
	if err != nil {
		return nil, err
	}
	pids := []int{root}
	for next := []*process.Process{p}; len(next) > 0; next = next[1:] {
		children, err := next[0].Children()
		if err != nil {
			continue // gopsutil reports "no children" and "gone" alike as errors
		}
		for _, c := range children {
			pids = append(pids, int(c.Pid))
		}
		next = append(next, children...)
	}
	slices.Sort(pids)
	return pids, nil
}

// read leaves PSS and USS absent: without them memory that processes share is
// counted once for each.
func read(pids []int) (record.MemoryReading, error) {
	sum := record.MemoryReading{Processes: len(pids)}
	for _, pid := range pids {
		p, err := process.NewProcess(int32(pid))
		if err != nil {
			return record.MemoryReading{}, fmt.Errorf("process %d: %w", pid, err)
		}
		m, err := p.MemoryInfo()
		if err != nil {
			return record.MemoryReading{}, fmt.Errorf("process %d: %w", pid, err)
		}
		sum.RSS += m.RSS
	}
	return sum, nil
}

// peak is unknown: of a process that still lives nothing but its present size is told.
func peak([]int) (*uint64, error) { return nil, nil }
