// Package memory reads the resident memory of a target's whole process tree.
//
// Reading walks the page tables of every process under its memory lock, so it
// disturbs what it reads: it belongs in memory runs, never in latency runs, and
// at most about once a second.
package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonogo/runner/record"
)

// watched is the room that Watch sets aside before it starts: at one reading a
// second, longer than any window.
const watched = 1024

// Tree returns the process root and all its descendants, in ascending order,
// and on Linux whoever else is in the process group that root leads: a worker
// whose parent has died is nobody's descendant but still part of the target.
// Dead processes that nobody has reaped hold no memory and are left out.
//
// Tree looks at every process of the machine. Call it once, when the target is
// ready, and hand its result to Read.
func Tree(root int) ([]int, error) {
	pids, err := tree(root)
	if err != nil {
		return nil, fmt.Errorf("find processes of %d: %w", root, err)
	}
	return pids, nil
}

// Read sums the memory of the processes, in bytes. PSS, USS and swap are absent
// where the system does not tell them.
//
// A process that has gone is an error that names it: a sum over those who are
// left would look like memory given back.
func Read(pids []int) (record.MemoryReading, error) {
	if len(pids) == 0 {
		return record.MemoryReading{}, errors.New("read memory: no processes")
	}
	sum, err := read(pids)
	if err != nil {
		return record.MemoryReading{}, fmt.Errorf("read memory: %w", err)
	}
	return sum, nil
}

// Peak sums the highest resident size that each process has had since its own
// exec, in bytes; nil where the system keeps no such account. The processes need
// not have peaked at the same time, so for several it is an upper bound.
//
// Call it just before the target is stopped: the account dies with the process,
// and what wait4 then reports as ru_maxrss also covers the time before exec, when
// the child still was a copy of this program with all its memory.
func Peak(pids []int) (*uint64, error) {
	if len(pids) == 0 {
		return nil, errors.New("read peak memory: no processes")
	}
	sum, err := peak(pids)
	if err != nil {
		return nil, fmt.Errorf("read peak memory: %w", err)
	}
	return sum, nil
}

// Series is a watch that is going on.
type Series struct {
	done     chan struct{}
	readings []record.MemoryAt
	err      error
}

// Watch reads at once and then at every multiple of interval (> 0) after the
// call, until ctx is done. The times of its readings count from the call.
// Readings that fall due while one is being taken are skipped, not made up for.
func Watch(ctx context.Context, pids []int, interval time.Duration) *Series {
	s := &Series{done: make(chan struct{}), readings: make([]record.MemoryAt, 0, watched)}
	start := time.Now()
	go func() {
		defer close(s.done)
		s.err = s.run(ctx, pids, start, interval)
	}()
	return s
}

// Wait returns the series once ctx of Watch is done. It returns sooner if a
// process has gone: the series up to then, and the error of Read.
func (s *Series) Wait() ([]record.MemoryAt, error) {
	<-s.done
	return s.readings, s.err
}

func (s *Series) run(ctx context.Context, pids []int, start time.Time, interval time.Duration) error {
	if interval <= 0 {
		return fmt.Errorf("watch memory: interval %v, want more than 0", interval)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		at := time.Since(start)
		sum, err := Read(pids)
		if ctx.Err() != nil { // the target may have been stopped while it was being read
			return nil
		}
		if err != nil {
			return err
		}
		s.readings = append(s.readings, record.MemoryAt{At: at, MemoryReading: sum})
		timer.Reset(interval - time.Since(start)%interval)
	}
}
