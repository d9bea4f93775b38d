//go:build !linux

package sut

import "time"

// monotonicAt: which clock other programs' readings are of is not known here.
func monotonicAt(time.Time) (time.Duration, bool) { return 0, false }
