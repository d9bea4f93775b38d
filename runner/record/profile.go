package record

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Profiling is the kind of a session that asks where servers spend their time and
// their memory. Its runs carry profilers, so no number of them is one of a comparison.
const Profiling Kind = "profile"

// What the profiler of a scenario records. Each has a fresh process of its own.
const (
	ProfileCPU    = "cpu"    // Go: pprof, 100 samples a second of CPU time. Node: --cpu-prof, one each ms of wall time
	ProfileMemory = "memory" // Go: heap profiles at both edges of the window. Node: the inspector's sampling of allocations in it
	ProfileHeap   = "heap"   // Node: --heap-prof, what lives when the process ends
	ProfileWaits  = "waits"  // Go: block and mutex profiles at both edges. Node: the delay of the event loop
	ProfileTrace  = "trace"  // Go: an execution trace of the first second
)

// The vectors that a profile yields, and what their values count.
const (
	VectorCPU    = "cpu"    // ns; of Node of wall time in which its thread was not idle
	VectorAlloc  = "alloc"  // bytes allocated in the window
	VectorLive   = "live"   // bytes; Go: more at the end of the window than at its begin. Node: at the end of the process
	VectorLock   = "lock"   // ns waited for a mutex, by who waited
	VectorBlock  = "block"  // ns waited for channels, conditions and the like, by who waited
	VectorMutex  = "mutex"  // ns that others waited, by who held the lock
	CategoryIdle = "idle"   // of Node's cpu vector: it waited for events; in no total
	LockCategory = "lock"   // waits for a mutex; of the cpu vector: what locking itself takes
	GCCategory   = "gc"     //
	AllocCost    = "malloc" // of the cpu vector: allocation itself
)

// ProfileRules are the limits of the diagnosis, archived before the first run.
type ProfileRules struct {
	BusyMin     float64       `json:"busy_min_ratio"`         // of its CPUs: from here on work is the limit
	IdleMax     float64       `json:"idle_max_ratio"`         // of its CPUs: below, with every connection waiting, it waits and does not work
	LockMin     float64       `json:"lock_min_ratio"`         // of a request's mean time: waits for locks
	GCMin       float64       `json:"gc_min_ratio"`           // of the CPU samples: allocation and collection
	LiveMin     float64       `json:"live_min_bytes_per_req"` // that stay after a collection
	LiveLeast   int64         `json:"live_least_bytes"`       // less is within what sampling can tell
	LoopMin     time.Duration `json:"loop_delay_min_ns"`      // p99 of the delay of the event loop
	LoopFactor  float64       `json:"loop_delay_factor"`      // and this times what serving every connection once takes
	LatencyMean float64       `json:"p99_over_work"`          // p99 over what serving every connection once takes
}

// ProfileRun is what a profiler yielded in one run. All of it but Argv and Env follows
// from the files, which are in the archive.
type ProfileRun struct {
	Of       string          `json:"of"`
	Runtime  string          `json:"runtime"`       // go or node
	Argv     []string        `json:"argv"`          // of the profiled process; {dir} stands for the folder of Files
	Env      []string        `json:"env,omitempty"` // added for the profiler
	Files    []ProfileFile   `json:"files"`
	Vectors  []ProfileVector `json:"vectors,omitempty"`
	Loop     *EventLoop      `json:"event_loop,omitempty"`
	LiveHeap *LiveHeap       `json:"live_heap,omitempty"`
}

// ProfileFile is a raw profile in the archive.
type ProfileFile struct {
	Name   string `json:"name"` // relative to the session's folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ProfileVector is one kind of profile, summed by function.
type ProfileVector struct {
	Name       string           `json:"name"`
	Unit       string           `json:"unit"`  // ns or bytes
	Total      int64            `json:"total"` // of all functions, kept or not
	Samples    int64            `json:"samples"`
	Functions  []Function       `json:"functions"`            // the largest by self and by cumulative value; by self, then by name
	Functioned int              `json:"functions_in_all"`     //
	Categories map[string]int64 `json:"categories,omitempty"` // they add up to Total
}

// Function is one function's part of a vector. A function that calls itself counts once
// in a sample.
type Function struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	Self     int64  `json:"self"`       // in it
	Cum      int64  `json:"cumulative"` // in it and in what it called
}

// EventLoop is how late the timers of a Node process ran in the window: whatever holds
// its one thread delays all requests alike. Of several processes the worst.
type EventLoop struct {
	Processes   int           `json:"processes"`
	Samples     uint64        `json:"samples"`
	Mean        time.Duration `json:"mean_ns"`
	P50         time.Duration `json:"p50_ns"`
	P99         time.Duration `json:"p99_ns"`
	Max         time.Duration `json:"max_ns"`
	Utilisation float64       `json:"utilisation"` // share of the window in which the loop did not wait for events
}

// LiveHeap is the heap in use after a collection, at both edges of the window.
type LiveHeap struct {
	Begin int64 `json:"begin_bytes"`
	End   int64 `json:"end_bytes"`
}

// Vector returns the vector of that name.
func (p *ProfileRun) Vector(name string) (ProfileVector, bool) {
	if p != nil {
		for _, v := range p.Vectors {
			if v.Name == name {
				return v, true
			}
		}
	}
	return ProfileVector{}, false
}

// validate reports what makes a profile of a stranger's archive none of ours.
func (p *ProfileRun) validate() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, f := range p.Files {
		if !fs.ValidPath(f.Name) {
			errs = append(errs, fmt.Errorf("profile file %q is not relative to the archive", f.Name))
		}
	}
	for _, v := range p.Vectors {
		var sum int64
		for _, n := range v.Categories {
			if n < 0 {
				errs = append(errs, fmt.Errorf("profile vector %s: a category of %d", v.Name, n))
			}
			sum += n
		}
		if v.Total < 0 || len(v.Categories) > 0 && sum != v.Total {
			errs = append(errs, fmt.Errorf("profile vector %s: categories add up to %d of %d", v.Name, sum, v.Total))
		}
		for _, f := range v.Functions {
			if f.Self < 0 || f.Self > f.Cum || f.Cum > v.Total {
				errs = append(errs, fmt.Errorf("profile vector %s: function %q has %d itself and %d in all, of %d", v.Name, f.Name, f.Self, f.Cum, v.Total))
			}
		}
	}
	return errors.Join(errs...)
}
