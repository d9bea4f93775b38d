package record

import (
	"errors"
	"fmt"
	"time"
)

// Outcome says what became of a run.
type Outcome string

const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"      // the target or the load broke; no number is used
	Void        Outcome = "void"        // it ran, but a check says its numbers mean nothing
	Interrupted Outcome = "interrupted" // stopped by a signal
)

// Run is what one fresh process yielded in one step.
type Run struct {
	SchemaVersion int           `json:"schema_version"`
	Step          Step          `json:"step"`
	Attempt       int           `json:"attempt,omitempty"` // 0, or the how-manieth repeat after a disturbed one
	PlanSHA256    string        `json:"plan_sha256,omitempty"`
	Outcome       Outcome       `json:"outcome"`
	Reason        string        `json:"reason,omitempty"` // why it is not done
	Started       time.Time     `json:"started"`
	Took          time.Duration `json:"took_ns"`
	PIDs          []int         `json:"pids,omitempty"`               // every process of the target when it was ready
	Ready         time.Duration `json:"ready_ns,omitempty"`           // exec to the first right answer with the token
	EnvPadding    int           `json:"env_padding_bytes"`            // random environment size (method D3)
	Settings      *Settings     `json:"settings,omitempty"`           // read back from the live process
	OfferedPerSec float64       `json:"offered_per_sec,omitempty"`    // open loop: the total rate that was asked for
	Load          *LoadResult   `json:"load,omitempty"`               // in a memory run without its latencies
	ServerCPU     *CPUTime      `json:"server_cpu,omitempty"`         // whole tree, window only, two reads at its edges
	ServerCPUOver *Nanos        `json:"server_cpu_over_ns,omitempty"` // time between the two reads: a little more than the window
	Served        *uint64       `json:"served_requests,omitempty"`    // the server's own count in the window
	PerWorker     []uint64      `json:"per_worker,omitempty"`         // Served, worker by worker
	Memory        *MemoryWatch  `json:"memory,omitempty"`             // in memory runs only
	Stop          *Stop         `json:"stop,omitempty"`               //
	LogFile       string        `json:"log_file,omitempty"`           // relative to the session's folder
	LogBytes      int64         `json:"log_bytes"`                    // written by the target in all
	LogInWindow   int64         `json:"log_bytes_in_window"`          //
	LogCut        int64         `json:"log_cut_bytes,omitempty"`      // of LogBytes: from the middle of a log too long to keep
	LogTail       string        `json:"log_tail,omitempty"`           // last lines, when the run failed
	ExitStatus    string        `json:"exit_status,omitempty"`        // when the target ended by itself
	Checks        []Check       `json:"checks,omitempty"`             //
	CPUsAllowed   []int         `json:"cpus_allowed,omitempty"`       // read back from the live processes
	GeneratorPID  int           `json:"generator_pid,omitempty"`      //
	Canary        *Nanos        `json:"canary_ns,omitempty"`          // fixed loop on the CPUs of the group before its first run
	FirstAnswer   *Nanos        `json:"first_answer_ns,omitempty"`    // exec to a right answer of the API itself: an upper bound, for the runner read the process in between
	Environment   *Environment  `json:"environment,omitempty"`        // what else went on in the window
	Hiccups       *Hiccups      `json:"hiccups,omitempty"`            //
	// Traced is how the server's runtime was asked to write its pauses into its log:
	// gctrace (Go) or trace-gc (Node). It is so in confirmation runs alone, for to
	// write is work; such a run counts for maxima and for nothing else.
	Traced       string        `json:"traced,omitempty"`
	ServerPauses []ServerPause `json:"server_pauses,omitempty"` // what the runtime told, within the window, in order of Start
	SampledReads int           `json:"memory_reads_in_window"`  // reads of the target's memory while load ran; 0 in a latency run

	Limits *GroupLimits `json:"group_limits,omitempty"` // that its control group was made for
	Group  *Group       `json:"cgroup,omitempty"`       // the control group that it ran in, if it did

	Overload *OverloadWatch `json:"overload,omitempty"` // in overload runs only
	Profile  *ProfileRun    `json:"profile,omitempty"`  // in profiled runs only
}

// ServerPause is a time in which the runtime of a server's process stopped the
// program, by its own word. It counts from its own start, which is known to lie
// between two moments only: the pause began at Start or up to Late after it.
type ServerPause struct {
	Hiccup
	Late time.Duration `json:"late_ns"`
	PID  int           `json:"pid,omitempty"` // absent where the runtime does not say
}

// Settings are what the live process says of itself on /healthz.
type Settings struct {
	Runtime        string `json:"runtime"` // go, node, bun or deno
	Version        string `json:"version"`
	GOMAXPROCS     int    `json:"gomaxprocs,omitempty"`
	GOGC           string `json:"gogc,omitempty"`
	GOMEMLIMIT     string `json:"gomemlimit,omitempty"`
	Workers        int    `json:"workers,omitempty"`
	WorkerPIDs     []int  `json:"worker_pids,omitempty"`
	HeapLimitBytes uint64 `json:"heap_limit_bytes,omitempty"`
	Delay          string `json:"delay_ms,omitempty"` // where requests wait: 5, 5+5+5 one after the other, 5/5/5 at once
	Variant        string `json:"variant,omitempty"`  // where the server exchanges a part of its program
}

// MemoryWatch is the resident memory of a target's whole process tree.
type MemoryWatch struct {
	Method  string         `json:"method"` // smaps_rollup on Linux
	Idle    *MemoryReading `json:"idle,omitempty"`
	Load    []MemoryAt     `json:"load,omitempty"` // 1/s under load
	LoadEnd *MemoryReading `json:"load_end,omitempty"`
	Rest    *MemoryReading `json:"rest,omitempty"`
	RestFor time.Duration  `json:"rest_for_ns"` // from the end of load to the rest reading
	// Peak sums each process's own VmHWM, read just before the stop. The peaks
	// of several processes need not coincide, so for a cluster it is an upper bound.
	PeakBytes *uint64 `json:"peak_bytes,omitempty"`
	// Cycles are there where work is by count. Then Load holds the readings of all
	// cycles, LoadEnd and Rest are those of the last, and Run.Load sums all loads up.
	Cycles []MemoryCycle `json:"cycles,omitempty"`
}

// MemoryReading sums over the tree. PSS divides shared pages among those who
// map them; RSS counts them once for each process, so its sum is an upper bound.
type MemoryReading struct {
	Processes int     `json:"processes"`
	PSS       *uint64 `json:"pss_bytes,omitempty"`
	USS       *uint64 `json:"uss_bytes,omitempty"`
	RSS       uint64  `json:"rss_bytes"`
	Swap      *uint64 `json:"swap_bytes,omitempty"`
}

// MemoryAt is a reading at a time from the start of load.
type MemoryAt struct {
	At time.Duration `json:"at_ns"`
	MemoryReading
}

// Stop tells how a target was stopped.
type Stop struct {
	Took   time.Duration `json:"took_ns"`
	Killed bool          `json:"killed"` // TERM and the grace time were not enough
}

// Validate reports what makes a run unfit for the archive. A run that measured
// latency while its memory was read, or memory that publishes latency, is not a
// measurement of either.
func (r *Run) Validate(kind Kind) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if r.SchemaVersion != SchemaVersion {
		bad("schema version %d, want %d", r.SchemaVersion, SchemaVersion)
	}
	if r.Step.Target == "" || r.Step.Scenario == "" || r.Step.Block < 1 {
		bad("step %q lacks a target, a scenario or a block", r.Step.Key())
	}
	switch r.Outcome {
	case Done:
		if r.Load == nil {
			bad("done without a load result")
		}
	case Failed, Void, Interrupted:
		if r.Reason == "" {
			bad("%s without a reason", r.Outcome)
		}
	default:
		bad("unknown outcome %q", r.Outcome)
	}
	if kind == Memory {
		if l := r.Load; l != nil && (l.Response != nil || l.Service != nil || l.Miss != nil || len(l.Slowest) > 0 || len(l.Timeline) > 0) {
			bad("a memory run publishes latency")
		}
		if r.Outcome == Done && r.Memory == nil {
			bad("a memory run without memory")
		}
		if err := r.validateCycles(); err != nil {
			bad("%w", err)
		}
	} else if r.Memory != nil || r.SampledReads != 0 {
		bad("a %s run holds a memory sampler", kind)
	}
	if err := r.validateTrial(kind); err != nil {
		bad("%w", err)
	}
	if err := r.Profile.validate(); err != nil {
		bad("%w", err)
	}
	if l := r.Load; l != nil {
		c := l.Counts
		if sum := c.OK + c.Miss + c.Failed + c.TimedOut + c.Unfinished; sum != c.Planned {
			bad("planned %d requests, accounted for %d", c.Planned, sum)
		}
		if c.InWindow > c.Answered() {
			bad("%d replies in the window of %d in all", c.InWindow, c.Answered())
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("validate run %s: %w", r.Step.Key(), errors.Join(errs...))
	}
	return nil
}
