package memory

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/prometheus/procfs"

	"gonogo/runner/record"
)

// Method names where the numbers come from. It is archived beside them, because
// numbers of two methods must not be compared.
const Method = "smaps_rollup"

// errGone is what happened to a process that no longer can be read.
var errGone = errors.New("process has gone")

func tree(root int) ([]int, error) { return proc("/proc").tree(root) }

func read(pids []int) (record.MemoryReading, error) { return proc("/proc").read(pids) }

func peak(pids []int) (*uint64, error) { return proc("/proc").peak(pids) }

// proc is where procfs is mounted.
type proc string

func (m proc) tree(root int) ([]int, error) {
	fs, err := procfs.NewFS(string(m))
	if err != nil {
		return nil, err
	}
	all, err := fs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	var group []int
	alive := false
	for _, p := range all {
		st, err := p.Stat()
		if err != nil || st.State == "Z" || st.State == "X" {
			continue // ended since the listing; if it is the root, alive stays false
		}
		alive = alive || p.PID == root
		children[st.PPID] = append(children[st.PPID], p.PID)
		if st.PGRP == root {
			group = append(group, p.PID)
		}
	}
	if !alive {
		return nil, errGone
	}
	seen := map[int]bool{}
	for next := append(group, root); len(next) > 0; {
		pid := next[0]
		next = next[1:]
		if !seen[pid] {
			seen[pid] = true
			next = append(next, children[pid]...)
		}
	}
	pids := make([]int, 0, len(seen))
	for pid := range seen {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids, nil
}

func (m proc) read(pids []int) (record.MemoryReading, error) {
	fs, err := procfs.NewFS(string(m))
	if err != nil {
		return record.MemoryReading{}, err
	}
	var pss, uss, rss, swap uint64
	for _, pid := range pids {
		s, err := m.rollup(fs, pid)
		if err != nil {
			return record.MemoryReading{}, fmt.Errorf("process %d: %w", pid, err)
		}
		pss += s.Pss
		uss += s.PrivateClean + s.PrivateDirty
		rss += s.Rss
		swap += s.Swap
	}
	return record.MemoryReading{Processes: len(pids), PSS: &pss, USS: &uss, RSS: rss, Swap: &swap}, nil
}

func (m proc) rollup(fs procfs.FS, pid int) (procfs.ProcSMapsRollup, error) {
	// Without this look procfs would fall back to summing /proc/PID/smaps, and
	// takes the end of a dying process's file for the end of its memory.
	if _, err := os.Stat(string(m) + "/" + strconv.Itoa(pid) + "/smaps_rollup"); err != nil {
		return procfs.ProcSMapsRollup{}, gone(err)
	}
	p, err := fs.Proc(pid)
	if err != nil {
		return procfs.ProcSMapsRollup{}, gone(err)
	}
	s, err := p.ProcSMapsRollup()
	if err != nil {
		return procfs.ProcSMapsRollup{}, gone(err)
	}
	if s.Rss == 0 || s.Pss == 0 {
		return procfs.ProcSMapsRollup{}, errors.New("smaps_rollup shows no memory")
	}
	return s, nil
}

func (m proc) peak(pids []int) (*uint64, error) {
	fs, err := procfs.NewFS(string(m))
	if err != nil {
		return nil, err
	}
	var sum uint64
	for _, pid := range pids {
		p, err := fs.Proc(pid)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, gone(err))
		}
		st, err := p.NewStatus()
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, gone(err))
		}
		if st.VmHWM == 0 { // a dead process that is not yet reaped has a status without sizes
			return nil, fmt.Errorf("process %d: %w", pid, errGone)
		}
		sum += st.VmHWM
	}
	return &sum, nil
}

// gone puts what the kernel says of a process that has ended, before and after
// it is reaped, into one word.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return errGone
	}
	return err
}
