package decision

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// rejected are the numbers that decide nothing, each with its reason: first those
// of runs and tests that failed, then those that mean less than they seem to.
func rejected(s *record.Session, e *findings.Evaluation) []record.Rejected {
	var all []record.Rejected
	for _, d := range e.Discarded {
		what := "run " + d.Step
		if d.Attempt > 0 {
			what += fmt.Sprintf(", repeat %d", d.Attempt)
		}
		all = append(all, record.Rejected{What: what, Why: fmt.Sprintf("%s: %s", d.Outcome, d.Reason)})
	}
	for _, v := range e.Verdicts {
		if w := stats.Word(v.Word); w == stats.Invalid || w == stats.Inconclusive {
			r := record.Rejected{What: fmt.Sprintf("%s of %s against %s in %s", word(findings.Metric(v.Primary.Metric)), v.Primary.Target, v.Primary.Base, v.Primary.Scenario), Why: v.Word + ": " + v.Why}
			if v.Ratio != nil {
				r.Number = fmt.Sprintf("%.3f x", *v.Ratio)
			}
			all = append(all, r)
		}
	}
	all = append(all, limited(e)...)
	all = append(all, shared(e)...)
	all = append(all, closedLatency(s)...)
	return append(all, maxima(s, e)...)
}

// limited are rates of cells that something else than the server limited.
func limited(e *findings.Evaluation) []record.Rejected {
	var all []record.Rejected
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Kind != record.Closed || c.Shared || c.ServerBound() {
			continue
		}
		rate, ok := c.Summary[findings.Rate]
		if !ok {
			continue
		}
		why := "the row is " + string(c.Bound) + ", so its rate is a lower bound of what the server can do"
		if c.Bound == "" {
			why = "what limited it is not known"
		}
		all = append(all, record.Rejected{What: "rate of " + c.Name(), Number: number(rate.Median) + " requests/s", Why: why})
	}
	return all
}

// shared are the rates and latencies of servers that share CPUs with their
// generator, one row a target.
func shared(e *findings.Evaluation) []record.Rejected {
	rows := map[string][]string{}
	var order []string
	for i := range e.Cells {
		c := &e.Cells[i]
		rate, ok := c.Summary[findings.Rate]
		if !c.Shared || c.Kind == record.Memory || !ok {
			continue
		}
		if rows[c.Target] == nil {
			order = append(order, c.Target)
		}
		rows[c.Target] = append(rows[c.Target], c.Scenario+" "+number(rate.Median)+"/s")
	}
	var all []record.Rejected
	for _, target := range order {
		all = append(all, record.Rejected{What: "rates and latencies of " + target, Number: strings.Join(rows[target], ", "),
			Why: "shared: server and generator take CPU from each other, so these are of the two together"})
	}
	return all
}

func closedLatency(s *record.Session) []record.Rejected {
	var scenarios []string
	for _, sc := range s.Plan.Scenarios {
		if sc.Kind == record.Closed {
			scenarios = append(scenarios, sc.Name)
		}
	}
	if len(scenarios) == 0 {
		return nil
	}
	return []record.Rejected{{What: "latencies of " + strings.Join(scenarios, ", "),
		Why: "in a closed loop latency is the rate once more, and the faster server is asked more often"}}
}

// maxima has a row a scenario, with the range over its processes for each target.
func maxima(s *record.Session, e *findings.Evaluation) []record.Rejected {
	var all []record.Rejected
	for _, sc := range s.Plan.Scenarios {
		var parts []string
		for _, t := range s.Plan.Targets {
			if c, ok := e.Cell(t.Name, sc.Name); ok {
				if x, ok := c.Summary[findings.Max]; ok {
					parts = append(parts, t.Name+" "+between(x.Min/1e6, x.Max/1e6))
				}
			}
		}
		if len(parts) > 0 {
			all = append(all, record.Rejected{What: "maxima of " + sc.Name, Number: strings.Join(parts, ", ") + " ms",
				Why: "one request decides a maximum, and one hiccup of the machine is enough for it: a maximum is never compared"})
		}
	}
	return all
}

// notMeasured is what a reader may take this record to say, and it does not.
func (m *matter) notMeasured(in record.DecisionInputs) []string {
	all := []string{
		"a database, a cache or another service behind the API: its time and CPU are the user's own_io_ms and own_cpu_ms, taken as equal in both languages and as constant",
		"the user's own code: that it needs as much CPU time and memory in Go as in Node is an assumption of every bill here",
		"queueing of own work: latencies were measured without it",
		"TLS, compression, logging, tracing and a real network between client and server",
		m.memoryIs(),
		"growth over hours or days",
		"start-up under load, deployment, on-call and what the team knows: the migration cost is the user's own figure",
	}
	var closed, apart []string
	for _, t := range m.s.Plan.Targets {
		if t.Shared() {
			apart = append(apart, t.Name)
		}
	}
	for _, sc := range m.s.Plan.Scenarios {
		closed = append(closed, sc.Name)
	}
	if len(apart) > 0 {
		all = append(all, "rate and latency on CPUs of their own: "+strings.Join(apart, ", "))
	}
	all = append(all, "any request mix but "+strings.Join(closed, ", "))
	if m.rules == nil {
		return all
	}
	var cores []string
	for _, p := range m.rules.Pairs {
		cores = append(cores, fmt.Sprint(p.Cores))
	}
	all = append(all, "any number of cores but "+strings.Join(cores, " and "))
	if len(m.clustering()) == 0 {
		all = append(all, "what a Node cluster would give")
	}
	return all
}

// memoryIs says what stands for memory here.
func (m *matter) memoryIs() string {
	if m.knowsFloors() {
		return "memory at other loads: the limits are the smallest that meet one rate for a short time, without room for a longer one"
	}
	return "the least memory limit under which each server lives: memory here is the typical resident memory under load, not its peak"
}

// conditions say what would follow from the inputs that are missing, by resource.
func (m *matter) conditions(in record.DecisionInputs) []string {
	var all []string
	for _, r := range []struct {
		binds  string
		metric findings.Metric
	}{{byMemory, findings.LoadPSS}, {byCPU, findings.ServerCPU}, {byLatency, findings.P99}} {
		if in.Binds != "" && in.Binds != r.binds {
			continue
		}
		for _, rule := range m.rules.Pairs {
			all = append(all, fmt.Sprintf("If %s binds, %s against %s: %s.", r.binds, rule.Target, rule.Base, m.condition(m.pair(rule, r.metric), r.metric)))
		}
	}
	if in.Binds == "" || in.Binds == byAvailability {
		all = append(all, "If availability binds: the number of replicas stays as it is, and only their size can change.")
	}
	return all
}

func (m *matter) condition(p pair, metric findings.Metric) string {
	ratio, ok := p.interval()
	switch w := p.word(); {
	case w == stats.Equivalent || w == stats.Worse:
		return fmt.Sprintf("NO-GO, for %s is %s", word(metric), w)
	case w != stats.Better || !ok:
		return fmt.Sprintf("NOT PROVEN, for %s is %s", word(metric), orNone(w))
	}
	now, then := p.base, p.times(ratio)
	switch metric {
	case findings.LoadPSS:
		return fmt.Sprintf("each replica takes %s MiB (%s..%s) less; times replicas and price_per_gib_month this is the most that memory can save",
			number((now-then.Value)/mebi), number((now-then.Hi)/mebi), number((now-then.Lo)/mebi))
	case findings.ServerCPU:
		var gains []string
		for _, w := range m.rules.OwnWork {
			g := Gain(float64(w), p.base, ratio)
			gains = append(gains, fmt.Sprintf("%.3g (%.3g..%.3g) at %v", g.Value, g.Lo, g.Hi, w))
		}
		return "a request takes less CPU time by a factor of " + strings.Join(gains, ", ") + " of own_cpu_ms"
	}
	return fmt.Sprintf("it matters only if slo_p99_ms, less own_cpu_ms and own_io_ms, lies between %s and %s ms", number(then.Hi/1e6), number(now/1e6))
}

// once keeps the first of equal reasons.
func once(reasons []string) []string {
	var all []string
	for _, r := range reasons {
		if r != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}
