package plan

import (
	"time"

	"gonogo/runner/record"
)

// machineRules are the gates of the machine (method E1 to E3). They have no
// published source; those that a quiet guest broke were moved to where quiet and
// disturbed windows parted. A limit of 0 allows none.
func machineRules() record.MachineRules {
	return record.MachineRules{
		ForeignCPU: record.Limits{Warn: 0.02, Fail: 0.05},
		// Charged in ticks of 10 ms: one in a window of a second is 1 %, and a quiet
		// guest shows two or three. What is unaccounted for stays within 10 % in quiet
		// windows, and is above 40 % when a compiler runs beside.
		ForeignInRun: record.Limits{Warn: 0.05, Fail: 0.10},
		Unaccounted:  record.Limits{Warn: 0.15, Fail: 0.25},
		// One stolen tick in a window of a second on two CPUs is 0.5 %.
		Steal:          record.Limits{Warn: 0.005, Fail: 0.02},
		Running:        record.Limits{Warn: 1, Fail: 2},
		CPUPressure:    record.Limits{Warn: 0.02, Fail: 0.10},
		MemoryPressure: record.Limits{Warn: 0, Fail: 0.01},
		IOPressure:     record.Limits{Warn: 0.01, Fail: 0.05},
		Hiccup:         record.Limits{Warn: float64(2 * time.Millisecond), Fail: float64(20 * time.Millisecond)},
		// Shared machines drift by 10 to 25 % within minutes while pairs, which run side
		// by side, stay within a few percent of each other: only a leap voids.
		Canary: record.Limits{Warn: 0.02, Fail: 0.25},
	}
}

// steadyRules are the halves and the trend of method D5. The largest latencies of
// slices are allowed what the primary test of p99 calls no difference.
func steadyRules() record.SteadyRules {
	return record.SteadyRules{RateDrift: 0.02, LatencyDrift: 0.10, LatencyFloor: 500 * time.Microsecond, P: 0.05, TrendP: 0.01}
}
