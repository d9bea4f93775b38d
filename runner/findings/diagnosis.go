package findings

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"gonogo/runner/record"
)

// diagnose looks at the three vectors, and then at what none of them would say alone.
func (x *TargetProfile) diagnose(r record.ProfileRules, generatorMax float64) {
	locks := x.locks(r)
	x.Diagnosis = []Diagnosis{x.work(r), locks, x.memory(r)}
	switch {
	case x.Shared || x.Disturbed || x.Busy == 0 || x.P99 == 0 || x.Work == 0: // who shares its CPUs may be idle for want of them
		return
	case x.Busy > r.IdleMax || x.P99 < r.LatencyMean*x.Work:
		return
	case generatorMax > 0 && x.Generator > generatorMax: // it waits for requests
		return
	}
	x.Paradox = fmt.Sprintf("%.0f %% of its CPU is used and p99 is %v: it waits. ", 100*x.Busy, brief(x.P99))
	switch other, ok := x.vectors[record.VectorBlock]; {
	case locks.Word == Suspect && x.Runtime == "node":
		x.Paradox += "Look at the event loop (" + locks.Observed + ") and at " + locks.Top
	case locks.Word == Suspect:
		x.Paradox += "Look at the locks (" + locks.Observed + "), first at " + locks.Top
	case ok && other.requests > 0 && len(other.Functions) > 0 && float64(other.Total)/other.requests >= r.LockMin*x.meantime(other.rate):
		x.Paradox += "Look at what waits for channels and conditions, first at " + other.Functions[0].Name
	default:
		x.Paradox += "Neither locks nor a blocked event loop show: look at timers, and at what it asks other services"
	}
}

// meantime is the mean time of a request in a closed loop at a rate (Little's law), ns.
func (x *TargetProfile) meantime(rate float64) float64 {
	return float64(x.Connections) / rate * float64(time.Second)
}

func (x *TargetProfile) work(r record.ProfileRules) Diagnosis {
	d := Diagnosis{Vector: "cpu", Word: NoWord, Threshold: fmt.Sprintf("busy from %.0f %% on", 100*r.BusyMin)}
	if x.Busy > 0 {
		d.Word, d.Observed = Fine, fmt.Sprintf("%.0f %% of its CPUs busy, %.3g µs a request", 100*x.Busy, x.CPU/1e3)
		if x.Busy >= r.BusyMin {
			d.Word = Suspect
		}
	} else {
		d.Observed = "how busy it was is not known"
	}
	if v, ok := x.vectors[record.VectorCPU]; ok && v.Total > 0 && len(v.Functions) > 0 {
		d.Top = v.Functions[0].Name
	}
	return d
}

// locks are waits for mutexes of Go. Node has one thread: what holds it up shows as the
// delay of its event loop.
func (x *TargetProfile) locks(r record.ProfileRules) Diagnosis {
	d := Diagnosis{Vector: "locks", Word: NoWord, Observed: "not profiled"}
	if x.Runtime == "node" {
		limit := max(float64(r.LoopMin), r.LoopFactor*x.Work)
		d.Threshold = fmt.Sprintf("event loop late by %v at p99", brief(limit))
		if x.loop == nil {
			return d
		}
		d.Word, d.Observed = Fine, fmt.Sprintf("event loop late by %v at p99, %v at most", brief(float64(x.loop.P99)), brief(float64(x.loop.Max)))
		switch late := float64(x.loop.P99) >= limit; {
		case late && (x.loopDisturbed || x.Shared):
			d.Word, d.Observed = NoWord, d.Observed+", while others used its CPUs"
		case late:
			d.Word, d.Top = Suspect, x.longest()
		}
		return d
	}
	d.Threshold = fmt.Sprintf("%.0f %% of a request's time", 100*r.LockMin)
	v, ok := x.vectors[record.VectorLock]
	if !ok || v.requests == 0 {
		return d
	}
	wait := float64(v.Total) / v.requests
	share := wait / x.meantime(v.rate)
	d.Word, d.Observed = Fine, fmt.Sprintf("%.2g %% of a request's time waited for locks", 100*share)
	if share >= r.LockMin && len(v.Functions) > 0 {
		d.Word, d.Top = Suspect, v.Functions[0].Name
		if held := x.vectors[record.VectorMutex]; len(held.Functions) > 0 && held.Functions[0].Name != d.Top {
			d.Top += ", held by " + held.Functions[0].Name
		}
	}
	return d
}

// longest is the function of the program itself that Node's thread was in most: V8's
// samples are of wall time, so one that blocks shows as one that works.
func (x *TargetProfile) longest() string {
	for _, f := range x.vectors[record.VectorCPU].Functions {
		if f.Category == "own" && f.Self > 0 {
			return f.Name
		}
	}
	return "what runs long without a pause"
}

func (x *TargetProfile) memory(r record.ProfileRules) Diagnosis {
	d := Diagnosis{Vector: "memory", Word: NoWord, Threshold: fmt.Sprintf("%.0f %% of the samples in allocation and collection, or %.0f bytes more in use after each request", 100*r.GCMin, r.LiveMin)}
	var said []string
	cpu, ok := x.vectors[record.VectorCPU]
	if ok && cpu.Total > 0 {
		d.Word = Fine
		share := float64(cpu.Categories[record.GCCategory]+cpu.Categories[record.AllocCost]) / float64(cpu.Total)
		said = append(said, fmt.Sprintf("%.2g %% of the samples in allocation and collection", 100*share))
		if share >= r.GCMin {
			d.Word = Suspect
		}
	}
	if v, ok := x.vectors[record.VectorAlloc]; ok && v.requests > 0 {
		said = append(said, fmt.Sprintf("%.0f bytes allocated for a request", float64(v.Total)/v.requests))
		if len(v.Functions) > 0 {
			d.Top = v.Functions[0].Name
		}
	}
	if x.live != nil && x.liveOver > 0 {
		grown := x.live.End - x.live.Begin
		each := float64(grown) / x.liveOver
		said = append(said, fmt.Sprintf("%.0f bytes more in use after each", math.Max(0, each)))
		if d.Word == NoWord {
			d.Word = Fine
		}
		if each >= r.LiveMin && grown >= r.LiveLeast {
			d.Word = Suspect
			if v := x.vectors[record.VectorLive]; len(v.Functions) > 0 {
				d.Top = v.Functions[0].Name + ", which holds what stays"
			}
		}
	}
	d.Observed = cmp.Or(strings.Join(said, ", "), "not profiled")
	return d
}
