//go:build profile

package main

import (
	"runtime"
	"testing"
)

func TestProfilesAreOfThisMachineAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		if l, err := listenPrivately(address); err == nil {
			l.Close()
			t.Errorf("profiles are served on %s", address)
		}
	}
	l, err := listenPrivately("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := serveProfiles("127.0.0.1:0", "everything"); err == nil {
		t.Error("an unknown profile is served")
	}
}

// This test runs without PROFILE: a server that is not asked samples nothing.
func TestWithoutBeingAskedNothingIsSampled(t *testing.T) {
	if runtime.MemProfileRate != 0 || runtime.SetMutexProfileFraction(-1) != 0 {
		t.Errorf("allocations are sampled each %d bytes, locks each %d", runtime.MemProfileRate, runtime.SetMutexProfileFraction(-1))
	}
}
