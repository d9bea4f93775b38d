package plan

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// IDs is the number of users every target starts with; timed GETs draw from them.
const IDs = 10_000

// times are the lengths that a budget decides.
type times struct{ warmup, window, memoryLoad, idle, rest time.Duration }

var (
	// Short windows and many processes: with a process-to-process deviation near
	// the one-second deviation, time buys more as a further process than as a
	// longer window (method D1). Whether the warm-up is long enough is judged from
	// the data of every session, not assumed.
	fullTimes  = times{time.Second, 1100 * time.Millisecond, 2200 * time.Millisecond, 2 * time.Second, 600 * time.Millisecond}
	quickTimes = times{400 * time.Millisecond, 700 * time.Millisecond, time.Second, 2 * time.Second, 500 * time.Millisecond}
)

const (
	overhead     = 350 * time.Millisecond // start, ready, connect and stop of a step
	contractTime = 15 * time.Second       // the machine watched, all targets started, proved alike, stopped
	probeWarmup  = time.Second
	probeWindow  = time.Second

	longestWindow = 15 * time.Second
)

// openShare is the load of the open loop, as a share of the smaller capacity of a
// pair: far enough from saturation that the tail is the server's and not a queue's.
const openShare = 0.5

// fit chooses how many blocks of which windows fill the budget: more blocks
// first, longer windows only when there are maxBlocks of them.
func fit(o Options, targets []record.Target) (times, int) {
	if o.Quick {
		return quickTimes, 1
	}
	t := fullTimes
	left := o.Budget - prelude(targets)
	total := func(blocks int) time.Duration { return stepsTime(scenarios(t, targets), targets, blocks) }
	blocks := 1
	for blocks < maxBlocks && total(blocks+1) <= left {
		blocks++
	}
	if blocks < maxBlocks {
		return t, blocks
	}
	short, unit := total(blocks), 100*time.Millisecond
	t.window += unit // what a unit more of window costs
	cost := total(blocks) - short
	t.window = min(fullTimes.window+(left-short)/cost*unit, longestWindow)
	return t, blocks
}

// prelude is what comes before the first block: the contract and the probes.
func prelude(targets []record.Target) time.Duration {
	sum := contractTime
	for _, t := range targets {
		if !t.Twin {
			sum += StepTime(probe())
		}
	}
	return sum
}

// stepsTime is how long the steps of so many blocks take.
func stepsTime(scenarios []record.Scenario, targets []record.Target, blocks int) time.Duration {
	var sum time.Duration
	for _, s := range scenarios {
		for _, t := range targets {
			if s.Has(t.Name) {
				sum += time.Duration(shareOf(s, t).rounds(blocks)) * StepTime(s)
			}
		}
	}
	return sum
}

// StepTime is how long one step of a scenario takes, start and stop included.
func StepTime(s record.Scenario) time.Duration {
	return overhead + s.Idle + s.Warmup + s.Window + s.Rest + workTime(s.Work)
}

var (
	get = []record.Request{{
		Method: "GET", Path: "/users/{id}", WantStatus: 200,
		WantBody: `{"id":"{id}","name":"User {id}","email":"user{id}@example.com"}`,
	}}
	post = []record.Request{{
		Method: "POST", Path: "/users", Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"name":"User {id}","email":"user{id}@example.com"}`, WantStatus: 201,
		WantBody: `{"id":"{digits}","name":"User {id}","email":"user{id}@example.com"}`,
	}}
)

func closed(name string, r []record.Request, connections int, t times) record.Scenario {
	return record.Scenario{Name: fmt.Sprintf("%s-c%d", name, connections), Kind: record.Closed, Requests: r,
		Connections: connections, Warmup: t.warmup, Window: t.window}
}

// probe finds the capacity that the open loop's rate is a share of.
func probe() record.Scenario {
	return closed("probe", get, 50, times{warmup: probeWarmup, window: probeWindow})
}

// The scenarios that primary tests read.
const (
	getFew, getMany = "get-c50", "get-c300"
	getOpen         = "get-open"
	memoryOpen      = "memory-c300"
)

// What no primary test reads.
const postFew, postMany = "post-c50", "post-c300"

// scenarios are the cells of a block. Latency and CPU time are compared at one
// open-loop rate, for in a closed loop the faster server also gets more requests;
// memory at the same rate too, so that all did the same work (method G2, R5).
func scenarios(t times, targets []record.Target) []record.Scenario {
	var real []string // the A/A twin runs where primary tests need its noise
	twins := false
	for _, x := range targets {
		twins = twins || x.Twin
		if !x.Twin {
			real = append(real, x.Name)
		}
	}
	if !twins {
		real = nil
	}
	open := record.Scenario{Name: getOpen, Kind: record.Open, Requests: get, Connections: 200, RateOfCapacity: openShare,
		Arrivals: "poisson", Warmup: t.warmup, Window: t.window}
	few, many := closed("post", post, 50, t), closed("post", post, 300, t)
	few.Targets, many.Targets = real, real
	return []record.Scenario{
		closed("get", get, 50, t), closed("get", get, 300, t), open, few, many,
		{Name: memoryOpen, Kind: record.Memory, Requests: get, Connections: 300, RateOfCapacity: openShare, Arrivals: "poisson",
			Window: t.memoryLoad, Idle: t.idle, Rest: t.rest},
	}
}

// DefaultRules are the thresholds of a session, archived with it. Sources:
// errors and Little's law method sections 9 (P1, K1); the artefact factor M4; the
// generator's share of CPU G6; workers F8; log bytes: a line of 20 bytes for each
// request would be an access log.
func DefaultRules() record.Rules {
	return record.Rules{
		ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, DutyRatioMin: 0.95, DutyRatioMax: 1.005,
		ServerCPUBusyMin: 0.9, ChattyBytesPerReq: 1, MinBlocksForMedian: MinRounds,
		GeneratorCPUMax: 0.8, WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98,
		RepeatedGroupsMax: 0.2, VoidStepsMax: 0.2, Machine: machineRules(),
		Steady: steadyRules(), UtilisationMax: 1.02, SuperLinearMax: 1.05, ForeignPagesMax: 0.10,
	}
}
