package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Decision prints a decision record as Markdown: the answer first, then all that
// it rests on, and all that it does not.
func Decision(w io.Writer, d *record.Decision) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Decision: %s\n\n%s\n\n", inMarkdown(string(d.Answer)), inMarkdown(d.Question))
	fmt.Fprintf(&b, "Session %s", inMarkdown(d.Session))
	if d.PlanSHA256 != "" {
		fmt.Fprintf(&b, ", plan %s", inMarkdown(shortSum(d.PlanSHA256)))
	}
	b.WriteString(".\n")
	bullets(&b, "Why", d.Why)
	var gaps []string
	for _, m := range d.Missing {
		gaps = append(gaps, m.Input+": "+m.For)
	}
	bullets(&b, "Inputs that are missing", gaps)
	bullets(&b, "What would follow", d.If)
	ruleOf(&b, d)
	inputsOf(&b, d.Inputs)
	bullets(&b, "Taken from other sessions", besideOf(d.Beside))
	if d.Whole != nil {
		assessment(&b, "The whole service", *d.Whole, d.Inputs.Currency)
	}
	for _, p := range d.Parts {
		assessment(&b, "Part: "+p.Name, p, d.Inputs.Currency)
	}
	evidence(&b, d)
	rejectedOf(&b, d.Rejected)
	bullets(&b, "What the session warns of", d.Warnings)
	bullets(&b, "What was not measured", d.NotMeasured)
	bullets(&b, "Holds until one of these changes", expiryOf(d.Expiry))
	return flush(w, &b)
}

// besideOf has a line a number.
func besideOf(all []record.Beside) []string {
	var lines []string
	for _, b := range all {
		from := fmt.Sprintf(" (%s %s, plan %s)", b.Kind, b.Session, shortSum(b.PlanSHA256))
		for _, l := range b.Floors {
			lines = append(lines, fmt.Sprintf("memory of %s: a limit of %s MiB, as %s, at %s/s with %s; in place of memory under load%s", l.Target, spanText(scaled(l.Bytes, mebi)), l.Arm, digits(l.Rate), l.SLO, from))
		}
		for _, l := range b.Capacities {
			lines = append(lines, fmt.Sprintf("a replica of %s takes %s/s at most, with %s and no own work%s", l.Target, spanText(l.Rate), l.SLO, from))
		}
		for _, n := range b.Notes {
			lines = append(lines, n+"; in no bill"+from)
		}
	}
	return lines
}

func shortSum(sum string) string { return sum[:min(len(sum), 12)] }

// markdownTable prints a Markdown table: the first row is its head. Columns from number on
// are numbers.
func markdownTable(b *bytes.Buffer, number int, rows [][]string) {
	b.WriteString("\n")
	for i, r := range rows {
		for _, c := range r {
			fmt.Fprintf(b, "| %s ", inMarkdown(c))
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j := range r {
			if j < number {
				b.WriteString("|---")
			} else {
				b.WriteString("|---:")
			}
		}
		b.WriteString("|\n")
	}
}

func ruleOf(b *bytes.Buffer, d *record.Decision) {
	if d.Rules == nil {
		return
	}
	var items, pairs []string
	for _, p := range d.Rules.Pairs {
		pairs = append(pairs, fmt.Sprintf("%s against %s (%s each)", p.Target, p.Base, count(p.Cores, "core")))
	}
	items = append(items, "pairs: "+strings.Join(pairs, ", "),
		fmt.Sprintf("GO: what binds is BETTER, and the saving, at the end of its interval that saves least, is at least %s of the bill and pays for the migration within the horizon; "+
			"where latency binds, the SLO is met with Go and missed without; an SLO that is given is met in any case", percent(d.Rules.SavingMin)),
		"GO FOR A PART: not for the whole, but for a part that the inputs name",
		fmt.Sprintf("CLUSTER FIRST: a cluster saves at least %s of the bill, or meets the SLO, and Go is not proven to pay beyond that", percent(d.Rules.SavingMin)),
		"NO-GO: what binds is EQUIVALENT or WORSE, or the saving does not pay even at the end of its interval that saves most",
		"NOT PROVEN: anything else; INCONCLUSIVE and INVALID prove nothing",
		fmt.Sprintf("a replica is planned to use %s of its CPUs at the peak", percent(d.Rules.CPUTarget)))
	seen := map[string]bool{}
	for _, q := range d.Primary {
		text := fmt.Sprintf("margin of %s in %s: %s", metricWord(q), q.Scenario, percent(q.MarginRatio))
		if q.Floor > 0 {
			text += " or " + inUnit(q.Metric, q.Floor)
		}
		if !seen[text] {
			items = append(items, text)
		}
		seen[text] = true
	}
	bullets(b, "The rule, fixed before the first run", items)
}

func percent(ratio float64) string { return fmt.Sprintf("%.3g %%", ratio/percnt) }

// inUnit prints a metric's number in the unit that its name ends in.
func inUnit(metric string, x float64) string {
	switch {
	case strings.HasSuffix(metric, "_bytes"):
		return digits(x/mebi) + " MiB"
	case findings.Metric(metric) == findings.ServerCPU:
		return digits(x/micros) + " µs"
	case strings.HasSuffix(metric, "_ns"):
		return digits(x/millis) + " ms"
	case strings.HasSuffix(metric, "_per_sec"):
		return digits(x) + "/s"
	}
	return digits(x)
}

func assessment(b *bytes.Buffer, title string, a record.Assessment, currency string) {
	fmt.Fprintf(b, "\n## %s: %s\n", inMarkdown(title), inMarkdown(string(a.Answer)))
	if a.Name != "" {
		b.WriteString("\n")
		for _, w := range a.Why {
			fmt.Fprintf(b, "- %s\n", inMarkdown(w))
		}
	}
	if len(a.Options) > 0 {
		rows := [][]string{{"option", "target", "cores used", "vCPUs", "by CPU", "by memory", "by availability", "replicas", "memory GiB", "bill a month"}}
		for _, o := range a.Options {
			memory := "-"
			if o.ByMemory != nil {
				memory = wholeText(*o.ByMemory)
			}
			rows = append(rows, []string{o.Name, o.Target, fmt.Sprint(o.CoresUsed), fmt.Sprint(o.VCPUs), wholeText(o.ByCPU), memory, fmt.Sprint(o.ByOther),
				wholeText(o.Replicas), spanText(scaled(o.MemoryBytes, mebi*1024)), spanText(o.BillPerMonth)})
		}
		markdownTable(b, 2, rows)
	}
	var items []string
	if a.ClusterSaving != nil {
		items = append(items, fmt.Sprintf("a cluster alone saves %s a month of today's bill", priced(*a.ClusterSaving, currency)))
	}
	if a.Saving != nil {
		text := fmt.Sprintf("Go saves %s a month against %s", priced(*a.Saving, currency), a.Against)
		if a.SavingRatio != nil {
			text += fmt.Sprintf(", %s %% of its bill", spanText(scaled(*a.SavingRatio, percnt)))
		}
		items = append(items, text)
	}
	if a.Cost != nil {
		items = append(items, "the migration costs "+strings.TrimSpace(digits(*a.Cost)+" "+currency))
	}
	switch {
	case a.BreakEven != nil && a.BreakEvenNever:
		items = append(items, fmt.Sprintf("months to break even: %s, and from %s to never", digits(a.BreakEven.Value), digits(a.BreakEven.Lo)))
	case a.BreakEven != nil:
		items = append(items, "months to break even: "+spanText(*a.BreakEven))
	case a.Saving != nil:
		items = append(items, "months to break even: never")
	}
	if len(items) > 0 {
		b.WriteString("\n")
	}
	for _, text := range items {
		fmt.Fprintf(b, "- %s\n", inMarkdown(text))
	}
}

func scaled(x record.Span, by float64) record.Span {
	return record.Span{Value: x.Value / by, Lo: x.Lo / by, Hi: x.Hi / by}
}

// spanText prints "3.10 (2.90..3.30)", and alone what has no interval in print.
func spanText(x record.Span) string {
	if digits(x.Lo) == digits(x.Hi) {
		return digits(x.Value)
	}
	return fmt.Sprintf("%s (%s..%s)", digits(x.Value), digits(x.Lo), digits(x.Hi))
}

// wholeText prints a number of replicas.
func wholeText(x record.Span) string {
	if x.Lo == x.Hi {
		return fmt.Sprintf("%.0f", x.Value)
	}
	return fmt.Sprintf("%.0f (%.0f..%.0f)", x.Value, x.Lo, x.Hi)
}

func priced(x record.Span, currency string) string {
	return strings.TrimSpace(spanText(x) + " " + currency)
}

func rejectedOf(b *bytes.Buffer, all []record.Rejected) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Numbers rejected\n")
	rows := [][]string{{"number of", "number", "why"}}
	for _, r := range all {
		rows = append(rows, []string{r.What, r.Number, r.Why})
	}
	markdownTable(b, 3, rows)
}

func expiryOf(x record.Expiry) []string {
	items := []string{}
	for _, target := range slices.Sorted(maps.Keys(x.Runtimes)) {
		items = append(items, target+": "+x.Runtimes[target])
	}
	machine := fmt.Sprintf("machine: %s, %s", x.CPUModel, count(x.CPUs, "CPU"))
	for _, part := range []string{x.Kernel, x.Hypervisor} {
		if part != "" {
			machine += ", " + part
		}
	}
	items = append(items, machine)
	if x.SourceRevision != "" {
		items = append(items, "source: "+x.SourceRevision)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Binaries)) {
		items = append(items, name+": SHA-256 "+shortSum(x.Binaries[name]))
	}
	return append(items, "the user's inputs")
}
