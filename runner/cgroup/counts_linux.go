package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Read reads the counters of the group. What this kernel does not count is absent.
func (g *Group) Read() (record.GroupCounts, error) {
	var c record.GroupCounts
	var errs []error
	if dir, ok := g.dirs[CPU]; ok && g.limits.CPUs > 0 {
		errs = append(errs, readThrottling(&c, dir))
	}
	if dir, ok := g.dirs[Memory]; ok && g.limits.MemoryBytes > 0 {
		if g.tree.version == 2 {
			errs = append(errs, readMemory2(&c, dir))
		} else {
			errs = append(errs, readMemory1(&c, dir))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("read control group: %w", err)
	}
	return c, nil
}

// readThrottling: the time is nanoseconds as throttled_time in version 1, and
// microseconds as throttled_usec in version 2.
func readThrottling(c *record.GroupCounts, dir string) error {
	stat, err := table(dir, "cpu.stat")
	c.Periods, c.Throttled = stat["nr_periods"], stat["nr_throttled"]
	if n := stat["throttled_time"]; n != nil {
		c.ThrottledFor = span(*n, time.Nanosecond)
	} else if n := stat["throttled_usec"]; n != nil {
		c.ThrottledFor = span(*n, time.Microsecond)
	}
	return err
}

// readMemory1: oom_kill is there since Linux 4.13; version 1 knows no pressure.
func readMemory1(c *record.GroupCounts, dir string) error {
	kills, err := table(dir, "memory.oom_control")
	stat, err2 := table(dir, "memory.stat")
	hits, err3 := number(dir, "memory.failcnt")
	c.OOMKills, c.MajorFaults = kills["oom_kill"], stat["pgmajfault"]
	if c.Refaults = stat["workingset_refault_file"]; c.Refaults == nil {
		c.Refaults = stat["workingset_refault"]
	}
	if err3 == nil {
		c.LimitHits = &hits
	}
	if peak, err := number(dir, "memory.max_usage_in_bytes"); err == nil {
		c.PeakBytes = &peak
	}
	return errors.Join(err, err2, err3)
}

// readMemory2: memory.peak is there since Linux 5.19, memory.pressure where the kernel
// was built with PSI and not told to leave it off.
func readMemory2(c *record.GroupCounts, dir string) error {
	events, err := table(dir, "memory.events")
	stat, err2 := table(dir, "memory.stat")
	c.OOMKills, c.LimitHits = events["oom_kill"], events["max"]
	c.MajorFaults, c.Refaults = stat["pgmajfault"], stat["workingset_refault_file"]
	if peak, err := number(dir, "memory.peak"); err == nil {
		c.PeakBytes = &peak
	}
	if data, err := os.ReadFile(filepath.Join(dir, "memory.pressure")); err == nil {
		c.Stalled = someTotal(string(data))
	}
	return errors.Join(err, err2)
}

// someTotal reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds.
func someTotal(text string) *record.Nanos {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "some "); ok {
			_, total, _ := strings.Cut(rest, "total=")
			if n, err := strconv.ParseUint(strings.TrimSpace(total), 10, 63); err == nil {
				return span(n, time.Microsecond)
			}
		}
	}
	return nil
}

func span(n uint64, unit time.Duration) *record.Nanos {
	d := time.Duration(n) * unit
	return &d
}

// table reads a file of lines "name number".
func table(dir, file string) (map[string]*uint64, error) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	all := map[string]*uint64{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			all[name] = &n
		}
	}
	return all, nil
}

func number(dir, file string) (uint64, error) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", filepath.Join(dir, file), err)
	}
	return n, nil
}
