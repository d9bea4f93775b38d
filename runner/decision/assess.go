package decision

import (
	"fmt"
	"slices"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// outcome is what holding Go against one way to run Node comes to.
type outcome int

const (
	open      outcome = iota // not proven either way
	pays                     // by the rule, at the end of the interval that saves least
	pointless                // also at the end that saves most, or it changes nothing that binds
)

// held is Go against one way to run Node.
type held struct {
	outcome outcome
	why     []string
	against string
	options []record.Option // of Node, then of Go
	saving  *record.Span
}

// assess answers for a service with all inputs. Go is held against Node on as many
// cores. Where a replica pays for vCPUs that its one Node process cannot use, a
// cluster is what Go has to beat; it costs no rewrite.
func (m *matter) assess(name string, in record.DecisionInputs) record.Assessment {
	a := record.Assessment{Name: name, Answer: record.NotProven}
	cost := *in.EffortDays * *in.CostPerDay
	a.Cost = &cost
	narrow, ok := m.rule(*in.NodeProcesses)
	if !ok {
		a.Why = []string{fmt.Sprintf("Node with %d processes was not measured, only with %s", *in.NodeProcesses, m.measured())}
		return a
	}
	wide, ok := m.rule(*in.VCPUs)
	if !ok {
		a.Why = []string{fmt.Sprintf("Node and Go on %d vCPUs were not measured, only on %s: what was not measured is not extrapolated", *in.VCPUs, m.measured())}
		return a
	}
	if narrow.Cores > wide.Cores {
		a.Why = []string{fmt.Sprintf("the inputs contradict each other: %d Node processes on %d vCPUs were not measured", narrow.Cores, wide.Cores)}
		return a
	}
	why, ok := m.consistent(in, narrow)
	if !ok {
		a.Why = []string{why}
		return a
	}
	now := m.hold(in, narrow, today)
	if narrow == wide {
		a = conclude(a, in, now)
	} else {
		a = m.withCluster(a, in, narrow, wide, now)
	}
	a.Why = once(append(a.Why, why))
	return a
}

// consistent holds the user's replicas against what the other inputs ask for
// today. It is not, or it gives a remark.
func (m *matter) consistent(in record.DecisionInputs, rule record.DecisionPair) (why string, ok bool) {
	cpu, memory := m.pair(rule, findings.ServerCPU), m.pair(rule, findings.LoadPSS)
	if cpu.base == 0 || memory.base == 0 {
		return "", true // no bill can be made, which is said elsewhere
	}
	node, err := m.option(in, shape{today, rule.Base, rule.Cores, *in.VCPUs, rule.Cores, exactly(cpu.base), exactly(memory.base)})
	if err != nil {
		return "the inputs contradict the measurement: " + err.Error(), false
	}
	switch n := node.Replicas.Value; {
	case n > float64(*in.Replicas):
		return fmt.Sprintf("the inputs contradict each other: today's load asks for %.0f replicas, and %d run; peak_rate_per_sec, own_cpu_ms, own_memory_mib, min_replicas or cpu_target_ratio is not so", n, *in.Replicas), false
	case n < float64(*in.Replicas):
		return fmt.Sprintf("%d replicas run, and these inputs account for %.0f: the others are there for a reason that is not in this record, and are in no bill", *in.Replicas, n), true
	}
	return "", true
}

// withCluster holds a cluster against today first, and Go against whichever of
// the two is proven to be the one to beat; if neither is, Go has to beat both.
func (m *matter) withCluster(a record.Assessment, in record.DecisionInputs, narrow, wide record.DecisionPair, now held) record.Assessment {
	first, clustered := m.clusterFirst(in, narrow, wide), m.hold(in, wide, cluster)
	decides := now
	if first.outcome == pays || first.outcome == open && now.outcome == pays && clustered.outcome == pays {
		decides = clustered
	}
	a = conclude(a, in, decides)
	switch {
	case first.outcome == pays && clustered.outcome != pays:
		a.Answer = record.ClusterFirst
		a.Why = slices.Concat(first.why, []string{"what Go would add to a cluster does not pay by the rule, or is not proven to:"}, a.Why)
	case first.outcome == open && now.outcome != clustered.outcome:
		a.Answer = record.NotProven
		a.Why = slices.Concat([]string{"whether Go has to beat today's Node or a cluster is not proven, and it makes a difference"}, first.why, now.why, clustered.why)
	default:
		a.Why = append(a.Why, first.why...)
	}
	if decides.against == cluster && len(first.options) > 0 {
		a.Options = slices.Concat(first.options[:1], a.Options)
	}
	a.ClusterSaving = first.saving
	return a
}

// conclude turns the outcome against one option into an answer.
func conclude(a record.Assessment, in record.DecisionInputs, h held) record.Assessment {
	a.Why, a.Options, a.Against, a.Saving = h.why, h.options, h.against, h.saving
	switch h.outcome {
	case pays:
		a.Answer = record.Go
	case pointless:
		a.Answer = record.NoGo
	default:
		a.Answer = record.NotProven
	}
	if h.saving == nil || len(h.options) == 0 {
		return a
	}
	if base := h.options[0].BillPerMonth.Value; base > 0 {
		r := over(*h.saving, base)
		a.SavingRatio = &r
	}
	if s := *h.saving; s.Value > 0 {
		months := record.Span{Value: *a.Cost / s.Value, Lo: *a.Cost / s.Hi}
		if months.Hi = *a.Cost / s.Lo; s.Lo <= 0 {
			months.Hi, a.BreakEvenNever = 0, true
		}
		if finite(months.Value) && finite(months.Lo) && finite(months.Hi) {
			a.BreakEven = &months
		}
	}
	return a
}

// hold judges Go against Node on the cores of one pair.
func (m *matter) hold(in record.DecisionInputs, rule record.DecisionPair, against string) held {
	h := held{against: against}
	if why, proven := m.binding(in, rule); why != "" {
		h.why = []string{why}
		if proven { // the bill is shown all the same
			h.outcome = pointless
			m.bills(in, rule, &h)
		}
		return h
	}
	if why := m.bills(in, rule, &h); why != "" {
		h.why = append([]string{why}, h.why...)
		return h
	}
	slo, why := m.slo(in, rule, h.options)
	if in.Binds == byLatency || slo != pays {
		h.outcome, h.why = slo, append([]string{why}, h.why...)
		return h
	}
	money, text := m.money(in, h)
	h.outcome, h.why = money, append([]string{text}, h.why...)
	if why != "" {
		h.why = append(h.why, why)
	}
	return h
}

// binding asks whether Go is better in what decides the number of replicas. It
// gives a reason if that is not so, and whether this is proven.
func (m *matter) binding(in record.DecisionInputs, rule record.DecisionPair) (why string, proven bool) {
	metric := map[string]findings.Metric{byCPU: findings.ServerCPU, byMemory: findings.LoadPSS, byLatency: findings.P99}[in.Binds]
	if metric == "" { // availability: the number stays, the size may change
		return "", false
	}
	p := m.pair(rule, metric)
	name := fmt.Sprintf("%s binds, and %s of %s against %s", in.Binds, word(metric), rule.Target, rule.Base)
	switch p.word() {
	case stats.Better:
		return "", true
	case stats.Equivalent, stats.Worse:
		return fmt.Sprintf("%s is %s: a rewrite does not change what decides the number of replicas", name, p.word()), true
	case "":
		return name + " was not asked before the first run, or has no verdict: " + m.unasked(rule, metric), false
	}
	text := fmt.Sprintf("%s is %s: %s", name, p.word(), p.verdict.Why)
	if n := p.verdict.BlocksNeeded; n != nil {
		text += fmt.Sprintf("; %d blocks would settle it if effect and noise stay", *n)
	}
	return text, false
}

// unasked says why a plan has no such question.
func (m *matter) unasked(rule record.DecisionPair, metric findings.Metric) string {
	for _, name := range []string{rule.Target, rule.Base} {
		if t, ok := m.s.Plan.Target(name); ok && t.Shared() && metric == findings.P99 {
			return "server and generator share CPUs, so latency is of the two together"
		}
	}
	return "the plan has no such question"
}

// bills fills in the options of Node and Go and what the one costs less. It gives a
// reason if that cannot be.
func (m *matter) bills(in record.DecisionInputs, rule record.DecisionPair, h *held) string {
	cpu, memory := m.pair(rule, findings.ServerCPU), m.pair(rule, findings.LoadPSS)
	used, ok := cpu.countable()
	mem, ok2 := memory.countable()
	if !ok || !ok2 {
		return fmt.Sprintf("no bill can be made for %s against %s: CPU per request is %s, memory is %s", rule.Target, rule.Base, orNone(cpu.word()), orNone(memory.word()))
	}
	vcpus := *in.VCPUs
	node, err := m.option(in, shape{h.against, rule.Base, rule.Cores, vcpus, rule.Cores, exactly(cpu.base), exactly(memory.base)})
	if err != nil {
		return "Node does not fit: " + err.Error()
	}
	gone, err := m.option(in, shape{rewrite, rule.Target, rule.Cores, vcpus, 1, cpu.times(used), memory.times(mem)})
	if err != nil {
		return "with Go the service does not fit: " + err.Error()
	}
	for _, o := range []record.Option{node, gone} {
		if why := m.tooBusy(in, o); why != "" {
			return why
		}
	}
	saving := less(node, gone)
	h.options, h.saving = []record.Option{node, gone}, &saving
	for _, p := range []struct {
		pair
		metric findings.Metric
	}{{cpu, findings.ServerCPU}, {memory, findings.LoadPSS}} {
		if p.word() == stats.Inconclusive {
			h.why = append(h.why, fmt.Sprintf("%s is INCONCLUSIVE: the bill counts no saving from it, and the cost that its interval allows", word(p.metric)))
		}
	}
	if node.Replicas.Value == gone.Replicas.Value {
		h.why = append(h.why, fmt.Sprintf("the number of replicas stays at %.0f; only their size changes", node.Replicas.Value))
	}
	return ""
}

func orNone(w stats.Word) string {
	if w == "" {
		return "without a verdict"
	}
	return string(w)
}

func (m *matter) measured() string {
	text := ""
	for i, p := range m.rules.Pairs {
		if i > 0 {
			text += " and "
		}
		text += fmt.Sprint(p.Cores)
	}
	return text
}

// word is a metric in plain words.
func word(m findings.Metric) string {
	switch m {
	case findings.ServerCPU:
		return "CPU per request"
	case findings.LoadPSS:
		return "memory under load"
	case findings.P99:
		return "p99"
	case findings.Rate:
		return "rate"
	}
	return string(m)
}
