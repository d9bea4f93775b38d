package sut

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

// tick is the unit of /proc/pid/stat: USER_HZ is 100 on every Linux that Go
// runs on.
const tick = 10 * time.Millisecond

// CPU is the processor time used so far by all processes of the target: those
// that PIDs lists, ended threads included, ended children not (Alive reports
// these). The total is exact to the nanosecond; how it splits into user and
// system time is known to 10 ms a process. It reads two numbers of each process and
// disturbs none.
func (p *Process) CPU() (record.CPUTime, error) {
	var sum record.CPUTime
	if p.cmd == nil {
		return sum, fmt.Errorf("read CPU time of %s, which runs elsewhere: %w", p.spec.Target.Name, errors.ErrUnsupported)
	}
	for _, pid := range p.PIDs() {
		c, err := cpuOf(pid)
		if err != nil {
			// That a process is gone is the cause; that it has no clock any more is not.
			return record.CPUTime{}, fmt.Errorf("read CPU time of %s, pid %d: %w", p.spec.Target.Name, pid, cmp.Or(p.Alive(), err))
		}
		sum.User += c.User
		sum.System += c.System
	}
	return sum, nil
}

func cpuOf(pid int) (record.CPUTime, error) {
	// The kernel's MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED), which is what
	// clock_getcpuclockid(3) returns.
	clock := int32(^pid<<3 | 2)
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return record.CPUTime{}, err
	}
	total := time.Duration(ts.Nano())
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return record.CPUTime{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return record.CPUTime{}, err
	}
	system := min(time.Duration(stat.STime)*tick, total)
	return record.CPUTime{User: total - system, System: system}, nil
}

// CPUsAllowed is the union of the CPUs on which the target's threads may run,
// in rising order, as the kernel has it.
func (p *Process) CPUsAllowed() ([]int, error) {
	var union unix.CPUSet
	for _, pid := range p.PIDs() {
		tids, err := threads(pid)
		if err != nil {
			return nil, fmt.Errorf("read CPUs of %s: %w", p.spec.Target.Name, err)
		}
		for _, tid := range tids {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(tid, &set); errors.Is(err, unix.ESRCH) {
				continue // a thread may end at any time
			} else if err != nil {
				return nil, fmt.Errorf("read CPUs of %s, thread %d: %w", p.spec.Target.Name, tid, err)
			}
			for i := range union {
				union[i] |= set[i]
			}
		}
	}
	var cpus []int
	for c := range 1024 { // what a CPUSet holds
		if union.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}
