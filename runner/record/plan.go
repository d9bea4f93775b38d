// Package record is the vocabulary and the file format of gonogo: every type
// that is archived, its JSON, and Validate. It imports the standard library
// only, so that anything may import it.
//
// Units: time.Duration is nanoseconds and its JSON name ends in _ns; sizes end
// in _bytes, rates in _per_sec, fractions in _ratio (0..1). What is unknown is
// absent (nil, or an omitted member), never 0.
package record

import (
	"fmt"
	"slices"
	"time"
)

// SchemaVersion is written into every archived document. It grows when the
// meaning of a member changes, not when a member is added.
const SchemaVersion = 1

// Kind says what a scenario measures and how it loads.
type Kind string

const (
	Closed   Kind = "closed"   // fixed connections, each sends when its reply came: rate and latency under saturation
	Open     Kind = "open"     // requests are due on a schedule, whatever the server does
	Memory   Kind = "memory"   // resident memory under load; publishes no latency
	Capacity Kind = "capacity" // the highest rate that meets the limits
	Scaling  Kind = "scale"    // of a plan alone: one factor over levels

	MemoryFloor Kind = "memory-floor" // the smallest memory limit at which a rate still meets them

	Variants Kind = "variants" // of a plan only: each variant of a server beside the plain one
)

// Plan is what a session will do, written to disk before its first run.
type Plan struct {
	SchemaVersion int           `json:"schema_version"`
	Kit           string        `json:"kit"` // version of gonogo that wrote it
	Quick         bool          `json:"quick"`
	Part          bool          `json:"part,omitempty"` // some of the default targets were left out
	Kind          Kind          `json:"kind,omitempty"` // memory, capacity, scale, memory-floor, variants: of that alone, and no evidence for a decision; absent: a comparison
	Seed          uint64        `json:"seed"`
	Budget        time.Duration `json:"budget_ns"`
	Expected      time.Duration `json:"expected_ns"` // sum of the steps' expected times
	Blocks        int           `json:"blocks"`
	Targets       []Target      `json:"targets"`
	Scenarios     []Scenario    `json:"scenarios"`
	// RequestTimeout is when a request without a reply counts as timed out; it enters
	// the histograms at this value.
	RequestTimeout time.Duration `json:"request_timeout_ns"`
	Rules          Rules         `json:"rules"`
	Primary        []Primary     `json:"primary"`
	Probe          *Scenario     `json:"probe,omitempty"` // run once for each target before block 1
	Steps          []Step        `json:"steps"`           // in the order they run
	// Decision is absent where no pair could carry a decision.
	Decision *DecisionRules `json:"decision,omitempty"`
	Scale    *Scale         `json:"scale,omitempty"` // in a session of scale alone
	// Confirm are steps beyond the last block, of which some run if a maximum has to
	// be confirmed. They run because of what was seen, so they count for maxima alone.
	Confirm []Step `json:"confirm,omitempty"`

	Service *Service `json:"service,omitempty"` // in a session of services that were not written for this kit
	Store   *Store   `json:"store,omitempty"`   // that the targets ask; absent: each has its own in its memory
}

// Confirms reports whether a step is one of Confirm.
func (p *Plan) Confirms(st Step) bool { return slices.Contains(p.Confirm, st) }

// Target is a server variant: how to start it and on which CPUs.
type Target struct {
	Name    string   `json:"name"` // go-1, node-1, go-k, node-cluster-k
	Argv    []string `json:"argv"` // never a shell line
	Env     []string `json:"env"`  // KEY=VALUE, added to a minimal environment
	Workers int      `json:"workers"`
	// Base is the target that this one is compared with, in the same blocks; ""
	// for a base itself.
	Base string `json:"base,omitempty"`
	// Twin marks an A/A twin: the same target as Base under a second label. What
	// differs between the two is noise.
	Twin bool `json:"twin,omitempty"`
	// Variant is what is other than in the plain server, by name; "" for a plain one.
	// Known are the cases of the contract that it answers in its own way, by their
	// names, and Chunked says that it sends users in chunks.
	Variant string   `json:"variant,omitempty"`
	Known   []string `json:"known_differences,omitempty"`
	Chunked bool     `json:"chunked,omitempty"`
	// CPUs of the server and of the generator; empty means not pinned.
	CPUs          []int `json:"cpus,omitempty"`
	GeneratorCPUs []int `json:"generator_cpus,omitempty"`

	Foreign *Foreign `json:"foreign,omitempty"` // of a service that was not written for this kit

	Group   *GroupLimits `json:"cgroup,omitempty"`           // it runs in a control group of its own, with these limits
	Matched bool         `json:"matched_to_limit,omitempty"` // in a search for a memory limit its runtime is told each limit
}

// Shared reports whether the server shares a CPU with the generator, or whether
// nothing keeps them apart. Wherever such a target appears it is labelled.
func (t Target) Shared() bool {
	if t.Remote() { // on a machine of its own, unless it has an address of this one
		return t.onThisMachine()
	}
	if len(t.CPUs) == 0 || len(t.GeneratorCPUs) == 0 {
		return true
	}
	for _, a := range t.CPUs {
		for _, b := range t.GeneratorCPUs {
			if a == b {
				return true
			}
		}
	}
	return false
}

// Scenario is one request mix and one way to load it.
type Scenario struct {
	Name        string    `json:"name"` // get-c50, memory-c300
	Kind        Kind      `json:"kind"`
	Requests    []Request `json:"requests"`
	Connections int       `json:"connections"`
	RatePerSec  float64   `json:"rate_per_sec,omitempty"` // open loop only: the total over all connections
	// RateOfCapacity sets the rate by the probe: this share of the smaller capacity
	// of a target and its base, so that both get the same work.
	RateOfCapacity float64       `json:"rate_of_capacity_ratio,omitempty"`
	Arrivals       string        `json:"arrivals,omitempty"` // open loop only: constant or poisson
	Warmup         time.Duration `json:"warmup_ns"`
	Window         time.Duration `json:"window_ns"`
	Idle           time.Duration `json:"idle_ns,omitempty"` // memory only: from ready to the idle reading
	Rest           time.Duration `json:"rest_ns,omitempty"` // memory only: from the end of load to the rest reading
	Targets        []string      `json:"targets,omitempty"` // who runs it; empty: all
	Work           *MemoryWork   `json:"work,omitempty"`    // memory only: load by count, in place of Window and Rest
	Profile        string        `json:"profile,omitempty"` // in a session of profiles: what the runs' profiler records; "" in a run without one

	Overload *OverloadWork `json:"overload,omitempty"` // open loop in a session of capacity only: the rate is above what was found
}

// Has reports whether a target runs the scenario.
func (s Scenario) Has(target string) bool {
	return len(s.Targets) == 0 || slices.Contains(s.Targets, target)
}

// Request is one member of a mix. Path, Body and WantBody may hold {id}, which
// becomes the same random number 1..IDs in all three; WantBody may hold one
// {digits}, which matches one or more digits that the server chose.
type Request struct {
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Header     map[string]string `json:"header,omitempty"`
	Body       string            `json:"body,omitempty"`
	Weight     int               `json:"weight,omitempty"`      // share in the mix; 0 counts as 1
	WantStatus int               `json:"want_status,omitempty"` // 0: any 2xx
	WantBody   string            `json:"want_body,omitempty"`   // "": any body

	// Ignore names members of a JSON answer in which two services may differ, such as
	// times. They are ignored where answers are compared; the generator does not look.
	Ignore []string `json:"ignore,omitempty"`
}

// Step is one run to be made: target x scenario x block.
type Step struct {
	Index    int    `json:"index"`    // 0-based position in the session
	Block    int    `json:"block"`    // 1-based
	Position int    `json:"position"` // 0-based position in its block
	Target   string `json:"target"`
	Scenario string `json:"scenario"`

	// Trial counts the runs of a search from 1; 0 in a plan, and where nothing is searched.
	Trial int `json:"trial,omitempty"`
}

// Key names the step everywhere: paths, findings, errors.
func (s Step) Key() string {
	key := fmt.Sprintf("%s/%s/b%02d", s.Target, s.Scenario, s.Block)
	if s.Trial > 0 {
		key += fmt.Sprintf("/t%02d", s.Trial)
	}
	return key
}

// Rules are the thresholds that judge a session, archived with the plan before
// the first run. The generator's own limits are not among them, but for the
// duty ratio's: it judges itself without a plan, and each of its checks carries its limit.
type Rules struct {
	ErrorRatioMax      float64      `json:"error_ratio_max"`           // above: the run is failed
	ArtefactMaxFactor  float64      `json:"artefact_max_factor"`       // a maximum above this times the median of its cell's maxima is suspect
	DutyRatioMin       float64      `json:"duty_ratio_min"`            // Little's law, closed loop: rate x mean / connections; for the reader, the generator applies its own
	DutyRatioMax       float64      `json:"duty_ratio_max"`            //
	ServerCPUBusyMin   float64      `json:"server_cpu_busy_min"`       // share of its CPUs a server must use to call a row server-bound
	ChattyBytesPerReq  float64      `json:"chatty_bytes_per_req"`      // log bytes per request that count as load
	Machine            MachineRules `json:"machine"`                   // how quiet the machine must be
	VoidStepsMax       float64      `json:"void_steps_max_ratio"`      // share of the steps that checks may void before the session is incomplete
	RepeatedGroupsMax  float64      `json:"repeated_groups_max_ratio"` // share of the groups that may run again after a void run
	MinBlocksForMedian int          `json:"min_blocks_for_median"`
	GeneratorCPUMax    float64      `json:"generator_cpu_busy_max"` // share of its CPUs above which a generator may be the limit
	WorkerMaxOverMean  float64      `json:"worker_max_over_mean"`   // requests of the busiest worker over the mean: above, a cluster is imbalanced
	WorkerJainMin      float64      `json:"worker_jain_min"`        // Jain's fairness index of requests per worker: below, likewise
	ConfirmStepsMax    int          `json:"confirm_steps_max"`      // of Plan.Confirm, as many run at most
	Steady             SteadyRules  `json:"steady"`                 // when a window still warms up
	UtilisationMax     float64      `json:"utilisation_max"`        // CPU time over what its CPUs can give: above, it was counted wrongly
	SuperLinearMax     float64      `json:"super_linear_max"`       // rate on k cores over k x the rate on one: above, one of the two is wrong
	ForeignPagesMax    float64      `json:"foreign_pages_max"`      // share of a lone process's resident memory that others map too
	Memory             *MemoryRules `json:"memory,omitempty"`       // in a session of memory alone

	Capacity *CapacityRules `json:"capacity,omitempty"` // in a session of capacity
	Profile  *ProfileRules  `json:"profile,omitempty"`  // in a session of profiles
	Scale    *ScaleRules    `json:"scale,omitempty"`    // in a session of scale

	Floor *FloorRules `json:"memory_floor,omitempty"` // in a session of memory floors, which has those of capacity too
}

// SteadyRules say when a cell had not settled in its windows.
type SteadyRules struct {
	// Drift is how much the second half of a window may differ from the first, as a
	// ratio: rates in a closed loop, and the largest latencies of slices in an open one.
	RateDrift    float64       `json:"rate_drift_ratio"`
	LatencyDrift float64       `json:"latency_drift_ratio"`
	LatencyFloor time.Duration `json:"latency_floor_ns"` // a latency that differs by less is no drift
	P            float64       `json:"p_max"`            // over processes; at most: it is no chance
	TrendP       float64       `json:"trend_p_max"`      // Mann-Kendall, within one process; at most: likewise
}

// Rounds is in how many blocks a target runs a scenario.
func (p *Plan) Rounds(target, scenario string) int {
	n := 0
	for _, st := range p.Steps {
		if st.Target == target && st.Scenario == scenario {
			n++
		}
	}
	return n
}

// Target returns the target of that name.
func (p *Plan) Target(name string) (Target, bool) {
	for _, t := range p.Targets {
		if t.Name == name {
			return t, true
		}
	}
	return Target{}, false
}

// Scenario returns the scenario of that name.
func (p *Plan) Scenario(name string) (Scenario, bool) {
	for _, s := range p.Scenarios {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}
