package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonogo/runner/record"
)

// Quiet watches the CPUs for d (or until ctx is done) while nothing of ours runs
// but this program, and judges what went on meanwhile.
func Quiet(ctx context.Context, cpus []int, d time.Duration, r record.MachineRules) (record.Environment, []record.Check) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	before := Take()
	hiccups, err := Meter(ctx, cpus, nil)
	<-ctx.Done() // also where there is no meter
	e := Between(before, Take(), cpus)
	late := JudgeHiccups(hiccups, r)
	if err != nil {
		late.Observed += ": " + err.Error()
	}
	return e, append(JudgeQuiet(e, r), late)
}

// Spare lists the usable CPUs on cores of which no CPU is in used. A meter there
// tells a stall of the whole machine from a server that keeps its own CPU busy.
func Spare(used []int) []int { return here().spare(used) }

func (m machine) spare(used []int) []int {
	var free []int
	for _, c := range m.cores() {
		if !slices.ContainsFunc(c.threads, func(t int) bool { return slices.Contains(used, t) }) {
			free = append(free, c.threads...)
		}
	}
	slices.Sort(free)
	return free
}

// remedies say what to do about a gate that does not hold, by its name.
var remedies = map[string]string{
	nameForeign:  "end or stop what else uses the CPUs",
	nameSteal:    "other guests use this machine's processors: take a dedicated host, or another hour",
	nameMemory:   "memory is short: end what holds it",
	nameDisk:     "the disk is busy: wait for backups, indexers and builds to end",
	nameSwap:     "memory is short: end what holds it, or swapoff -a",
	nameThermal:  "the processor runs too hot: cool it, or lower its clock so that it can keep it",
	nameQuotaSet: "a CPU quota stops whole processes at once: pin to CPUs instead (cpuset), without --cpus or limits.cpu",
	nameQuota:    "raise the CPU quota or take it away",
	nameCPU:      "threads wait for a CPU: see CPU used by others",
	nameRunning:  "see CPU used by others",
	nameHiccup:   "something keeps a CPU to itself or takes it away: see CPU used by others and steal, then real-time tasks and interrupts",
	nameCanary:   "the processor changes its speed: set the governor to performance, turn turbo off, let it cool",
	nameClock:    "boot with clocksource=tsc, or ask the hypervisor for its clock",
	nameGovernor: "cpupower frequency-set -g performance",
	namePower:    "plug it in, and turn low power mode off",
	nameASLR:     "sysctl kernel.randomize_va_space=2",
	nameCores:    "use a machine with more cores, or read the k-core rows as shared",
}

// Advise says what would make the machine fit, for each check that is not OK, and
// names the disturbers.
func Advise(checks []record.Check, disturbers []record.Disturber) []string {
	var advice []string
	for _, c := range checks {
		text, ok := remedies[c.Name]
		if c.OK || c.Unknown || !ok {
			continue
		}
		if c.Name == nameForeign {
			for _, d := range disturbers {
				text += fmt.Sprintf("; %s (PID %d) used %v", d.Name, d.PID, d.CPU.Round(time.Millisecond))
			}
		}
		advice = append(advice, c.Name+": "+text)
	}
	return advice
}
