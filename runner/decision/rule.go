package decision

import (
	"fmt"
	"math"
	"strconv"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// money holds a saving against the rule: at the end of its interval that saves
// least it has to reach the share of the bill that matters, and to pay for the
// migration within the horizon.
func (m *matter) money(in record.DecisionInputs, h held) (outcome, string) {
	base, s := h.options[0].BillPerMonth.Value, *h.saving
	cost, months := *in.EffortDays**in.CostPerDay, *in.HorizonMonths
	enough := func(x float64) bool { return x > 0 && x >= m.rules.SavingMin*base && x*months >= cost }
	text := fmt.Sprintf("against %s Go saves %s a month, %s of %s; the rule asks for %s of it, and for %s within %s months to pay for the migration",
		h.against, money(s, in.Currency), shares(over(s, base)), amount(base, in.Currency), share(m.rules.SavingMin), amount(cost, in.Currency), number(months))
	switch {
	case base <= 0:
		return pointless, "nothing is paid, so nothing can be saved"
	case enough(s.Lo):
		return pays, text + ": it pays even at the end of the interval that saves least"
	case !enough(s.Hi):
		return pointless, text + ": it does not pay even at the end of the interval that saves most"
	}
	return open, text + ": the interval reaches from what pays to what does not"
}

// clusterFirst holds a cluster against today. Its share of the CPUs is no
// question of the plan, so the intervals carry no verdict; a cluster is a step that
// can be taken back, and a rewrite is none.
func (m *matter) clusterFirst(in record.DecisionInputs, narrow, wide record.DecisionPair) held {
	h := held{against: today}
	if in.Binds == byLatency {
		return m.clusterLatency(in, narrow, wide)
	}
	now := shape{today, narrow.Base, narrow.Cores, *in.VCPUs, narrow.Cores, exactly(0), exactly(0)}
	then := shape{cluster, wide.Base, wide.Cores, *in.VCPUs, wide.Cores, exactly(0), exactly(0)}
	for _, x := range []struct {
		metric    findings.Metric
		now, then *record.Span
	}{{findings.ServerCPU, &now.cpu, &then.cpu}, {findings.LoadPSS, &now.memory, &then.memory}} {
		p := m.pair(narrow, x.metric)
		if p.verdict == nil {
			h.why = []string{"whether a cluster would do is not known: " + word(x.metric) + " of " + narrow.Base + " has no verdict"}
			return h
		}
		r, ok := m.ratio(wide.Base, narrow.Base, p.verdict.Primary.Scenario, x.metric)
		if !ok || !r.Reached {
			h.why = []string{fmt.Sprintf("whether a cluster would do is not known: %s of %s against %s has no interval", word(x.metric), wide.Base, narrow.Base)}
			return h
		}
		if floors := m.floored(pair{DecisionPair: record.DecisionPair{Target: wide.Base, Base: narrow.Base}}).measured; floors != nil && x.metric == findings.LoadPSS {
			r.Ratio = *floors
		}
		*x.now, *x.then = exactly(p.base), p.times(r.Ratio)
	}
	before, err := m.option(in, now)
	after, err2 := m.option(in, then)
	if err != nil || err2 != nil {
		h.outcome, h.why = pointless, []string{"a cluster does not fit into a replica"}
		return h
	}
	saving := less(before, after)
	h.options, h.saving = []record.Option{before, after}, &saving
	base := before.BillPerMonth.Value
	text := fmt.Sprintf("a cluster of %d saves %s a month of %s today, without a rewrite (an interval without a verdict)", wide.Cores, money(saving, in.Currency), amount(base, in.Currency))
	switch least := m.rules.SavingMin * base; {
	case saving.Lo > 0 && saving.Lo >= least:
		h.outcome = pays
	case saving.Hi < least || saving.Hi <= 0:
		h.outcome = pointless
	default:
		text += ": the interval reaches from what matters to what does not"
	}
	h.why = []string{text}
	return h
}

// slo asks whether the latency that the user needs is met: by Go always, and where
// latency binds also whether it is not met without Go. No SLO is met by anything.
func (m *matter) slo(in record.DecisionInputs, rule record.DecisionPair, options []record.Option) (outcome, string) {
	if in.SLO == nil {
		return pays, ""
	}
	gone, text := m.meets(in, rule, rule.Target, options[1])
	switch {
	case gone == pointless:
		return pointless, text
	case gone == open:
		return open, text
	case in.Binds != byLatency:
		return pays, text
	}
	node, reason := m.meets(in, rule, rule.Base, options[0])
	switch node {
	case pays:
		return pointless, "latency binds, but its SLO is met without a rewrite: " + reason
	case open:
		return open, reason
	}
	return pays, text + "; " + reason
}

// meets holds the p99 of each process of a target, with the service's own work on
// top, against the SLO. It gives pays if all meet it, and pointless if none does.
func (m *matter) meets(in record.DecisionInputs, rule record.DecisionPair, target string, o record.Option) (outcome, string) {
	p := m.pair(rule, findings.P99)
	if w := p.word(); w == "" || w == stats.Invalid {
		return open, fmt.Sprintf("an SLO is given, and p99 of %s is %s: %s", target, orNone(w), m.unasked(rule, findings.P99))
	}
	c, ok := m.e.Cell(target, p.verdict.Primary.Scenario)
	if !ok || c.Shared {
		return open, fmt.Sprintf("p99 of %s was measured beside its generator on the same CPUs", target)
	}
	level, ok := c.Summary[findings.P99]
	offered, ok2 := c.Summary[findings.Offered]
	if !ok || !ok2 {
		return open, fmt.Sprintf("p99 of %s is not known at a known rate", target)
	}
	if each := *in.PeakRate / max(1, o.Replicas.Lo); each > offered.Median*1.01 {
		return open, fmt.Sprintf("p99 of %s was measured at %s requests/s, and a replica would take %s", target, number(offered.Median), number(each))
	}
	own := *in.OwnCPU + *in.OwnIO
	lo, hi := own+level.Min/1e6, own+level.Max/1e6
	text := fmt.Sprintf("p99 of %s with %s ms of own work is %s ms over its processes, the SLO %s ms", target, number(own), between(lo, hi), number(*in.SLO))
	switch {
	case hi <= *in.SLO:
		return pays, text + ": met"
	case lo > *in.SLO:
		return pointless, text + ": missed"
	}
	return open, text + ": met by some processes and missed by others"
}

// clusterLatency: where latency binds, a cluster that meets the SLO is enough.
func (m *matter) clusterLatency(in record.DecisionInputs, narrow, wide record.DecisionPair) held {
	h := held{against: today}
	var options [2]record.Option
	for i, p := range []record.DecisionPair{narrow, wide} {
		o := record.Option{Replicas: exactly(float64(*in.Replicas))}
		o.Name, o.Target, o.CoresUsed, o.VCPUs = []string{today, cluster}[i], p.Base, p.Cores, *in.VCPUs
		options[i] = o
	}
	now, text := m.meets(in, narrow, narrow.Base, options[0])
	then, reason := m.meets(in, wide, wide.Base, options[1])
	switch {
	case now == pays:
		h.outcome, h.why = pointless, []string{text}
	case now == pointless && then == pays:
		h.outcome, h.why = pays, []string{"a cluster meets the SLO without a rewrite: " + reason}
	case then == pointless:
		h.outcome, h.why = pointless, []string{"a cluster does not meet the SLO: " + reason}
	default:
		h.why = []string{reason}
	}
	return h
}

// number prints three significant digits, and every digit before the point.
func number(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// between prints a range, or the one number that it is in print.
func between(lo, hi float64) string {
	if number(lo) == number(hi) {
		return number(lo)
	}
	return number(lo) + ".." + number(hi)
}

func amount(x float64, currency string) string {
	if currency == "" {
		return number(x)
	}
	return number(x) + " " + currency
}

func money(x record.Span, currency string) string {
	if number(x.Lo) == number(x.Hi) {
		return amount(x.Value, currency)
	}
	return fmt.Sprintf("%s (%s..%s)", amount(x.Value, currency), number(x.Lo), number(x.Hi))
}

func share(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

func shares(x record.Span) string {
	if share(x.Lo) == share(x.Hi) {
		return share(x.Value)
	}
	return fmt.Sprintf("%.3g %% (%.3g..%.3g %%)", 100*x.Value, 100*x.Lo, 100*x.Hi)
}
