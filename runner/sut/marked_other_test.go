//go:build !linux

package sut

import "testing"

// marked cannot look at other processes' environments here.
func marked(*testing.T, string) []int { return nil }
