package findings

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// queueing is how long a thread that is due may wait on a CPU that the generator
// uses without anything being wrong: a scheduler's slice, some 3 ms, and a bit.
const queueing = 5 * time.Millisecond

// host: a CPU did not run the meter while the request waited. Only a CPU that the
// server does not use can tell, for on the server's own it is the server that keeps
// the meter waiting (method M2); there the hypervisor's count must say the same.
//
// With two CPUs the only one that the server leaves is the generator's. A hiccup
// there may be of the whole machine or of that CPU alone. Either way the reply was
// late because of the machine, and the text says which CPU was seen.
func (v *evidence) host(q request) string {
	best, seen := time.Duration(0), ""
	for _, cpu := range slices.Sorted(maps.Keys(v.hiccups)) {
		use, least := v.use(cpu)
		if use == usedByServer && !v.stolen(q) {
			continue
		}
		if d := within(longer(v.hiccups[cpu], least), q.span); d > best && q.covers(d) {
			best, seen = d, fmt.Sprintf("CPU %d, %s, was not run for %s of it", cpu, use, millis(float64(d)))
		}
	}
	return seen
}

const usedByServer = "which the server uses, and time was stolen"

// use says who uses a CPU, and from which length on a hiccup there means something.
func (v *evidence) use(cpu int) (string, time.Duration) {
	switch t := v.target; {
	case len(t.CPUs) == 0 || slices.Contains(t.CPUs, cpu):
		return usedByServer, queueing
	case slices.Contains(t.GeneratorCPUs, cpu):
		return "which only the generator uses", queueing
	}
	return "which nobody uses", 0
}

// stolen reports whether the hypervisor took as much as would explain it.
func (v *evidence) stolen(q request) bool {
	e := v.run.Environment
	return e != nil && e.Steal != nil && q.covers(*e.Steal)
}

func longer(spans []span, least time.Duration) []span {
	var kept []span
	for _, s := range spans {
		if s.length() >= least {
			kept = append(kept, s)
		}
	}
	return kept
}
