package calibration

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"gonogo/runner/stats"
)

// table is what both forms of output print.
type table struct {
	title, text string
	head        []string
	rows        [][]string
}

// Table writes the calibration as plain text.
func Table(w io.Writer, r *Result) error {
	var b strings.Builder
	b.WriteString(r.machine() + "\n")
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n%s\n%s\n\n", strings.ToUpper(t.title), t.text)
		tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tab, strings.Join(t.head, "\t"))
		for _, row := range t.rows {
			fmt.Fprintln(tab, strings.Join(row, "\t"))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	for _, line := range r.conclusion() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the same as a document.
func Markdown(w io.Writer, r *Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Calibration\n\nWritten by `make calibrate`; do not edit. How often the verdicts of this kit are right on one machine, at its own noise.\n\n%s\n", r.machine())
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.title, t.text)
		line(&b, t.head)
		rule := make([]string, len(t.head))
		for i := range rule {
			rule[i] = "---"
		}
		line(&b, rule)
		for _, row := range t.rows {
			line(&b, row)
		}
	}
	b.WriteString("\n## Conclusion\n")
	for _, text := range r.conclusion() {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func line(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
	}
	b.WriteByte('\n')
}

func (r *Result) machine() string {
	h := r.Host
	parts := []string{h.CPUModel, fmt.Sprintf("%d CPUs", len(h.CPUs)), h.OS + "/" + h.Arch, h.Kernel, h.GoVersion}
	if h.Hypervisor != "" {
		parts = append(parts, "guest of "+h.Hypervisor)
	}
	if h.NodeVersion != "" {
		parts = append(parts, "node "+h.NodeVersion)
	}
	if h.Grade != "" {
		parts = append(parts, "grade "+h.Grade)
	}
	var known []string
	for _, p := range parts {
		if p != "" {
			known = append(known, p)
		}
	}
	return fmt.Sprintf("Machine: %s. Kit %s, %s, seed %d.", strings.Join(known, ", "), r.Kit, r.Started.UTC().Format(time.RFC3339), r.Seed)
}

func (r *Result) tables() []table {
	tables := []table{r.noiseTable(), r.simulatedTable()}
	if len(r.Known) > 0 {
		tables = append(tables, r.knownTable())
	}
	return tables
}

func (r *Result) noiseTable() table {
	t := table{
		title: "Noise of this machine",
		text: fmt.Sprintf("One target under two labels, fresh processes, session %s. Process: deviation between processes. Pairs: deviation of one\n"+
			"ratio of the two labels; from it, what the pairs of the default plan find in 80 %% of sessions as one of %d tests, and the pairs that find 10 %%.", r.From, r.Family),
		head: []string{"metric", "scenario", "target", "runs", "process", "drift a run", "jumps", "wild runs", "pairs", "planned", "found", "pairs for 10 %"},
	}
	for _, s := range r.Noise {
		needed := "over 500"
		if s.Needed != nil {
			needed = fmt.Sprint(*s.Needed)
		}
		t.rows = append(t.rows, []string{s.Metric, s.Scenario, s.Target, fmt.Sprint(s.Runs), small(&s.Process), fmt.Sprintf("%+.2f %%", 100*s.Drift),
			chance(s.StepChance, s.StepSize), chance(s.WildChance, s.WildSize), small(s.Pairs), fmt.Sprint(s.Planned), small(s.Detectable), needed})
	}
	return t
}

func (r *Result) simulatedTable() table {
	t := table{
		title: "Simulated sessions",
		text: fmt.Sprintf("With the noise of the louder target of each metric; %d tests a session, each with a twin; exact 95 %% intervals. Found is\n"+
			"promised at the default of %d blocks, and asked only where the margin is below 10 %%.", r.Family, r.Blocks),
		head: []string{"metric", "noise of", "scenario", "margin", "blocks", "pairs", "sessions", "equal: BETTER or WORSE (at most 5 %)", "+10 %: found (at least 80 %)",
			"at the margin: EQUIVALENT (at most 5 %)", "equal: void"},
	}
	for _, row := range r.Simulated {
		blocks := fmt.Sprint(row.Blocks)
		if row.Default {
			blocks += " (default)"
		}
		found := "not asked"
		if row.Found != nil {
			found = row.Found.String()
		}
		t.rows = append(t.rows, []string{row.Metric, row.Target, row.Scenario, fmt.Sprintf("%v %%", percent(row.Margin)), blocks, fmt.Sprint(row.Pairs), fmt.Sprint(row.Different.Trials),
			row.Different.String(), found, row.Equivalent.String(), row.Void.String()})
	}
	return t
}

func (r *Result) knownTable() table {
	t := table{
		title: "Real sessions of known truth",
		text: "A server against itself, and against one slowed by 10 % (a loop of fixed work); two tests a session, and a twin. Held: right in at\n" +
			"least 8 of 10 sessions and wrong in at most 1 of 10. CPU: of the target per request against its base, by the CPU accounts.",
		head: []string{"servers", "metric", "sessions"},
	}
	words := []stats.Word{stats.Better, stats.Worse, stats.Equivalent, stats.Inconclusive, stats.Invalid, ""}
	for _, w := range words {
		if w == "" {
			w = "no verdict"
		}
		t.head = append(t.head, string(w))
	}
	t.head = append(t.head, "right", "wrong", "held", "CPU", "CPU held")
	for _, k := range r.Known {
		lo, hi := k.spread()
		for _, tally := range k.Tallies {
			row := []string{string(k.Truth), tally.Metric, fmt.Sprint(len(k.Sessions))}
			for _, w := range words {
				row = append(row, fmt.Sprint(tally.Words[string(w)]))
			}
			t.rows = append(t.rows, append(row, fmt.Sprint(tally.Right), fmt.Sprint(tally.Wrong), string(tally.Held),
				fmt.Sprintf("%s (%s to %s)", change(k.CPU), change(lo), change(hi)), string(k.CPUHeld)))
		}
	}
	return t
}

// conclusion is what holds and what does not.
func (r *Result) conclusion() []string {
	missed := r.Missed()
	text := []string{"Every rate holds, or its limit lies inside the interval (unclear)."}
	if len(missed) > 0 {
		text = []string{"Missed: " + strings.Join(missed, "; ") + "."}
	}
	return append(text, r.Advice()...)
}

// String prints "4.5 % (3.3 to 6.0) unclear".
func (s Share) String() string {
	text := fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*s.Ratio, 100*s.Lo, 100*s.Hi)
	if s.Held != "" {
		text += " " + string(s.Held)
	}
	return text
}

func small(log *float64) string {
	if log == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f %%", 100**log)
}

func chance(chance, size float64) string {
	if chance == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f %% of %.0f %%", 100*chance, 100*size)
}
