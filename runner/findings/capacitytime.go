package findings

import (
	"time"

	"gonogo/runner/record"
)

// CapacityTime is how much of a saturated server's time one request takes: window /
// right answers, the inverse of the rate (1e6/rate in microseconds). It is neither
// latency, which waits and shares, nor CPU time, which may run on several cores at
// once. Its use is to say how much the choice can change at all once a request does
// work of its own: a server that handles a request in 40 us instead of 90 gives
// back 50 us of each, and that is 2.5 % of a request with 2 ms of work of its own.
//
// It is defined where the server is kept busy, in closed loops. Where something
// else than the server was the limit, see Cell.Bound, it is an upper bound.
type CapacityTime struct {
	Target   string `json:"target"`
	Base     string `json:"base"`
	Scenario string `json:"scenario"`
	// Time and BaseTime are nanoseconds a request, over the processes of each.
	Time     Summary `json:"time_ns_per_request"`
	BaseTime Summary `json:"base_time_ns_per_request"`
	// Saved is base - target, paired by block; below 0 the target takes longer.
	// Its N counts the blocks in which both have a rate.
	Saved  Summary `json:"saved_ns_per_request"`
	Shares []Share `json:"shares"`
}

// Share is the median of Saved as a share of a request's own work.
type Share struct {
	Work  time.Duration `json:"own_work_ns"`
	Ratio float64       `json:"share_ratio"`
}

// CapacityTimeIs tells what a capacity time is not; wherever one is printed, this
// is printed with it.
const CapacityTimeIs = "capacity time is 1 / rate of a saturated server: neither latency nor CPU time"

// ownWork is what the differences are held against: a request that computes a
// little (2 ms), and one that waits for a database (10 ms).
var ownWork = []time.Duration{2 * time.Millisecond, 10 * time.Millisecond}

// CapacityTimes compares each target with its base in each closed loop, in the
// order of the plan. Pairs without a block in which both have a rate are left out.
func CapacityTimes(s *record.Session, e *Evaluation) []CapacityTime {
	var all []CapacityTime
	for _, sc := range s.Plan.Scenarios {
		if sc.Kind != record.Closed {
			continue
		}
		for _, t := range s.Plan.Targets {
			if t.Base == "" {
				continue
			}
			if c, ok := capacityTime(find(e.Cells, t.Name, sc.Name), find(e.Cells, t.Base, sc.Name)); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

func capacityTime(c, base *Cell) (CapacityTime, bool) {
	of := map[int]float64{}
	var baseTimes, times, saved []float64
	for _, p := range base.Processes {
		if v, ok := timeOf(p); ok {
			of[p.Step.Block] = v
			baseTimes = append(baseTimes, v)
		}
	}
	for _, p := range c.Processes {
		v, ok := timeOf(p)
		if !ok {
			continue
		}
		times = append(times, v)
		if b, ok := of[p.Step.Block]; ok {
			saved = append(saved, b-v)
		}
	}
	a := CapacityTime{Target: c.Target, Base: base.Target, Scenario: c.Scenario}
	var ok bool
	if a.Saved, ok = summary(saved); !ok {
		return CapacityTime{}, false
	}
	a.Time, _ = summary(times)
	a.BaseTime, _ = summary(baseTimes)
	for _, w := range ownWork {
		a.Shares = append(a.Shares, Share{w, a.Saved.Median / float64(w)})
	}
	return a, true
}

func timeOf(p Process) (ns float64, ok bool) {
	rate, ok := p.Values[Rate]
	if !ok || rate <= 0 {
		return 0, false
	}
	return float64(time.Second) / rate, true
}
