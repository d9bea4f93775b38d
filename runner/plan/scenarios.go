package plan

import (
	"fmt"
	"math"
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
	// longer window (method D1).
	fullTimes  = times{1500 * time.Millisecond, 2 * time.Second, 4 * time.Second, 2 * time.Second, 3 * time.Second}
	quickTimes = times{500 * time.Millisecond, time.Second, 2 * time.Second, 2 * time.Second, time.Second}
)

const (
	contractTime = 15 * time.Second       // four targets started, proved alike, stopped
	overhead     = 700 * time.Millisecond // start, ready, connect and stop of a step
)

// fit chooses how many blocks of which windows fill the budget: more blocks
// first, longer windows only when there are maxBlocks of them.
func fit(o Options, targets int) (times, int) {
	if o.Quick {
		return quickTimes, 1
	}
	t := fullTimes
	perBlock := func() time.Duration {
		var sum time.Duration
		for _, s := range scenarios(t) {
			sum += time.Duration(targets) * StepTime(s)
		}
		return sum
	}
	blocks := max(1, int((o.Budget-contractTime)/perBlock()))
	if blocks > maxBlocks {
		blocks = maxBlocks
		grow := float64(o.Budget-contractTime) / float64(time.Duration(blocks)*perBlock())
		t.window = time.Duration(math.Min(float64(t.window)*grow, float64(15*time.Second))).Round(100 * time.Millisecond)
	}
	return t, blocks
}

// StepTime is how long one step of a scenario takes, start and stop included.
func StepTime(s record.Scenario) time.Duration {
	return overhead + s.Idle + s.Warmup + s.Window + s.Rest
}

func scenarios(t times) []record.Scenario {
	get := []record.Request{{
		Method: "GET", Path: "/users/{id}", WantStatus: 200,
		WantBody: `{"id":"{id}","name":"User {id}","email":"user{id}@example.com"}`,
	}}
	post := []record.Request{{
		Method: "POST", Path: "/users", Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"name":"User {id}","email":"user{id}@example.com"}`, WantStatus: 201,
		WantBody: `{"id":"{digits}","name":"User {id}","email":"user{id}@example.com"}`,
	}}
	closed := func(name string, r []record.Request, connections int) record.Scenario {
		return record.Scenario{Name: fmt.Sprintf("%s-c%d", name, connections), Kind: record.Closed, Requests: r,
			Connections: connections, Warmup: t.warmup, Window: t.window}
	}
	return []record.Scenario{
		closed("get", get, 50),
		closed("get", get, 300),
		closed("post", post, 50),
		closed("post", post, 300),
		{Name: "memory-c300", Kind: record.Memory, Requests: get, Connections: 300, Window: t.memoryLoad, Idle: t.idle, Rest: t.rest},
	}
}

// DefaultRules are the thresholds of a session, archived with it. Sources:
// errors and Little's law method.md sections 9 (P1, K1); the artefact factor is
// the first rule for maxima; the generator's share of CPU G6; workers F8; log bytes: a line of 20 bytes for each request
// would be an access log.
func DefaultRules() record.Rules {
	return record.Rules{
		ErrorRatioMax: 0.001, ArtefactMaxFactor: 2, DutyRatioMin: 0.95, DutyRatioMax: 1.005,
		ServerCPUBusyMin: 0.9, ChattyBytesPerReq: 1, MinBlocksForMedian: MinBlocks,
		GeneratorCPUMax: 0.8, WorkerMaxOverMean: 1.25, WorkerJainMin: 0.98,
		Machine: machineRules(),
	}
}
