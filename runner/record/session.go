package record

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Session is a whole archive: what benchmark.json holds, and what the files of
// results/<id>/ add up to.
type Session struct {
	SchemaVersion int       `json:"schema_version"`
	ID            string    `json:"id"`
	Started       time.Time `json:"started"`
	Finished      time.Time `json:"finished,omitzero"` // absent: cut short
	Plan          Plan      `json:"plan"`
	Host          Host      `json:"host"`
	Changes       []Check   `json:"changes,omitempty"`  // settings of the machine that were others at the end
	Contract      []Parity  `json:"contract,omitempty"` // one entry a target
	Probes        []Probe   `json:"probes,omitempty"`   // one entry a target
	Runs          []Run     `json:"runs"`               // by step, then by attempt
	Resumes       []Resume  `json:"resumes,omitempty"`  // each time that it went on after an interruption
}

// Parity is the outcome of the contract check of one target.
type Parity struct {
	Target        string `json:"target"`
	Cases         int    `json:"cases"`
	ReplyBytesGET int    `json:"reply_bytes_get,omitempty"` // whole reply to GET /users/500, head and body; absent where it was not asked
}

// Host is what the machine is. Members are empty or absent when unknown.
type Host struct {
	OS             string            `json:"os"`
	Arch           string            `json:"arch"`
	Kernel         string            `json:"kernel,omitempty"`
	CPUModel       string            `json:"cpu_model,omitempty"`
	CPUs           []int             `json:"cpus"` // usable by this process
	PhysicalCores  int               `json:"physical_cores,omitempty"`
	MemoryBytes    uint64            `json:"memory_bytes,omitempty"`
	Hypervisor     string            `json:"hypervisor,omitempty"`
	Governor       string            `json:"governor,omitempty"`
	ClockSource    string            `json:"clock_source,omitempty"`
	FileLimit      uint64            `json:"file_limit,omitempty"`
	PortRange      [2]int            `json:"port_range,omitzero"`
	GoVersion      string            `json:"go_version"`
	NodeVersion    string            `json:"node_version,omitempty"`
	Facts          map[string]string `json:"facts,omitempty"`           // kernel settings that matter, by name
	Binaries       map[string]string `json:"binaries_sha256,omitempty"` // what was measured
	LoadAverage1   *float64          `json:"load_average_1,omitempty"`
	Grade          string            `json:"grade,omitempty"`  // A to D, from the checks (method E9)
	Checks         []Check           `json:"checks,omitempty"` // gates, before the first run
	SourceRevision string            `json:"source_revision,omitempty"`
}

// Superseded reports, for each run, whether its group (one scenario in one block)
// ran again after it: then the later attempt counts, whatever either measured.
func (s *Session) Superseded() []bool {
	type group struct {
		block    int
		scenario string
	}
	last := map[group]int{}
	for _, r := range s.Runs {
		g := group{r.Step.Block, r.Step.Scenario}
		last[g] = max(last[g], r.Attempt)
	}
	old := make([]bool, len(s.Runs))
	for i, r := range s.Runs {
		old[i] = r.Attempt < last[group{r.Step.Block, r.Step.Scenario}]
	}
	return old
}

// Complete reports whether the session came to its end and every step of the
// plan has a run that counts: done, or voided by a check in at most the share of
// steps that the rules allow. A void run takes a block from its cell; a failed or
// missing one may be missing because of what it would have shown.
func (s *Session) Complete() bool {
	if s.Plan.Kind.Searched() {
		return s.searched()
	}
	counted := map[Step]Outcome{}
	for i, old := range s.Superseded() {
		if !old {
			counted[s.Runs[i].Step] = s.Runs[i].Outcome
		}
	}
	void := 0
	for _, st := range s.Plan.Steps {
		switch counted[st] {
		case Done:
		case Void:
			void++
		default:
			return false
		}
	}
	n := len(s.Plan.Steps)
	return n > 0 && !s.Finished.IsZero() && float64(void) <= s.Plan.Rules.VoidStepsMax*float64(n)
}

// Validate reports what is wrong with a session read from disk.
func (s *Session) Validate() error {
	var errs []error
	if s.SchemaVersion != SchemaVersion {
		errs = append(errs, fmt.Errorf("schema version %d, this gonogo reads %d", s.SchemaVersion, SchemaVersion))
	}
	steps := map[Step]bool{}
	for _, st := range slices.Concat(s.Plan.Steps, s.Plan.Confirm) {
		steps[st] = true
	}
	if err := errors.Join(s.Plan.Rules.Capacity.validate(), s.Plan.Rules.Floor.validate()); err != nil {
		errs = append(errs, err)
	}
	for _, t := range s.Plan.Targets {
		if err := t.Group.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	if err := s.bounded(); err != nil {
		errs = append(errs, err)
	}
	if err := s.Plan.Scale.validate(&s.Plan); err != nil {
		errs = append(errs, err)
	}
	for _, sc := range s.Plan.Scenarios {
		if err := sc.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		sc, ok := s.Plan.Scenario(r.Step.Scenario)
		if !ok || !steps[r.Step.Search()] {
			errs = append(errs, fmt.Errorf("run %s is not a step of the plan", r.Step.Key()))
			continue
		}
		if err := errors.Join(r.Validate(sc.Kind), sc.follows(r)); err != nil {
			errs = append(errs, err)
		}
		if r.Traced != "" && !s.Plan.Confirms(r.Step) && sc.Profile == "" {
			errs = append(errs, fmt.Errorf("run %s was traced, which only a confirmation or a profile is", r.Step.Key()))
		}
		if (r.Profile != nil || sc.Profile != "") && s.Plan.Kind != Profiling {
			errs = append(errs, fmt.Errorf("run %s carried a profiler in a session that measures", r.Step.Key()))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("validate session %s: %w", s.ID, errors.Join(errs...))
	}
	return nil
}

// Severity orders findings.
type Severity string

const (
	Note  Severity = "note"
	Warn  Severity = "warn"
	Voids Severity = "void"
)

// Finding is one thing a rule saw.
type Finding struct {
	Code      string   `json:"code"`
	Severity  Severity `json:"severity"`
	Steps     []string `json:"steps,omitempty"`
	Observed  string   `json:"observed"`
	Threshold string   `json:"threshold"`
	Text      string   `json:"text"`
	Hint      string   `json:"hint,omitempty"`
}
