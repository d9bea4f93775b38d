package plan

import (
	"time"

	"gonogo/runner/record"
)

// machineRules are the gates of method.md E1 to E3. They have no published source
// and are to be calibrated by A/A runs. A limit of 0 allows none.
func machineRules() record.MachineRules {
	return record.MachineRules{
		ForeignCPU:     record.Limits{Warn: 0.02, Fail: 0.05},
		Steal:          record.Limits{Warn: 0.001, Fail: 0.005},
		Running:        record.Limits{Warn: 1, Fail: 2},
		CPUPressure:    record.Limits{Warn: 0.01, Fail: 0.05},
		MemoryPressure: record.Limits{Warn: 0, Fail: 0.01},
		IOPressure:     record.Limits{Warn: 0.01, Fail: 0.05},
		Hiccup:         record.Limits{Warn: float64(2 * time.Millisecond), Fail: float64(10 * time.Millisecond)},
		Canary:         record.Limits{Warn: 0.02, Fail: 0.02},
	}
}

// steadyRules are the halves and the trend of method D5. The largest latencies of
// slices are allowed what the primary test of p99 calls no difference.
func steadyRules() record.SteadyRules {
	return record.SteadyRules{RateDrift: 0.02, LatencyDrift: 0.10, LatencyFloor: 500 * time.Microsecond, P: 0.05, TrendP: 0.01}
}
