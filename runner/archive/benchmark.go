package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"gonogo/runner/record"
)

// Publish writes a session as one file, whole or not at all. Only a session that
// is evidence replaces the one before: not a quick one, not one with a step that
// has no run.
func Publish(path string, s *record.Session) error {
	switch {
	case s.Plan.Quick:
		return fmt.Errorf("publish %s: session %s is a smoke run, not evidence", path, s.ID)
	case s.Finished.IsZero():
		return fmt.Errorf("publish %s: session %s was cut short", path, s.ID)
	case !s.Complete():
		return fmt.Errorf("publish %s: session %s has steps without a run that is done", path, s.ID)
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("publish %s: %w", path, err)
	}
	data, err := encode(s)
	if err != nil {
		return fmt.Errorf("publish %s: %w", path, err)
	}
	sweepBeside(path, time.Now())
	return writeBytes(path, data)
}

// Same reports whether a file is, to the byte, what Publish writes of a session.
func Same(path string, s *record.Session) (bool, error) {
	want, err := encode(s)
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", path, cause(err))
	}
	defer f.Close()
	got, err := readMost(f, maxTotal)
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", path, cause(err))
	}
	return bytes.Equal(got, want), nil
}

func loadFile(name string) (*record.Session, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readMost(f, maxTotal)
	if err != nil {
		return nil, err
	}
	if err := new(size).add(data); err != nil {
		return nil, err
	}
	return decodeSession(data)
}

// parts are the members whose size in memory is not in proportion to their
// text: "null," may stand for a whole record.Run. They are bounded before they
// are decoded.
type parts struct {
	record.Session
	Plan     json.RawMessage   `json:"plan"`
	Host     json.RawMessage   `json:"host"`
	Contract json.RawMessage   `json:"contract"`
	Runs     []json.RawMessage `json:"runs"`
}

func decodeSession(data []byte) (*record.Session, error) {
	var p parts
	if err := unmarshal(data, &p); err != nil {
		return nil, err
	}
	s := p.Session
	for _, m := range []struct {
		name string
		data json.RawMessage
		to   any
	}{{"plan", p.Plan, &s.Plan}, {"host", p.Host, &s.Host}, {"contract", p.Contract, &s.Contract}} {
		if err := decodePart(m.data, m.to); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if len(p.Runs) > maxRuns {
		return nil, fmt.Errorf("runs: more than %d", maxRuns)
	}
	s.Runs = make([]record.Run, len(p.Runs))
	for i, data := range p.Runs {
		if err := decodePart(data, &s.Runs[i]); err != nil {
			return nil, fmt.Errorf("runs: number %d: %w", i, err)
		}
	}
	return &s, nil
}

func decodePart(data json.RawMessage, v any) error {
	if len(data) > maxFile {
		return fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	if len(data) == 0 {
		return nil // absent: Validate says whether that matters
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errors.Join(errors.New("damaged"), err)
	}
	return nil
}
