package overload

import (
	"time"

	"gonogo/runner/record"
)

// OverloadRecord is what make overload found: how each server came through each fault.
type OverloadRecord struct {
	SchemaVersion int              `json:"schema_version"`
	Started       time.Time        `json:"started"`
	Took          time.Duration    `json:"took_ns"`
	Short         bool             `json:"short,omitempty"` // a smoke run: too short for any time limit of a server to be seen
	Host          record.Host      `json:"host"`
	Servers       []OverloadServer `json:"servers"`
}

// OverloadServer is one process tree that went through all faults, one after the other.
type OverloadServer struct {
	Target         string          `json:"target"`
	PIDs           []int           `json:"pids"`
	CapacityPerSec float64         `json:"capacity_per_sec"` // closed loop of 50 connections, before the first fault
	P99Before      time.Duration   `json:"p99_before_ns"`    // response time at 50 % of that capacity, before the first fault
	PSSBefore      *uint64         `json:"pss_before_bytes,omitempty"`
	RSSPeak        *uint64         `json:"rss_peak_bytes,omitempty"` // over its whole life, by the kernel's own account; summed over processes
	Trials         []OverloadTrial `json:"trials"`
}

// OverloadTrial is one fault and what came of it. Numbers that the fault has not are absent.
type OverloadTrial struct {
	Fault       string        `json:"fault"`
	Length      time.Duration `json:"length_ns"`
	Connections int           `json:"connections,omitempty"` // of the fault, at once
	// OfferedPerSec and AnsweredPerSec are of the faults that are a load. Answered are
	// right answers within the time-out.
	OfferedPerSec  float64 `json:"offered_per_sec,omitempty"`
	AnsweredPerSec float64 `json:"answered_per_sec,omitempty"`
	// Opened counts connections, Ended those of them that the server ended, Refused
	// those that it did not take. Answered counts requests that got the answer that the
	// fault should get.
	Opened   uint64 `json:"opened,omitempty"`
	Ended    uint64 `json:"ended_by_server,omitempty"`
	Refused  uint64 `json:"refused,omitempty"`
	Answered uint64 `json:"answered,omitempty"`
	// HeldMax is the longest that a connection lived, whether or not the server ended it.
	HeldMax *time.Duration `json:"held_max_ns,omitempty"`
	Health  OverloadHealth `json:"health"`
	PSSPeak *uint64        `json:"pss_peak_bytes,omitempty"` // of a reading each 250 ms during the fault
	// PSSAfter and FilesAfter are of the time when the server had recovered.
	PSSAfter   *uint64        `json:"pss_after_bytes,omitempty"`
	FilesPeak  *int           `json:"files_peak,omitempty"` // open descriptors of all its processes
	FilesAfter *int           `json:"files_after,omitempty"`
	P99After   time.Duration  `json:"p99_after_ns"`          // at 50 % of capacity, of the first probe that was near, else of the last
	Recovery   *time.Duration `json:"recovery_ns,omitempty"` // from the end of the fault to the start of that probe; absent: it did not recover in time
	Checks     []record.Check `json:"checks"`
}

// OverloadHealth is GET /healthz during a fault, each 100 ms on a connection of its own.
// Latencies count from the time when a question was due.
type OverloadHealth struct {
	Asked    int           `json:"asked"`
	Answered int           `json:"answered"`
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	Max      time.Duration `json:"max_ns"`
}

// Passed reports whether every check of every trial did.
func (o *OverloadRecord) Passed() bool {
	for _, s := range o.Servers {
		for _, t := range s.Trials {
			for _, c := range t.Checks {
				if !c.OK {
					return false
				}
			}
		}
	}
	return true
}
