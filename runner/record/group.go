package record

import (
	"fmt"
	"time"
)

// GroupLimits are what the processes of a target may use together, as those of a
// container: a control group enforces them. 0 is no limit.
type GroupLimits struct {
	CPUs        float64 `json:"cpus,omitempty"`         // CPU time a second, in seconds
	MemoryBytes uint64  `json:"memory_bytes,omitempty"` // page cache and kernel memory included, and no swap beside it
}

// Group is what the kernel said of the control group that a target's processes, and
// no others, were in.
type Group struct {
	Version int          `json:"version"`          // of the control groups: 1 or 2
	Limits  GroupLimits  `json:"limits"`           // as read back from the kernel, which rounds memory down to pages
	Window  *GroupCounts `json:"window,omitempty"` // of the window alone
	Life    GroupCounts  `json:"life"`             // from before the start of the target to its end
}

// GroupCounts are counters of a control group, or what they grew by. What the version
// of the kernel does not tell is absent.
type GroupCounts struct {
	Periods      *uint64 `json:"cpu_periods,omitempty"`       // of the quota in which it ran at all
	Throttled    *uint64 `json:"cpu_throttled,omitempty"`     // of these, that ended with the quota used up
	ThrottledFor *Nanos  `json:"cpu_throttled_ns,omitempty"`  // time stopped, summed over CPUs
	OOMKills     *uint64 `json:"oom_kills,omitempty"`         // processes that the kernel killed for lack of memory
	LimitHits    *uint64 `json:"limit_hits,omitempty"`        // times that memory was asked for and first had to be taken back from the group
	MajorFaults  *uint64 `json:"major_faults,omitempty"`      // pages that had to be read before the program could go on
	Refaults     *uint64 `json:"refaults,omitempty"`          // of the file cache: pages that had been there and were taken back
	Stalled      *Nanos  `json:"memory_stalled_ns,omitempty"` // time in which some of it waited for memory (version 2)
	PeakBytes    *uint64 `json:"peak_bytes,omitempty"`        // the most that was used; of a whole life alone
}

// Since is what the counters grew by since others were read. A peak does not grow.
func (c GroupCounts) Since(before GroupCounts) GroupCounts {
	return GroupCounts{
		Periods: grown(c.Periods, before.Periods), Throttled: grown(c.Throttled, before.Throttled), ThrottledFor: longer(c.ThrottledFor, before.ThrottledFor),
		OOMKills: grown(c.OOMKills, before.OOMKills), LimitHits: grown(c.LimitHits, before.LimitHits), MajorFaults: grown(c.MajorFaults, before.MajorFaults),
		Refaults: grown(c.Refaults, before.Refaults), Stalled: longer(c.Stalled, before.Stalled),
	}
}

func grown(now, before *uint64) *uint64 {
	if now == nil || before == nil || *now < *before {
		return nil
	}
	n := *now - *before
	return &n
}

func longer(now, before *time.Duration) *time.Duration {
	if now == nil || before == nil || *now < *before {
		return nil
	}
	d := *now - *before
	return &d
}

// validate reports limits that no kernel takes.
func (l *GroupLimits) validate() error {
	if l != nil && (!(l.CPUs >= 0) || l.CPUs > 10_000 || l.MemoryBytes > 1<<50) {
		return fmt.Errorf("a control group of %g CPUs and %d bytes", l.CPUs, l.MemoryBytes)
	}
	return nil
}
