package record

import "fmt"

// FloorRules say how the smallest memory limit is searched for that a target still meets
// the limits of a capacity at (method R8).
type FloorRules struct {
	Lowest  uint64  `json:"lowest_bytes"`      // too little by assumption; it is tried only to confirm that
	Ceiling uint64  `json:"ceiling_bytes"`     // the first limit; what does not pass here passes nowhere
	Step    uint64  `json:"step_bytes"`        // ends so far apart end the bisection,
	Bracket float64 `json:"bracket_max_ratio"` // or so far as a share, whichever is more
	High    Votes   `json:"high"`              // fresh processes at the high end, and how many must pass
	Low     Votes   `json:"low"`               // at the low end, and how many must fail

	UnfitMax  int `json:"unfit_max"`  // trials at one limit that tell nothing before the search gives up
	TrialsMax int `json:"trials_max"` // of one search

	// What a runtime that is matched is told of the limit.
	GoShare  float64 `json:"gomemlimit_ratio"` // GOMEMLIMIT
	OldSpace float64 `json:"old_space_ratio"`  // --max-old-space-size, divided by the workers

	// A trial that fails stalled in reclaim if some of it waited for memory for this share of
	// the window, or, where the kernel tells no such time, if pages that had been taken
	// from it came back at this rate.
	StallMin  float64 `json:"stall_min_ratio"`
	FaultsMin float64 `json:"faults_min_per_sec"`
}

// Searched reports whether a scenario of the kind is a search: a step of it is many
// trials, which differ by what is searched for and are no sample of one distribution.
func (k Kind) Searched() bool { return k == Capacity || k == MemoryFloor }

// validate reports what makes a search impossible, or endless.
func (r *FloorRules) validate() error {
	within := func(x, least, most float64) bool { return x > least && x <= most }
	votes := func(v Votes) bool { return v.Need >= 1 && v.Need <= v.Of && v.Of <= 1000 }
	switch {
	case r == nil:
		return nil
	case r.Lowest < 1<<20 || r.Ceiling <= r.Lowest || r.Ceiling > 1<<50 || r.Step < 1<<20 || !within(r.Bracket, 0, 10):
		return fmt.Errorf("a search for a memory limit is between %d and %d bytes, to %d or %g", r.Lowest, r.Ceiling, r.Step, r.Bracket)
	case !votes(r.High) || !votes(r.Low) || r.UnfitMax < 1 || r.TrialsMax < 1 || r.TrialsMax > 1000:
		return fmt.Errorf("a search for a memory limit asks %d of %d, %d of %d, and gives up after %d or %d", r.High.Need, r.High.Of, r.Low.Need, r.Low.Of, r.UnfitMax, r.TrialsMax)
	case !within(r.GoShare, 0, 1) || !within(r.OldSpace, 0, 1) || !(r.StallMin > 0) || !(r.FaultsMin > 0):
		return fmt.Errorf("a search for a memory limit tells runtimes %g and %g of it, and stalls at %g or %g", r.GoShare, r.OldSpace, r.StallMin, r.FaultsMin)
	}
	return nil
}
