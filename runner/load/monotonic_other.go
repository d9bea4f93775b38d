//go:build !linux

package load

import "time"

// monotonicAt is unknown: no meter runs on this system that it could be laid beside.
func monotonicAt(time.Time) *time.Duration { return nil }
