package load

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"time"

	"gonogo/runner/record"
)

// memoryLimit bounds the heap while the collector is off: it comes back on
// before the machine suffers.
const memoryLimit = 1 << 30

// quiet turns the garbage collector off and returns what turns it on again.
func quiet() func() {
	limit := debug.SetMemoryLimit(memoryLimit)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// usage is what this process has used since it began.
type usage struct {
	cpu     record.CPUTime
	gcPause time.Duration
	gcCount int64
}

// readUsage stops nothing: runtime.ReadMemStats would stop the world.
func readUsage() (usage, error) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return usage{}, fmt.Errorf("read own cpu time: %w", err)
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return usage{
		cpu:     record.CPUTime{User: time.Duration(ru.Utime.Nano()), System: time.Duration(ru.Stime.Nano())},
		gcPause: gc.PauseTotal, gcCount: gc.NumGC,
	}, nil
}
