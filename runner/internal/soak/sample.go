package soak

import (
	"fmt"
	"strconv"
	"time"
)

// Sample is what was there after a session. What the system does not tell is
// absent.
type Sample struct {
	Session  int           `json:"session"`      // from 1
	ID       string        `json:"id,omitempty"` // of its archive; absent: it made none
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took_ns"`
	ExitCode int           `json:"exit_code"`

	Descriptors   *int   `json:"descriptors,omitempty"` // open in this process
	Goroutines    uint64 `json:"goroutines"`
	Threads       *int   `json:"threads,omitempty"`
	ResidentBytes *int64 `json:"resident_bytes,omitempty"` // after a collection, with what is free given back
	HeapBytes     uint64 `json:"heap_bytes"`               // objects in use after that collection
	Processes     *int   `json:"processes,omitempty"`      // alive, started by a session
	DiskBytes     int64  `json:"disk_bytes"`               // of the session's archive
	Leftovers     int    `json:"leftovers"`                // entries of the temporary folder, and of the results beside the archives
}

const mebi = 1 << 20

func (s Sample) String() string {
	resident := "-"
	if s.ResidentBytes != nil {
		resident = fmt.Sprintf("%.1f", float64(*s.ResidentBytes)/mebi)
	}
	return fmt.Sprintf("session %d %s, %v, exit %d: descriptors %s, goroutines %d, threads %s, resident %s MiB, heap %.2f MiB, processes %s, disk %.2f MiB, left over %d",
		s.Session, s.ID, s.Took.Round(time.Second), s.ExitCode, told(s.Descriptors), s.Goroutines, told(s.Threads), resident,
		float64(s.HeapBytes)/mebi, told(s.Processes), float64(s.DiskBytes)/mebi, s.Leftovers)
}

func told(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}
