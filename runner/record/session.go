package record

import (
	"errors"
	"fmt"
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
	Contract      []Parity  `json:"contract,omitempty"` // one entry a target
	Probes        []Probe   `json:"probes,omitempty"`   // one entry a target
	Runs          []Run     `json:"runs"`               // in the order they ran
}

// Parity is the outcome of the contract check of one target.
type Parity struct {
	Target        string `json:"target"`
	Cases         int    `json:"cases"`
	ReplyBytesGET int    `json:"reply_bytes_get"` // whole reply to GET /users/500, head and body
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

// Complete reports whether every step of the plan has a run that is done.
func (s *Session) Complete() bool {
	done := map[string]bool{}
	for _, r := range s.Runs {
		if r.Outcome == Done {
			done[r.Step.Key()] = true
		}
	}
	for _, st := range s.Plan.Steps {
		if !done[st.Key()] {
			return false
		}
	}
	return len(s.Plan.Steps) > 0
}

// Validate reports what is wrong with a session read from disk.
func (s *Session) Validate() error {
	var errs []error
	if s.SchemaVersion != SchemaVersion {
		errs = append(errs, fmt.Errorf("schema version %d, this gonogo reads %d", s.SchemaVersion, SchemaVersion))
	}
	steps := map[Step]bool{}
	for _, st := range s.Plan.Steps {
		steps[st] = true
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		sc, ok := s.Plan.Scenario(r.Step.Scenario)
		if !ok || !steps[r.Step] {
			errs = append(errs, fmt.Errorf("run %s is not a step of the plan", r.Step.Key()))
			continue
		}
		if err := r.Validate(sc.Kind); err != nil {
			errs = append(errs, err)
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
