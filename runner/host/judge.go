package host

import (
	"fmt"
	"strconv"
	"time"

	"gonogo/runner/record"
)

// Names of the gates, as they are archived and printed.
const (
	nameForeign     = "CPU used by others"
	nameUnaccounted = "CPU time nobody is charged for"
	nameSteal       = "steal"
	nameMemory      = "memory pressure"
	nameDisk        = "disk pressure"
	nameSwap        = "swap"
	nameThermal     = "thermal slow-downs"
	nameQuota       = "stops by a CPU quota"
	nameCPU         = "CPU pressure"
	nameRunning     = "threads running"
	nameHiccup      = "longest hiccup"
	nameCanary      = "canary"
	nameClock       = "clock source"
	nameGovernor    = "CPU governor"
	namePower       = "power"
	nameASLR        = "address space randomisation"
	nameCores       = "physical cores"
	nameQuotaSet    = "CPU quota"
)

// Judge holds what went on in a window, under load, against the rules. It is
// silent on what our own load cannot be told apart from: pressure on the CPUs and
// threads that run.
//
// A number above Warn makes a check not OK, one above Fail also Void. A number
// that is not known makes it Unknown.
func Judge(e record.Environment, r record.MachineRules) []record.Check {
	unaccounted, known := e.Unaccounted()
	took := float64(e.Took)
	return append([]record.Check{
		blame(ratio(nameForeign, share(e.Others, took), r.ForeignInRun), e.Disturbers),
		ratio(nameUnaccounted, share(ref(unaccounted, known && e.Took > 0), took), r.Unaccounted),
	}, judgeBoth(e, r)...)
}

// judgeBoth are the gates that mean the same under load and at rest.
func judgeBoth(e record.Environment, r record.MachineRules) []record.Check {
	took := float64(e.Took)
	return []record.Check{
		ratio(nameSteal, share(e.Steal, took*float64(len(e.CPUs))), r.Steal),
		ratio(nameMemory, share(e.MemoryPressure, took), r.MemoryPressure),
		ratio(nameDisk, share(e.IOPressure, took), r.IOPressure),
		count(nameSwap, number(e.Swap), r.Swap, " pages"),
		count(nameThermal, number(e.Thermal), r.Thermal, ""),
		count(nameQuota, number(e.QuotaStops), r.QuotaStops, ""),
	}
}

// JudgeQuiet is for a time in which nothing of ours ran but this program and the
// meter: there interrupts, threads that run and pressure are others' too.
func JudgeQuiet(e record.Environment, r record.MachineRules) []record.Check {
	if e.Busy != nil && e.Interrupts != nil {
		busy := *e.Busy + *e.Interrupts
		e.Busy = &busy
	}
	foreign, known := e.Foreign()
	own := blame(ratio(nameForeign, share(ref(foreign, known && e.Took > 0), float64(e.Took)), r.ForeignCPU), e.Disturbers)
	return append(append([]record.Check{own}, judgeBoth(e, r)...),
		ratio(nameCPU, share(e.CPUPressure, float64(e.Took)), r.CPUPressure),
		count(nameRunning, number(e.Running), r.Running, ""),
	)
}

// JudgeHiccups looks at the longest hiccup on any CPU. On CPUs that run a load it
// shows the load's own queue, so it is a gate for a quiet machine only.
func JudgeHiccups(h *record.Hiccups, r record.MachineRules) record.Check {
	if h == nil || len(h.CPUs) == 0 {
		return unknown(nameHiccup, duration(r.Hiccup))
	}
	worst := h.CPUs[0]
	for _, c := range h.CPUs {
		if c.Max > worst.Max {
			worst = c
		}
	}
	c := verdict(nameHiccup, float64(worst.Max), r.Hiccup)
	c.Observed = fmt.Sprintf("%v on CPU %d", worst.Max.Round(time.Microsecond), worst.CPU)
	c.Limit = duration(r.Hiccup)
	return c
}

// JudgeCanary holds a canary against the median of its session. A processor that
// runs slower or faster than it did is not the same machine.
func JudgeCanary(observed, median time.Duration, r record.MachineRules) record.Check {
	limit := "within " + percents(r.Canary)
	if observed <= 0 || median <= 0 {
		return unknown(nameCanary, limit)
	}
	off := float64(observed)/float64(median) - 1
	c := verdict(nameCanary, max(off, -off), r.Canary)
	c.Observed = fmt.Sprintf("%+.1f %%", 100*off)
	c.Limit = limit
	return c
}

func verdict(name string, v float64, l record.Limits) record.Check {
	return record.Check{Name: name, OK: v <= l.Warn, Void: v > l.Fail}
}

func unknown(name, limit string) record.Check {
	return record.Check{Name: name, Unknown: true, Observed: "unknown", Limit: limit}
}

// ratio judges a share of time.
func ratio(name string, v *float64, l record.Limits) record.Check {
	if v == nil {
		return unknown(name, percents(l))
	}
	c := verdict(name, *v, l)
	c.Observed, c.Limit = fmt.Sprintf("%.2f %%", 100**v), percents(l)
	return c
}

// blame adds to a check that does not hold who used the most CPU.
func blame(c record.Check, list []record.Disturber) record.Check {
	c.Limit += " of one CPU"
	if !c.OK && !c.Unknown && len(list) > 0 {
		d := list[0]
		c.Observed += fmt.Sprintf(" (most by %s, PID %d: %v)", d.Name, d.PID, d.CPU.Round(time.Millisecond))
	}
	return c
}

func count(name string, v *float64, l record.Limits, unit string) record.Check {
	limit := either(strconv.FormatFloat(l.Warn, 'f', -1, 64), strconv.FormatFloat(l.Fail, 'f', -1, 64)) + unit
	if v == nil {
		return unknown(name, limit)
	}
	c := verdict(name, *v, l)
	c.Observed, c.Limit = strconv.FormatFloat(*v, 'f', -1, 64)+unit, limit
	return c
}

// either prints both limits of a gate, or the one if they are the same.
func either(warn, fail string) string {
	if warn == fail {
		return fail
	}
	return warn + ", fails above " + fail
}

func percents(l record.Limits) string {
	p := func(f float64) string { return strconv.FormatFloat(100*f, 'g', 6, 64) + " %" }
	return either(p(l.Warn), p(l.Fail))
}

func duration(l record.Limits) string {
	return either(time.Duration(l.Warn).String(), time.Duration(l.Fail).String())
}

func share(d *time.Duration, of float64) *float64 {
	if d == nil || of <= 0 {
		return nil
	}
	f := float64(*d) / of
	return &f
}

func ref(d time.Duration, known bool) *time.Duration {
	if !known {
		return nil
	}
	return &d
}

func number(n *uint64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
