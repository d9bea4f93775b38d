package host

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// The canary is canaryRuns loops of canarySteps dependent integer operations,
// about 50 ms each on a CPU of 2020. It touches no memory and makes no system
// call, so its time is the processor's speed and nothing else.
const (
	canaryRuns  = 5
	canarySteps = 25_000_000
)

// Canary times a fixed loop on each of the CPUs at once and returns the median of
// the slowest CPU. It shows throttling, slow cores and busy neighbours also where
// no counter does. It takes about a quarter of a second; call it outside windows.
func Canary(cpus []int) (time.Duration, error) { return canary(cpus, canaryRuns, canarySteps) }

func canary(cpus []int, runs, steps int) (time.Duration, error) {
	if len(cpus) == 0 {
		return median(timeLoops(runs, steps)), nil
	}
	type result struct {
		took time.Duration
		err  error
	}
	results := make(chan result, len(cpus))
	for _, cpu := range cpus {
		go func() {
			if err := pinThread(cpu); err != nil {
				results <- result{err: fmt.Errorf("time canary on CPU %d: %w", cpu, err)}
				return
			}
			results <- result{took: median(timeLoops(runs, steps))}
		}()
	}
	var slowest time.Duration
	var err error
	for range cpus {
		r := <-results
		slowest = max(slowest, r.took)
		if r.err != nil {
			err = r.err
		}
	}
	if err != nil {
		return 0, err
	}
	return slowest, nil
}

func timeLoops(runs, steps int) []time.Duration {
	took := make([]time.Duration, runs)
	for i := range took {
		start := time.Now()
		x := spin(steps)
		took[i] = time.Since(start)
		runtime.KeepAlive(x) // or the loop would be left out
	}
	return took
}

// spin is xorshift64 (Marsaglia 2003): each step needs the one before it, so no
// processor can do them side by side.
func spin(steps int) uint64 {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
