package findings

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// diagnosticRuns is how many must show that the runtime paused (method M3).
const diagnosticRuns = 2

// pause is one of a server's runtime: so long, somewhere within a span.
type pause struct {
	length time.Duration
	within span
}

// runtimePauses are those of a run that can be placed, by process. One that may lie
// anywhere within more than its own length beside itself says nothing of when.
func runtimePauses(told []record.ServerPause, edge time.Duration) map[int][]pause {
	all := map[int][]pause{}
	for _, p := range told {
		if p.Late <= p.Length {
			from := p.Start - edge
			all[p.PID] = append(all[p.PID], pause{p.Length, span{from, from + p.Late + p.Length}})
		}
	}
	return all
}

// paused is for how long a process of the server was stopped by its runtime while
// the request waited, if each pause lay where it covers most. Of several processes it
// is the one that paused most: who served the request is not known, but it was one.
func (v *evidence) paused(q request) time.Duration {
	longest := time.Duration(0)
	for _, pauses := range v.server {
		sum := time.Duration(0)
		for _, p := range pauses {
			sum += min(p.length, span{max(p.within.from, q.from), min(p.within.to, q.to)}.length())
		}
		longest = max(longest, sum)
	}
	return longest
}

// pausedThrough reports whether the server's runtime told of pauses that explain
// one of the run's own slow requests.
func (v *evidence) pausedThrough(limit time.Duration) bool {
	for _, s := range v.run.Load.Slowest {
		if q := v.request(s); q.latency > limit && q.covers(v.paused(q)) {
			return true
		}
	}
	return false
}

// runtime: runs that were not asked borrow the answer of those that were; in one that
// was asked, the pause has to be there.
func (v *evidence) runtime(q request) string {
	if v.diagnosed < diagnosticRuns {
		return ""
	}
	if v.run.Traced == "" {
		return fmt.Sprintf("the server's runtime paused as long in %d diagnostic runs, by its own trace", v.diagnosed)
	}
	if d := v.paused(q); q.covers(d) {
		return fmt.Sprintf("the server's runtime paused for %s of it, by its own trace", millis(float64(d)))
	}
	return ""
}
