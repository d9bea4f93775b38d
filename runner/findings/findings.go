// Package findings turns a session into numbers and into what can be said
// against them. It is pure: records in, structs out.
//
// Evaluate gives one Cell for each target and scenario. The unit of inference is
// the fresh process: a cell of six runs holds six values of each metric, however
// many requests each run had, and its summary is the median of the six with
// their range. A percentile is taken inside a process and its median over the
// processes is the typical process's percentile; percentiles are never averaged.
package findings

import (
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Evaluation is all that a report prints. Nothing in it is decided by the order
// of a map or by a clock: the same session gives the same evaluation.
type Evaluation struct {
	Cells     []Cell           `json:"cells"`              // by scenario, then by target, as the plan has them
	Ratios    []Ratio          `json:"ratios"`             // in the order of the cells
	Verdicts  []record.Verdict `json:"verdicts,omitempty"` // in the order of the plan's primary tests
	Findings  []record.Finding `json:"findings"`
	Discarded []Discarded      `json:"discarded,omitempty"` // in run order
	Memory    *Memory          `json:"memory,omitempty"`    // in a session of memory alone
	Capacity  *Capacity        `json:"capacity,omitempty"`  // in a session of capacity
	Floor     *MemoryFloor     `json:"floor,omitempty"`     // in a session of memory floors
	Quotas    []QuotaRow       `json:"quotas,omitempty"`    // in a session of CPU quotas
	Profiles  *Profiles        `json:"profiles,omitempty"`  // in a session of profiles
	Scale     *Scale           `json:"scale,omitempty"`     // in a session of scale
	Dilutions []Dilution       `json:"dilutions,omitempty"` // in a sweep of waits
	Variants  []Variant        `json:"variants,omitempty"`  // in a session of variants, twins first
}

// Cell is one target under one scenario.
type Cell struct {
	Target    string             `json:"target"`
	Scenario  string             `json:"scenario"`
	Kind      record.Kind        `json:"kind"`
	Shared    bool               `json:"shared"` // server and generator are not kept apart
	Bound     Bound              `json:"bound,omitempty"`
	Planned   int                `json:"planned"`   // runs the plan asks for
	Processes []Process          `json:"processes"` // runs that count, in run order
	Summary   map[Metric]Summary `json:"summary"`
	Counts    record.Counts      `json:"counts"` // summed over Processes
	// Maximum is absent where no latency is known. Confirmations are runs that were
	// made because of a maximum; they count for it and for nothing else.
	Maximum       *Maximum  `json:"maximum,omitempty"`
	Warmup        *Warmup   `json:"warmup,omitempty"`
	Confirmations []Process `json:"confirmations,omitempty"`
}

// Process is what one run that counts says.
type Process struct {
	Step    record.Step        `json:"step"`
	Attempt int                `json:"attempt,omitempty"`
	Samples uint64             `json:"latency_samples"`
	Values  map[Metric]float64 `json:"values"` // a metric that is unknown is absent

	run     *record.Run
	tail    float64       // p99.9 whatever the number of samples, for rules; never printed
	typical time.Duration // likewise p50
}

// Discarded is a run of which no number is used.
type Discarded struct {
	Step    string         `json:"step"`
	Attempt int            `json:"attempt,omitempty"`
	Outcome record.Outcome `json:"outcome"`
	Reason  string         `json:"reason"`
	LogFile string         `json:"log_file,omitempty"`
	// Repeated: the group ran again, and the later attempt counts.
	Repeated bool `json:"repeated,omitempty"`
}

// Evaluate works out every number of a session, and the findings about it. The
// session must be valid (record.Session.Validate); Evaluate does not change it.
func Evaluate(s *record.Session) Evaluation {
	var e Evaluation
	cells := map[[2]string]int{}
	for _, sc := range s.Plan.Scenarios {
		for _, t := range s.Plan.Targets {
			cells[[2]string{t.Name, sc.Name}] = len(e.Cells)
			e.Cells = append(e.Cells, Cell{Target: t.Name, Scenario: sc.Name, Kind: sc.Kind, Shared: t.Shared()})
		}
	}
	for _, st := range s.Plan.Steps {
		if i, ok := cells[[2]string{st.Target, st.Scenario}]; ok {
			e.Cells[i].Planned++
		}
	}
	for i, superseded := range s.Superseded() {
		r := &s.Runs[i]
		if superseded {
			e.Discarded = append(e.Discarded, repeated(r))
			continue
		}
		target, _ := s.Plan.Target(r.Step.Target)
		p, discarded := process(r, target)
		at, known := cells[[2]string{r.Step.Target, r.Step.Scenario}]
		switch {
		case discarded != nil:
			e.Discarded = append(e.Discarded, *discarded)
		case known && s.Plan.Confirms(r.Step):
			e.Cells[at].Confirmations = append(e.Cells[at].Confirmations, p)
		case known:
			e.Cells[at].add(p)
		}
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Kind.Searched() { // each of its processes had another rate, or limit
			c.Summary = map[Metric]Summary{}
			continue
		}
		c.summarize()
		c.Bound = boundBy(c, s.Plan.Rules)
		c.lookAtMaximum(s)
		c.lookAtWarmup(s.Plan.Rules.Steady)
	}
	e.Ratios = ratios(s, e.Cells)
	e.Verdicts = judge(s, &e)
	e.Memory, e.Capacity, e.Floor = memoryOf(s, e.Cells), capacityOf(s, e.Cells), floorOf(s, e.Cells)
	e.Quotas = quotasOf(s, e.Cells)
	e.Scale = scaleOf(s, e.Cells)
	e.Dilutions = dilutions(s, &e)
	e.Profiles = profilesOf(s, e.Cells)
	e.Variants = variantsOf(s, &e)
	for _, rule := range rulesOf(s) {
		e.Findings = append(e.Findings, rule(s, &e)...)
	}
	return e
}

// rules are all rules, in the order in which findings are printed: what voids
// the session, what may mislead a reader, what to know.
var rules = []func(*record.Session, *Evaluation) []record.Finding{
	outsideStore,
	notFresh, slo, foreign, // of services that were not written for this kit
	incomplete, machineChanged, resumed, twinDiffers, quick, discardedRuns, machine, failedChecks, errorsInWindow, notSteady, artefactMax, limits, utilisation, superLinear, canary,
	chatty, logsCut, imbalance, foreignPages, pageOrder, memoryGrows, samplerCosts, fewBlocks, secondOpinion, position, bimodal, sharedCPUs, doubleCount, replyBytes, knownDifferences,
}

// rulesOf leaves out, of a session of searches, the rules about cells that are compared:
// its trials differ by their rates, and many are meant to fail.
func rulesOf(s *record.Session) []func(*record.Session, *Evaluation) []record.Finding {
	if s.Plan.Kind == record.Capacity {
		return []func(*record.Session, *Evaluation) []record.Finding{
			incomplete, machineChanged, capacityEnds, quick, discardedRuns, machine, logsCut, fewSearches, sharedCPUs, replyBytes,
		}
	}
	if s.Plan.Kind == record.Scaling { // levels that a generator or a round trip binds are part of a sweep
		return []func(*record.Session, *Evaluation) []record.Finding{
			incomplete, machineChanged, resumed, quick, discardedRuns, machine, errorsInWindow, utilisation, canary, chatty, imbalance, foreignPages,
			scaleLimits, scaleCurves, fewPeriods, fewBlocks, bimodal, sharedCPUs, replyBytes,
		}
	}
	if s.Plan.Kind == record.Profiling { // a profiler is in the numbers, and says what the others would
		return []func(*record.Session, *Evaluation) []record.Finding{
			incomplete, machineChanged, resumed, quick, discardedRuns, machine, errorsInWindow, profileSays, sharedCPUs, replyBytes,
		}
	}
	if s.Plan.Kind == record.MemoryFloor {
		return []func(*record.Session, *Evaluation) []record.Finding{
			incomplete, machineChanged, floorEnds, quick, discardedRuns, machine, fewFloors, sharedCPUs, replyBytes,
		}
	}
	if s.Plan.Kind == record.Variants {
		return append([]func(*record.Session, *Evaluation) []record.Finding{variantTwins, manyEffects}, rules...)
	}
	return rules
}

// Invalid reports whether a finding voids the session.
func (e *Evaluation) Invalid() bool {
	for _, f := range e.Findings {
		if f.Severity == record.Voids {
			return true
		}
	}
	return false
}

// NoVerdict reports whether there are verdicts and a check has voided every one of
// them: the numbers stand, and say nothing of a difference.
func (e *Evaluation) NoVerdict() bool {
	for _, v := range e.Verdicts {
		if v.Word != string(stats.Invalid) {
			return false
		}
	}
	return len(e.Verdicts) > 0
}

// Cell returns the cell of a target and a scenario.
func (e *Evaluation) Cell(target, scenario string) (*Cell, bool) {
	for i := range e.Cells {
		if c := &e.Cells[i]; c.Target == target && c.Scenario == scenario {
			return c, true
		}
	}
	return nil, false
}

// Name is how a finding names a cell.
func (c *Cell) Name() string { return c.Target + "/" + c.Scenario }

// steps are the keys of the runs that count.
func (c *Cell) steps() []string {
	var keys []string
	for _, p := range c.Processes {
		keys = append(keys, p.Step.Key())
	}
	return keys
}

func (c *Cell) add(p Process) {
	c.Processes = append(c.Processes, p)
	n := p.run.Load.Counts
	c.Counts.Planned += n.Planned
	c.Counts.OK += n.OK
	c.Counts.Miss += n.Miss
	c.Counts.Failed += n.Failed
	c.Counts.TimedOut += n.TimedOut
	c.Counts.Unfinished += n.Unfinished
	c.Counts.InWindow += n.InWindow
}
