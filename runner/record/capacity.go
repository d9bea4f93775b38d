package record

import (
	"fmt"
	"time"
)

// CapacityRules say when a rate is met, and how the highest such rate is searched
// for (method P1, P2).
type CapacityRules struct {
	// What a trial is held against; all shares are of the requests that were due.
	AchievedMin float64       `json:"achieved_min_ratio"` // right answers within the window
	ErrorsMax   float64       `json:"errors_max_ratio"`   // wrong answers and none in time
	DroppedMax  float64       `json:"dropped_max_ratio"`  // never sent, or given up
	Quantile    float64       `json:"slo_quantile"`       // of the response time
	SLO         time.Duration `json:"slo_ns"`             // at most so much
	// A queue grows if the quantile in the last third of the window is above this times
	// the first third's by more than the floor, and requests in flight rise (Mann-Kendall
	// over seconds, two-sided, at most QueueP). Four seconds are the fewest that can tell.
	QueueFactor float64       `json:"queue_factor"`
	QueueFloor  time.Duration `json:"queue_floor_ns"`
	QueueP      float64       `json:"queue_p_max"`
	RequestsMin uint64        `json:"requests_min"` // 3000 without a drop bound the share of drops at 0.1 % (95 %)

	StartRatio float64       `json:"start_ratio"`       // first rate, of the closed loop's
	StepFactor float64       `json:"step_factor"`       // from one rate to the next until one fails
	Bracket    float64       `json:"bracket_max_ratio"` // hi / lo - 1 at which bisection ends
	Low        Votes         `json:"low"`               // fresh processes at the low end, and how many must pass
	High       Votes         `json:"high"`              // at the high end, and how many must fail
	UnfitMax   int           `json:"unfit_max"`         // trials at one rate that tell nothing before the search gives up
	TrialsMax  int           `json:"trials_max"`        // of one search
	WindowMax  time.Duration `json:"window_max_ns"`     // a low rate needs a long window for its requests
}

// Votes is so many of so many.
type Votes struct {
	Need int `json:"need"`
	Of   int `json:"of"`
}

// OverloadWork makes an open-loop scenario one of more load than the target can
// take: the rate is a share of the capacity that was found just before.
type OverloadWork struct {
	RateOfCapacity float64       `json:"rate_of_capacity_ratio"`
	HealthEvery    time.Duration `json:"health_every_ns"`     // GET /healthz on a connection of its own
	RecoveryRate   float64       `json:"recovery_rate_ratio"` // of the capacity, in steps
	RecoveryStep   time.Duration `json:"recovery_step_ns"`    // of so long
	RecoveryMax    time.Duration `json:"recovery_max_ns"`     // until one passes, or so long
}

// OverloadWatch is what was seen of an overloaded target beside its load.
type OverloadWatch struct {
	CapacityPerSec float64        `json:"capacity_per_sec"` // what the offered rate is a share of
	HealthAsked    int            `json:"health_asked"`
	Health         []Nanos        `json:"health_ns,omitempty"` // of those answered while the load was due, in order
	Recovery       []RecoveryStep `json:"recovery,omitempty"`  // in order; the last one passed, if any did
}

// RecoveryStep is a short load at a rate that the target met before.
type RecoveryStep struct {
	At         time.Duration `json:"at_ns"` // from the end of the overload to the start of the step
	RatePerSec float64       `json:"rate_per_sec"`
	Passed     bool          `json:"passed"`
	Limits     []string      `json:"limits,omitempty"` // those that it missed
	Latency    *Nanos        `json:"slo_quantile_ns,omitempty"`
}

// Search is the step of the plan that a trial belongs to.
func (s Step) Search() Step {
	s.Trial = 0
	return s
}

// searched reports whether every step of a plan that searches has its runs. What they
// answer is for the findings, which go through the search again.
func (s *Session) searched() bool {
	ran := map[Step]bool{}
	for _, r := range s.Runs {
		if r.Outcome == Interrupted {
			return false
		}
		ran[r.Step.Search()] = true
	}
	for _, st := range s.Plan.Steps {
		if sc, _ := s.Plan.Scenario(st.Scenario); sc.Kind.Searched() && !ran[st] {
			return false
		}
	}
	return len(s.Plan.Steps) > 0 && !s.Finished.IsZero()
}

// validateTrial reports what makes a run of a search one of none.
func (r *Run) validateTrial(kind Kind) error {
	switch {
	case kind.Searched() != (r.Step.Trial > 0):
		return fmt.Errorf("trial %d in a scenario of kind %s", r.Step.Trial, kind)
	case kind == Capacity && !(r.OfferedPerSec > 0):
		return fmt.Errorf("a trial without a rate")
	case kind == MemoryFloor && (r.Limits == nil || r.Limits.MemoryBytes == 0):
		return fmt.Errorf("a trial without a memory limit")
	case r.Overload != nil && r.Overload.HealthAsked < len(r.Overload.Health):
		return fmt.Errorf("%d answers of /healthz to %d questions", len(r.Overload.Health), r.Overload.HealthAsked)
	}
	return nil
}

// validate reports what makes a search impossible, or endless.
func (r *CapacityRules) validate() error {
	within := func(x, least, most float64) bool { return x > least && x <= most }
	votes := func(v Votes) bool { return v.Need >= 1 && v.Need <= v.Of && v.Of <= 1000 }
	switch {
	case r == nil:
		return nil
	case !within(r.StartRatio, 0, 10) || !within(r.StepFactor, 1, 100) || !within(r.Bracket, 0, 10):
		return fmt.Errorf("a search for capacity starts at %g, goes on by %g and ends at %g", r.StartRatio, r.StepFactor, r.Bracket)
	case !votes(r.Low) || !votes(r.High) || r.UnfitMax < 1 || r.TrialsMax < 1 || r.TrialsMax > 1000:
		return fmt.Errorf("a search for capacity asks %d of %d, %d of %d, and gives up after %d or %d", r.Low.Need, r.Low.Of, r.High.Need, r.High.Of, r.UnfitMax, r.TrialsMax)
	case !within(r.Quantile, 0, 1) || r.SLO <= 0:
		return fmt.Errorf("a search for capacity holds quantile %g against %v", r.Quantile, r.SLO)
	}
	return nil
}
