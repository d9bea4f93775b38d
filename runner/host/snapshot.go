package host

import (
	"slices"
	"time"

	"gonogo/runner/record"
)

// Snapshot is what the machine's counters show at one moment. What the system
// does not keep is nil or missing.
type Snapshot struct {
	at        time.Time
	cpus      map[int]cpuTime
	own       *time.Duration // this program, its descendants and their dead children, since boot
	others    map[process]usage
	thermal   map[int]uint64
	running   *uint64 // threads, ours left out
	pressure  map[string]time.Duration
	swap      *uint64
	stops     *uint64
	stopped   *time.Duration
	retrans   *uint64
	overflows *uint64
	timeouts  *uint64
}

// cpuTime is what one CPU has done since boot.
type cpuTime struct{ busy, interrupts, steal time.Duration }

// process tells processes apart, also when a PID is used again. The name is no part
// of it: a kernel worker changes its own with its work.
type process struct {
	pid   int
	start uint64 // clock ticks from boot
}

type usage struct {
	name string
	cpu  time.Duration
}

// maxDisturbers bounds the list; who comes after the third explains nothing.
const maxDisturbers = 3

// Take reads the counters. It looks at every process of the machine, which may
// take tens of milliseconds of CPU: never call it inside a timed window.
func Take() Snapshot { return here().snapshot() }

// Between is how the counters of the CPUs grew from one snapshot to a later one.
func Between(before, after Snapshot, cpus []int) record.Environment {
	e := record.Environment{
		Took: after.at.Sub(before.at), CPUs: cpus,
		Own:  grown(before.own, after.own),
		Swap: grown(before.swap, after.swap), Running: larger(before.running, after.running),
		QuotaStops: grown(before.stops, after.stops), QuotaStopped: grown(before.stopped, after.stopped),
		Retransmits: grown(before.retrans, after.retrans), ListenOverflows: grown(before.overflows, after.overflows),
		TCPTimeouts: grown(before.timeouts, after.timeouts),
		CPUPressure: pressed(before, after, "cpu"), MemoryPressure: pressed(before, after, "memory"), IOPressure: pressed(before, after, "io"),
		Thermal: heated(before, after, cpus),
	}
	if before.others != nil && after.others != nil {
		all := disturbers(before, after)
		var sum time.Duration
		for _, d := range all {
			sum += d.CPU
		}
		e.Others, e.Disturbers = &sum, all[:min(len(all), maxDisturbers)]
	}
	var sum cpuTime
	for _, cpu := range cpus {
		b, known := before.cpus[cpu]
		a, still := after.cpus[cpu]
		if !known || !still {
			return e
		}
		sum.busy += a.busy - b.busy
		sum.interrupts += a.interrupts - b.interrupts
		sum.steal += a.steal - b.steal
	}
	if len(cpus) > 0 {
		e.Busy, e.Interrupts, e.Steal = &sum.busy, &sum.interrupts, &sum.steal
	}
	return e
}

// grown is after - before, unknown if either is, and if the counter fell: then it
// is not the same counter any more.
func grown[N ~int64 | ~uint64](before, after *N) *N {
	if before == nil || after == nil || *after < *before {
		return nil
	}
	n := *after - *before
	return &n
}

func larger(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := max(*a, *b)
	return &n
}

func pressed(before, after Snapshot, what string) *time.Duration {
	b, known := before.pressure[what]
	a, still := after.pressure[what]
	if !known || !still {
		return nil
	}
	return grown(&b, &a)
}

func heated(before, after Snapshot, cpus []int) *uint64 {
	var sum uint64
	for _, cpu := range cpus {
		b, known := before.thermal[cpu]
		a, still := after.thermal[cpu]
		if !known || !still || a < b {
			return nil
		}
		sum += a - b
	}
	if len(cpus) == 0 {
		return nil
	}
	return &sum
}

// disturbers are the others that used CPU between two snapshots, most first. Those
// that came and went in between are not seen; Environment.Busy holds them.
func disturbers(before, after Snapshot) []record.Disturber {
	var list []record.Disturber
	for p, now := range after.others {
		if used := now.cpu - before.others[p].cpu; used > 0 { // a new process has no before: all of its time is new
			list = append(list, record.Disturber{PID: p.pid, Name: now.name, CPU: used})
		}
	}
	slices.SortFunc(list, func(a, b record.Disturber) int {
		if a.CPU != b.CPU {
			return int(b.CPU - a.CPU)
		}
		return a.PID - b.PID
	})
	return list
}
