package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Beside reads what another session adds to a decision on s: memory floors, which take
// the place of memory under load, capacities, which bound what a replica takes, or the
// notes of a sweep. The error is a *Refused if it is none of these, no evidence, or of
// another machine or other versions.
func Beside(s, other *record.Session, e findings.Evaluation) (record.Beside, error) {
	b := record.Beside{Session: other.ID, Kind: other.Plan.Kind, PlanSHA256: planSum(other)}
	var reasons []string
	switch {
	case e.Floor != nil:
		b.Floors = floorLevels(other, e.Floor)
	case e.Capacity != nil:
		b.Capacities = capacityLevels(e.Capacity)
	case e.Scale != nil:
		b.Notes = scaleNotes(e.Scale)
	default:
		reasons = append(reasons, "it is no session of memory-floor, capacity or scale")
	}
	if other.Plan.Quick {
		reasons = append(reasons, "it is a smoke run")
	}
	if !other.Complete() {
		reasons = append(reasons, "it is incomplete")
	}
	for _, f := range e.Findings {
		if f.Severity == record.Voids {
			reasons = append(reasons, "it is invalid: "+f.Text)
		}
	}
	if len(reasons) == 0 && len(b.Floors)+len(b.Capacities)+len(b.Notes) == 0 {
		reasons = append(reasons, "it found no number for any target")
	}
	if reasons = append(reasons, unlike(s, other)...); len(reasons) > 0 {
		return record.Beside{}, &Refused{reasons}
	}
	return b, nil
}

// floorLevels takes, of each target, the arm that needs less: a limit that a runtime has to be
// told of is a variable of the environment.
func floorLevels(s *record.Session, m *findings.MemoryFloor) []record.FloorLevel {
	var all []record.FloorLevel
	for _, t := range m.Targets {
		if t.Floor == nil {
			continue
		}
		name := t.Target
		if t.Matched {
			name = unmatched(s, t.Target)
		}
		l := record.FloorLevel{Target: name, Arm: t.Target, Bytes: record.Span{Value: t.Floor.Value, Lo: t.Floor.Lo, Hi: t.Floor.Hi}, Rate: m.Rate, SLO: m.SLO}
		i := slices.IndexFunc(all, func(o record.FloorLevel) bool { return o.Target == name })
		switch {
		case i < 0:
			all = append(all, l)
		case l.Bytes.Value < all[i].Bytes.Value:
			all[i] = l
		}
	}
	return all
}

// unmatched is the target that a matched one is the same as, but for what it is told.
func unmatched(s *record.Session, matched string) string {
	for _, t := range s.Plan.Targets {
		if !t.Matched && strings.HasPrefix(matched, t.Name+"-") {
			return t.Name
		}
	}
	return matched
}

func capacityLevels(c *findings.Capacity) []record.CapacityLevel {
	var all []record.CapacityLevel
	for _, t := range c.Targets {
		if t.Rate != nil && !t.Shared { // a shared one is of server and generator together
			all = append(all, record.CapacityLevel{Target: t.Target, Rate: record.Span{Value: t.Rate.Value, Lo: t.Rate.Lo, Hi: t.Rate.Hi}, SLO: c.SLO})
		}
	}
	return all
}

func scaleNotes(c *findings.Scale) []string {
	var all []string
	for _, a := range c.Arms {
		if e := a.Each; e != nil && e.Straight {
			all = append(all, fmt.Sprintf("%s: one more of the %s takes %s KiB (%s..%s)", a.Arm, c.Factor, number(e.Bytes.Value/1024), number(e.Bytes.Lo/1024), number(e.Bytes.Hi/1024)))
		}
	}
	return all
}

// unlike says what makes numbers of two sessions no numbers of the same servers on the
// same machine.
func unlike(s, other *record.Session) []string {
	var all []string
	differs := func(what string, a, b any) {
		if fmt.Sprint(a) != fmt.Sprint(b) {
			all = append(all, fmt.Sprintf("%s: %v there and %v here", what, b, a))
		}
	}
	a, b := s.Host, other.Host
	differs("CPU", a.CPUModel, b.CPUModel)
	differs("number of CPUs", len(a.CPUs), len(b.CPUs))
	differs("memory", a.MemoryBytes, b.MemoryBytes)
	differs("system", a.OS+"/"+a.Arch, b.OS+"/"+b.Arch)
	differs("kernel", a.Kernel, b.Kernel)
	differs("hypervisor", a.Hypervisor, b.Hypervisor)
	for _, name := range slices.Sorted(maps.Keys(a.Binaries)) {
		if sum, ok := b.Binaries[name]; ok {
			differs(name, a.Binaries[name], sum)
		}
	}
	mine, theirs := versions(s), versions(other)
	for _, t := range slices.Sorted(maps.Keys(mine)) {
		if v, ok := theirs[t]; ok {
			differs("version of "+t, strings.Join(mine[t], ", "), strings.Join(v, ", "))
		}
	}
	return all
}

// floor is the memory limit of a target that another session found.
func (m *matter) floor(target string) (record.FloorLevel, bool) {
	for _, b := range m.beside {
		for _, l := range b.Floors {
			if l.Target == target {
				return l, true
			}
		}
	}
	return record.FloorLevel{}, false
}

// capacity is the rate of a target that another session found; zero is none.
func (m *matter) capacity(target string) record.Span {
	for _, b := range m.beside {
		for _, l := range b.Capacities {
			if l.Target == target {
				return l.Rate
			}
		}
	}
	return record.Span{}
}

// floored puts floors in the place of memory under load, where both of a pair have one. How the
// two compare is measured by the floors; that they differ stays for the verdict to say.
func (m *matter) floored(p pair) pair {
	target, ok := m.floor(p.Target)
	base, ok2 := m.floor(p.Base)
	if !ok || !ok2 || base.Bytes.Value <= 0 || base.Bytes.Lo <= 0 {
		return p
	}
	p.base = base.Bytes.Value
	p.measured = &record.Span{Value: target.Bytes.Value / base.Bytes.Value, Lo: target.Bytes.Lo / base.Bytes.Hi, Hi: target.Bytes.Hi / base.Bytes.Lo}
	return p
}

// tooBusy says that a replica would have to take more than the rate that its memory floor
// was found at, which says nothing of more.
func (m *matter) tooBusy(in record.DecisionInputs, o record.Option) string {
	l, ok := m.floor(o.Target)
	if !ok || o.Replicas.Lo < 1 || *in.PeakRate/o.Replicas.Lo <= l.Rate {
		return ""
	}
	each := *in.PeakRate / o.Replicas.Lo
	return fmt.Sprintf("a replica of %s takes %s requests/s at the peak, and its memory floor is of %s: gonogo memory-floor --rate %.0f", o.Target, number(each), number(l.Rate), each)
}

// knowsFloors reports whether a session of memory floors was given.
func (m *matter) knowsFloors() bool {
	return slices.ContainsFunc(m.beside, func(b record.Beside) bool { return len(b.Floors) > 0 })
}
