package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gonogo/runner/record"
)

const (
	meterSleep = time.Millisecond
	// meterThreshold is how late a wake must be to be noted. The kernel's own
	// timers are right to some 50 us.
	meterThreshold = time.Millisecond
	// meterRoom bounds the events of a CPU to 1 MiB. At a hiccup of the shortest
	// kind after every sleep it lasts for two minutes.
	meterRoom = 1 << 16
)

// Meter sleeps on each of the CPUs, over and over, until ctx is done, and returns
// when it woke late (the principle of jHiccup). While a thread with nothing to do
// is not run, neither is anybody else on that CPU, unless that somebody is why.
// It calls ready, if that is not nil, when all CPUs are being watched.
//
// It belongs in a process of its own: there its threads share no runtime with a
// program that collects garbage.
func Meter(ctx context.Context, cpus []int, ready func()) (*record.Hiccups, error) {
	if len(cpus) == 0 {
		return nil, errors.New("meter hiccups: no CPUs")
	}
	// No collection while it runs, and a processor of the Go scheduler for each
	// thread, so that none waits for another.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(len(cpus) + 2))
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	h := &record.Hiccups{CPUs: make([]record.CPUHiccups, len(cpus))}
	errs := make([]error, len(cpus))
	var begun, ended sync.WaitGroup
	begun.Add(len(cpus))
	for i, cpu := range cpus {
		ended.Go(func() {
			var err error
			if h.CPUs[i], err = watchCPU(cpu, &stop, &begun); err != nil {
				stop.Store(true)
				errs[i] = fmt.Errorf("meter hiccups on CPU %d: %w", cpu, err)
			}
		})
	}
	begun.Wait()
	h.Start = monotonic()
	if ready != nil && !stop.Load() {
		ready()
	}
	ended.Wait()
	h.End = monotonic()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(h.CPUs, func(a, b record.CPUHiccups) int { return a.CPU - b.CPU })
	return h, nil
}

// watchCPU sleeps until stop. It allocates nothing once it has begun.
func watchCPU(cpu int, stop *atomic.Bool, begun *sync.WaitGroup) (record.CPUHiccups, error) {
	seen := record.CPUHiccups{CPU: cpu}
	err := pinThread(cpu)
	sharpenTimers()
	log := make([]record.Hiccup, 0, meterRoom)
	due := monotonic() + meterSleep // before it is said to have begun: from here on no stall escapes it
	begun.Done()
	if err != nil {
		return seen, err
	}
	for !stop.Load() {
		if err := sleepUntil(due); err != nil {
			return seen, err
		}
		now := monotonic()
		log = note(&seen, log, due, now)
		due += meterSleep
		if due <= now { // what fell due during a hiccup is part of it
			due = now + meterSleep
		}
	}
	if now := monotonic(); now > due { // kept from running since the last wake, up to the end
		log = note(&seen, log, due, now)
	}
	if len(log) > 0 {
		seen.Events = slices.Clone(log)
	}
	return seen, nil
}

// note counts one wake and logs it if it was late.
func note(seen *record.CPUHiccups, log []record.Hiccup, due, now time.Duration) []record.Hiccup {
	late := now - due
	seen.Wakes++
	seen.Max = max(seen.Max, late)
	switch {
	case late <= meterThreshold:
		return log
	case len(log) == cap(log):
		seen.Lost++
		return log
	}
	return append(log, record.Hiccup{Start: due, Length: late})
}
