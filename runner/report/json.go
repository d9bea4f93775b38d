package report

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// summary is the JSON form of a report: what was concluded, without the raw
// record, which is the archive.
type summary struct {
	SchemaVersion int         `json:"schema_version"`
	Session       string      `json:"session"`
	Started       time.Time   `json:"started,omitzero"`
	Finished      time.Time   `json:"finished,omitzero"`
	Complete      bool        `json:"complete"`
	Quick         bool        `json:"quick"`
	Host          record.Host `json:"host"`
	findings.Evaluation
	// CapacityTimes are neither latency nor CPU time; see the type.
	CapacityTimes []findings.CapacityTime `json:"capacity_times,omitempty"`
}

// JSON prints the evaluation of a session, in base units.
func JSON(w io.Writer, s *record.Session, e findings.Evaluation) error {
	var b bytes.Buffer
	err := record.WriteJSON(&b, summary{record.SchemaVersion, s.ID, s.Started, s.Finished, !e.Invalid(), s.Plan.Quick, s.Host, e, findings.CapacityTimes(s, &e)})
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return flush(w, &b)
}
