package record

import (
	"fmt"
	"slices"
	"time"
)

// MemoryWork is the load of a memory scenario by count: every target gets the same
// requests and is done when it has answered them. By time the faster one would
// have done, and on POST would hold, more (method R5).
type MemoryWork struct {
	Requests uint64 `json:"requests"`         // in each cycle
	Stores   bool   `json:"stores,omitempty"` // each right answer adds a user, and the store is counted afterwards
	Cycles   int    `json:"cycles"`           // of load and rest, in one process
	// Rests are the instants after the end of each load at which memory is read, ascending.
	Rests []time.Duration `json:"rests_ns,omitempty"`
	// Alternate runs the sampler in cycles 1, 4, 5, 8, 9 and so on only: neighbours differ
	// in nothing else, so what differs between them is what reading costs.
	Alternate bool `json:"alternate_sampler,omitempty"`
}

// Sampled reports whether memory is read under the load of a cycle, counted from 0.
func (w MemoryWork) Sampled(cycle int) bool { return !w.Alternate || cycle%4 == 0 || cycle%4 == 3 }

// MemoryRules say when memory grows and when its readings cost something.
type MemoryRules struct {
	GrowthMin      float64 `json:"growth_min_ratio"`       // a cycle; a slope above it matters
	GrowthP        float64 `json:"growth_p_max"`           // Mann-Kendall, within one process; below it the order is no chance
	GrowthCycles   int     `json:"growth_cycles_min"`      // fewer are shown and carry no claim
	SamplerCostMax float64 `json:"sampler_cost_max_ratio"` // what reading memory may cost in rate or CPU per request
}

// MemoryCycle is one load and the rest after it.
type MemoryCycle struct {
	Counts Counts        `json:"counts"`
	Took   time.Duration `json:"took_ns"` // from the first send to the last reply
	Reads  int           `json:"memory_reads"`
	// ServerCPU is of the whole tree, of the load alone, where the sampler alternates.
	ServerCPU *CPUTime       `json:"server_cpu,omitempty"`
	Users     *uint64        `json:"users,omitempty"` // in store after the load, summed over workers
	LoadEnd   *MemoryReading `json:"load_end,omitempty"`
	Rests     []MemoryAt     `json:"rests,omitempty"` // their times count from the end of the load
}

// validate reports what makes a scenario impossible.
func (s Scenario) validate() error {
	w := s.Work
	switch {
	case w == nil:
		return nil
	case s.Kind != Memory:
		return fmt.Errorf("scenario %s is %s and has work by count, which is for memory alone", s.Name, s.Kind)
	case w.Requests == 0 || w.Cycles < 1:
		return fmt.Errorf("scenario %s asks %d requests in %d cycles", s.Name, w.Requests, w.Cycles)
	case !slices.IsSorted(w.Rests) || len(w.Rests) > 0 && w.Rests[0] <= 0:
		return fmt.Errorf("scenario %s rests at %v, want ascending times after the load", s.Name, w.Rests)
	case w.Alternate && w.Cycles%2 != 0:
		return fmt.Errorf("scenario %s alternates its sampler in %d cycles, want pairs", s.Name, w.Cycles)
	}
	return nil
}

// validateCycles holds the cycles of a run against its own sums.
func (r *Run) validateCycles() error {
	if r.Memory == nil || len(r.Memory.Cycles) == 0 || r.Load == nil || r.Outcome != Done {
		return nil
	}
	var planned, right uint64
	reads := 0
	for _, c := range r.Memory.Cycles {
		planned, right, reads = planned+c.Counts.Planned, right+c.Counts.Answered(), reads+c.Reads
	}
	if l := r.Load.Counts; planned != l.Planned || right != l.Answered() {
		return fmt.Errorf("the cycles sum up to %d requests and %d answers, the run to %d and %d", planned, right, l.Planned, l.Answered())
	}
	if reads != r.SampledReads {
		return fmt.Errorf("the cycles sum up to %d readings, the run to %d", reads, r.SampledReads)
	}
	return nil
}

// follows reports whether a finished run has the cycles that its scenario asks for.
func (s Scenario) follows(r *Run) error {
	w := s.Work
	if w == nil || r.Outcome != Done || r.Memory == nil {
		return nil
	}
	if len(r.Memory.Cycles) != w.Cycles {
		return fmt.Errorf("run %s has %d cycles, its scenario %d", r.Step.Key(), len(r.Memory.Cycles), w.Cycles)
	}
	for i, c := range r.Memory.Cycles {
		if len(c.Rests) != len(w.Rests) || c.Counts.Planned != w.Requests || c.Reads > 0 && !w.Sampled(i) {
			return fmt.Errorf("run %s: cycle %d has %d requests, %d rests and %d readings, which its scenario does not ask for",
				r.Step.Key(), i+1, c.Counts.Planned, len(c.Rests), c.Reads)
		}
	}
	return nil
}
