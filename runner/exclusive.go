package main

import (
	"errors"
	"fmt"
	"os"

	"gonogo/runner/lock"
)

// lockFile is the machine's, or one of a test's own.
func lockFile() string {
	if path := os.Getenv("GONOGO_TEST_LOCK"); path != "" {
		return path
	}
	return lock.File
}

// exclusive makes this the only command that measures on the machine, until release.
// compare and calibrate need it for their timed windows, doctor because it watches
// the machine at rest and would itself disturb a window. A machine that gives no lock
// is measured on all the same, with a warning.
func exclusive(command string, s streams) (release func(), err error) {
	l, err := lock.Take(lockFile(), command)
	if held := (*lock.Held)(nil); errors.As(err, &held) {
		hint := "wait until it has ended"
		if held.Holder.PID > 0 {
			hint += fmt.Sprintf(", or end it with kill -INT %d: it keeps its finished runs", held.Holder.PID)
		}
		return nil, fail(exitPreflight, hint, "%s: %w", command, err)
	}
	if err != nil {
		fmt.Fprintf(s.err, "gonogo: warning: nothing keeps another session from measuring at the same time: %v\n", err)
		return func() {}, nil
	}
	return func() { l.Release() }, nil // what it cannot give back the kernel takes
}

// beware warns before work that is not timed itself, or not for a verdict, while a
// session measures.
func beware(s streams) {
	if h, held := lock.Who(lockFile()); held {
		fmt.Fprintf(s.err, "gonogo: warning: a session measures on this machine, and this disturbs it: %v\n", h)
	}
}
