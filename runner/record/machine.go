package record

import "time"

// Limits are the two thresholds of a gate. Above Warn a number is doubtful;
// above Fail it carries no verdict.
type Limits struct {
	Warn float64 `json:"warn"`
	Fail float64 `json:"fail"`
}

// MachineRules say how quiet a machine must be. Ratios of CPU time are shares of
// one CPU, unless said otherwise.
type MachineRules struct {
	ForeignCPU     Limits `json:"foreign_cpu_ratio"`        // time that others used on the CPUs of servers and generators
	ForeignInRun   Limits `json:"foreign_cpu_in_run_ratio"` // likewise in a window, where only what living processes are charged can be told from our own
	Unaccounted    Limits `json:"unaccounted_cpu_ratio"`    // in a window: time that the CPUs were busy and nobody living was charged for
	Steal          Limits `json:"steal_ratio"`              // time that the hypervisor gave to others, of all the CPUs' time
	Running        Limits `json:"running"`                  // threads on a CPU or waiting for one, ours left out
	CPUPressure    Limits `json:"cpu_pressure_ratio"`       // share of the time in which some task waited for a CPU
	MemoryPressure Limits `json:"memory_pressure_ratio"`    // likewise for memory
	IOPressure     Limits `json:"io_pressure_ratio"`        // likewise for a disk
	Swap           Limits `json:"swap_pages"`               // in and out
	Thermal        Limits `json:"thermal_events"`           // times the processor slowed down to cool
	QuotaStops     Limits `json:"quota_stops"`              // times a CPU quota stopped us
	Hiccup         Limits `json:"hiccup_ns"`                // the longest that a thread with nothing to do woke too late
	Canary         Limits `json:"canary_deviation_ratio"`   // of a fixed loop from its median in the session
}

// Environment is what the machine's counters grew by between two moments.
// Counters that the system does not keep are absent.
type Environment struct {
	Took time.Duration `json:"took_ns"`
	CPUs []int         `json:"cpus"` // what Busy, Interrupts, Steal and Thermal are of
	// Busy is time in user space and kernel by whomever; Own is the part that this
	// program, its descendants and their dead children used on any CPU.
	Busy       *Nanos `json:"busy_ns,omitempty"`
	Own        *Nanos `json:"own_ns,omitempty"`
	Interrupts *Nanos `json:"interrupts_ns,omitempty"` // not in Busy; under load most of it serves our own packets
	Steal      *Nanos `json:"steal_ns,omitempty"`
	// Others is what all other processes that live at the end were charged, on any CPU.
	Others *Nanos `json:"others_ns,omitempty"`
	// Running is the larger of two counts, one at each moment, not a growth.
	Running         *uint64     `json:"running,omitempty"`
	CPUPressure     *Nanos      `json:"cpu_pressure_ns,omitempty"`
	MemoryPressure  *Nanos      `json:"memory_pressure_ns,omitempty"`
	IOPressure      *Nanos      `json:"io_pressure_ns,omitempty"`
	Swap            *uint64     `json:"swap_pages,omitempty"`
	Thermal         *uint64     `json:"thermal_events,omitempty"`
	QuotaStops      *uint64     `json:"quota_stops,omitempty"`
	QuotaStopped    *Nanos      `json:"quota_stopped_ns,omitempty"`
	Retransmits     *uint64     `json:"tcp_retransmits,omitempty"`
	ListenOverflows *uint64     `json:"tcp_listen_overflows,omitempty"`
	TCPTimeouts     *uint64     `json:"tcp_timeouts,omitempty"`
	Disturbers      []Disturber `json:"disturbers,omitempty"` // who else used CPU, most first
}

// Foreign is the CPU time that others used on the CPUs while we were at rest; false
// if unknown. Under load it is worthless: the kernel charges a process for the
// packets it handles on its way, and Busy leaves them out.
func (e Environment) Foreign() (time.Duration, bool) {
	if e.Busy == nil || e.Own == nil {
		return 0, false
	}
	return max(0, *e.Busy-*e.Own), true
}

// Unaccounted is the time under load in which the CPUs were busy and no process that
// lives was charged: that of others which came and went. Busy is sampled at the
// clock's ticks, so it is good to some percent of a CPU, and far too small where
// CPUs idle between short bursts; what is negative counts as none.
func (e Environment) Unaccounted() (time.Duration, bool) {
	if e.Busy == nil || e.Interrupts == nil || e.Own == nil || e.Others == nil {
		return 0, false
	}
	return max(0, *e.Busy+*e.Interrupts-*e.Own-*e.Others), true
}

// Disturber is a process that is not ours.
type Disturber struct {
	PID  int           `json:"pid"`
	Name string        `json:"name"`
	CPU  time.Duration `json:"cpu_ns"` // used between the two moments, on any CPU
}

// Hiccups is what the meter saw: a thread on each CPU that sleeps for 1 ms over
// and over, and notes when it woke more than 1 ms late. All times are of
// CLOCK_MONOTONIC, as is LoadResult.StartMonotonic on the same machine.
type Hiccups struct {
	Start time.Duration `json:"start_monotonic_ns"`
	End   time.Duration `json:"end_monotonic_ns"`
	CPUs  []CPUHiccups  `json:"cpus"`
}

// MeterEvent is a line that a meter process prints on stdout: "ready" when all its
// CPUs are being watched, and "result" after a line or the end of its input.
type MeterEvent struct {
	Event  string   `json:"event"` // ready, result
	Result *Hiccups `json:"result,omitempty"`
}

// CPUHiccups are those of one CPU, in order of time.
type CPUHiccups struct {
	CPU    int           `json:"cpu"`
	Wakes  uint64        `json:"wakes"`
	Max    time.Duration `json:"max_ns"` // latest wake, also when it is no event
	Events []Hiccup      `json:"events,omitempty"`
	Lost   uint64        `json:"lost,omitempty"` // events there was no room for; Max knows them
}

// Hiccup is a time in which a CPU did not run a thread that was due.
type Hiccup struct {
	Start  time.Duration `json:"start_monotonic_ns"` // when the thread was due
	Length time.Duration `json:"length_ns"`
}
