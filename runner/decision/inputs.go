package decision

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// What may decide the number of replicas.
const (
	byCPU          = "cpu"
	byMemory       = "memory"
	byAvailability = "availability"
	byLatency      = "latency"
)

var resources = []string{byCPU, byMemory, byAvailability, byLatency}

// Bounds of inputs. They keep sums of money and counts of replicas far from where
// a float64 loses whole numbers; no real service comes near them.
const (
	maxCount  = 1_000_000
	maxAmount = 1e12
	maxParts  = 100
)

// Check reports what inputs cannot be true of any service. An input that is absent
// is no fault.
func Check(in record.DecisionInputs) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	count := func(name string, n *int) {
		if n != nil && (*n < 1 || *n > maxCount) {
			bad("%s is %d: it must be 1..%d", name, *n, maxCount)
		}
	}
	amount := func(name string, x *float64) {
		if x != nil && (!(*x >= 0) || *x > maxAmount) {
			bad("%s is %g: it must be 0..%g", name, *x, maxAmount)
		}
	}
	positive := func(name string, x *float64) {
		if amount(name, x); x != nil && *x == 0 {
			bad("%s is 0: it must be more", name)
		}
	}
	count("replicas", in.Replicas)
	count("min_replicas", in.MinReplicas)
	count("vcpus_per_replica", in.VCPUs)
	count("node_processes_per_replica", in.NodeProcesses)
	if in.Binds != "" && !slices.Contains(resources, in.Binds) {
		bad("binds is %q: it must be one of %s", in.Binds, strings.Join(resources, ", "))
	}
	amount("price_per_vcpu_month", in.PricePerVCPU)
	amount("price_per_gib_month", in.PricePerGiB)
	positive("peak_rate_per_sec", in.PeakRate)
	positive("slo_p99_ms", in.SLO)
	amount("own_cpu_ms", in.OwnCPU)
	amount("own_io_ms", in.OwnIO)
	amount("own_memory_mib", in.OwnMemory)
	positive("replica_memory_mib", in.ReplicaMemory)
	amount("effort_days", in.EffortDays)
	amount("cost_per_effort_day", in.CostPerDay)
	positive("horizon_months", in.HorizonMonths)
	if x := in.CPUTarget; x != nil && !(*x > 0 && *x <= 1) {
		bad("cpu_target_ratio is %g: it must be above 0 and at most 1", *x)
	}
	if n := len(in.Parts); n > maxParts {
		bad("parts are %d: at most %d", n, maxParts)
	}
	names := map[string]bool{}
	for i, p := range in.Parts {
		if p.Name == "" || names[p.Name] {
			bad("part %d needs a name of its own", i+1)
		}
		names[p.Name] = true
		at := func(name string) string { return fmt.Sprintf("part %q: %s", p.Name, name) }
		count(at("replicas"), p.Replicas)
		count(at("min_replicas"), p.MinReplicas)
		positive(at("peak_rate_per_sec"), p.PeakRate)
		amount(at("own_cpu_ms"), p.OwnCPU)
		amount(at("own_io_ms"), p.OwnIO)
		amount(at("own_memory_mib"), p.OwnMemory)
		amount(at("effort_days"), p.EffortDays)
	}
	return errors.Join(errs...)
}

// missing lists the inputs that a bill cannot be made without, and what each is
// for. A price that is not given is never assumed.
func missing(in record.DecisionInputs) []record.Missing {
	var all []record.Missing
	need := func(known bool, input, purpose string) {
		if !known {
			all = append(all, record.Missing{Input: input, For: purpose})
		}
	}
	need(in.Binds != "", "binds", "which of the measured differences can matter: cpu, memory, availability or latency decides the number of replicas")
	need(in.Replicas != nil, "replicas", "what runs today")
	need(in.VCPUs != nil, "vcpus_per_replica", "what is paid for, and whether a cluster has cores to use")
	need(in.NodeProcesses != nil, "node_processes_per_replica", "whether Node already uses these vCPUs")
	need(in.PeakRate != nil, "peak_rate_per_sec", "replicas needed by CPU")
	need(in.OwnCPU != nil, "own_cpu_ms", "how much of a request can change at all")
	need(in.OwnMemory != nil, "own_memory_mib", "how much of a replica's memory can change at all")
	need(in.MinReplicas != nil || in.Binds == byAvailability, "min_replicas", "replicas needed by availability")
	need(in.PricePerVCPU != nil, "price_per_vcpu_month", "the bill")
	need(in.PricePerGiB != nil, "price_per_gib_month", "the bill")
	need(in.EffortDays != nil, "effort_days", "what the migration costs")
	need(in.CostPerDay != nil, "cost_per_effort_day", "what the migration costs")
	need(in.HorizonMonths != nil, "horizon_months", "by when it has to pay")
	if in.Binds == byLatency {
		need(in.SLO != nil, "slo_p99_ms", "whether latency is a problem at all")
	}
	need(in.SLO == nil || in.OwnIO != nil, "own_io_ms", "how much of the latency can change at all")
	return all
}

// part is the service that a part would become.
func part(in record.DecisionInputs, p record.DecisionPart) record.DecisionInputs {
	in.Parts = nil
	for _, m := range []struct{ whole, own **float64 }{
		{&in.PeakRate, &p.PeakRate}, {&in.OwnCPU, &p.OwnCPU}, {&in.OwnIO, &p.OwnIO}, {&in.OwnMemory, &p.OwnMemory}, {&in.EffortDays, &p.EffortDays},
	} {
		if *m.own != nil {
			*m.whole = *m.own
		}
	}
	if p.Replicas != nil {
		in.Replicas = p.Replicas
	}
	if p.MinReplicas != nil {
		in.MinReplicas = p.MinReplicas
	}
	return in
}

// finite keeps a quotient by next to nothing out of the record, which JSON could
// not hold.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
