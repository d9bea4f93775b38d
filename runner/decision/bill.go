package decision

import (
	"fmt"
	"math"

	"gonogo/runner/record"
)

// shape is one way to run the service, as far as it was measured.
type shape struct {
	name, target string
	cores, vcpus int         // used, and paid for, by a replica
	processes    int         // of a replica, each with the own memory of its own
	cpu          record.Span // ns of a request in the server itself
	memory       record.Span // bytes of a replica in the server itself
}

// the ways to run it.
const (
	today   = "today"
	cluster = "cluster"
	rewrite = "go"
)

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// bill is an option at one point of the intervals.
type bill struct {
	byCPU, byMemory, byOther, replicas, memory, money float64
}

// option works out a shape at both ends of its intervals and between. More CPU or
// more memory never makes a bill smaller, so the ends of the one are the ends of
// the other. That CPU and memory are both at their worst is pessimistic: the
// interval covers at least what it says.
func (m *matter) option(in record.DecisionInputs, s shape) (record.Option, error) {
	o := record.Option{Name: s.name, Target: s.target, CoresUsed: s.cores, VCPUs: s.vcpus}
	var at [3]bill
	most := m.capacity(s.target)
	for i, x := range [3][3]float64{{s.cpu.Value, s.memory.Value, most.Value}, {s.cpu.Lo, s.memory.Lo, most.Hi}, {s.cpu.Hi, s.memory.Hi, most.Lo}} {
		b, err := m.bill(in, s, x[0], x[1], x[2])
		if err != nil {
			return o, fmt.Errorf("%s (%s): %w", s.name, s.target, err)
		}
		at[i] = b
	}
	span := func(of func(bill) float64) record.Span {
		return record.Span{Value: of(at[0]), Lo: of(at[1]), Hi: of(at[2])}
	}
	o.ByCPU = span(func(b bill) float64 { return b.byCPU })
	if in.Binds == byMemory {
		r := span(func(b bill) float64 { return b.byMemory })
		o.ByMemory = &r
	}
	o.ByOther = int(at[0].byOther)
	o.Replicas = span(func(b bill) float64 { return b.replicas })
	o.MemoryBytes = span(func(b bill) float64 { return b.memory })
	o.BillPerMonth = span(func(b bill) float64 { return b.money })
	return o, nil
}

// bill follows method P3:
//
//	by CPU     ceil(peak x (W + c) / (cores x u))
//	           at least ceil(peak / (capacity x u)), where a session of capacity was given:
//	           a server with own work takes no more than without
//	by memory  ceil(all own memory / (limit - server's own memory)), where memory binds and a limit is given
//	replicas   the largest of these and of what availability asks for
//
// with capacity the rate most, 0 where none is known, W and c the CPU time of a request in own code and in the server, u the share
// of its cores that a replica is planned to use. Where memory binds, the processes
// divide the own memory among them; elsewhere each of them holds it all, the workers
// of a Node cluster too, for they share nothing.
func (m *matter) bill(in record.DecisionInputs, s shape, cpu, memory, most float64) (bill, error) {
	u := m.rules.CPUTarget
	if in.CPUTarget != nil {
		u = *in.CPUTarget
	}
	now := float64(*in.Replicas)
	own := *in.OwnMemory * mebi * float64(s.processes)             // of a replica
	all := *in.OwnMemory * mebi * float64(*in.NodeProcesses) * now // where it is divided
	var b bill
	busy := *in.PeakRate * (*in.OwnCPU*1e6 + cpu) / 1e9 // cores that are busy at the peak
	b.byCPU = max(1, whole(busy/(float64(s.cores)*u)))
	if most > 0 {
		b.byCPU = max(b.byCPU, whole(*in.PeakRate/(most*u)))
	}
	b.byOther = 1
	if in.MinReplicas != nil {
		b.byOther = float64(*in.MinReplicas)
	}
	if in.Binds == byAvailability || in.Binds == byLatency {
		b.byOther = max(b.byOther, now)
	}
	if in.ReplicaMemory != nil && memory >= *in.ReplicaMemory*mebi {
		return bill{}, fmt.Errorf("the server alone takes %.0f MiB, and replica_memory_mib is %g", memory/mebi, *in.ReplicaMemory)
	}
	if in.Binds == byMemory {
		b.byMemory = now // without a limit nobody can say how many could go
		if in.ReplicaMemory != nil {
			b.byMemory = max(1, whole(all/(*in.ReplicaMemory*mebi-memory)))
		}
	} else if in.ReplicaMemory != nil && own+memory > *in.ReplicaMemory*mebi {
		return bill{}, fmt.Errorf("a replica takes %.0f MiB, and replica_memory_mib is %g", (own+memory)/mebi, *in.ReplicaMemory)
	}
	b.replicas = max(b.byCPU, b.byMemory, b.byOther)
	b.memory = b.replicas * (own + memory)
	if in.Binds == byMemory {
		b.memory = all + b.replicas*memory
	}
	b.money = b.replicas*float64(s.vcpus)**in.PricePerVCPU + b.memory/gibi**in.PricePerGiB
	return b, nil
}

// whole rounds up, but not for what rounding of the arithmetic itself added.
func whole(x float64) float64 { return math.Ceil(x * (1 - 1e-12)) }

// less is what b costs less than a: least at b's dearest and a's cheapest. The two
// are of one base, so where a is that base it has no interval of its own.
func less(a, b record.Option) record.Span {
	return record.Span{
		Value: a.BillPerMonth.Value - b.BillPerMonth.Value,
		Lo:    a.BillPerMonth.Lo - b.BillPerMonth.Hi,
		Hi:    a.BillPerMonth.Hi - b.BillPerMonth.Lo,
	}
}

func over(x record.Span, by float64) record.Span {
	return record.Span{Value: x.Value / by, Lo: x.Lo / by, Hi: x.Hi / by}
}

// exactly is a number that intervals are ratios to.
func exactly(x float64) record.Span { return record.Span{Value: x, Lo: x, Hi: x} }
