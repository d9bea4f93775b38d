package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// DecisionJSON prints a decision record in base units.
func DecisionJSON(w io.Writer, d *record.Decision) error {
	var b bytes.Buffer
	if err := record.WriteJSON(&b, d); err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	return flush(w, &b)
}

// inputsOf lists what the user gave, by the names of the inputs file.
func inputsOf(b *bytes.Buffer, in record.DecisionInputs) {
	in.Parts = nil // each has a section of its own
	data, err := json.Marshal(in)
	given := map[string]any{}
	if err != nil || json.Unmarshal(data, &given) != nil {
		return // a float that JSON cannot hold is no input
	}
	items := []string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text := fmt.Sprint(given[name])
		if x, ok := given[name].(float64); ok {
			text = strconv.FormatFloat(x, 'f', -1, 64) // as it was given
		}
		items = append(items, name+": "+text)
	}
	if len(items) == 0 {
		items = append(items, "none")
	}
	bullets(b, "Inputs, from the user", items)
}

// evidence prints the numbers that were used.
func evidence(b *bytes.Buffer, d *record.Decision) {
	b.WriteString("\n## Evidence\n")
	if len(d.Verdicts) > 0 {
		rows := [][]string{{"verdict", "target / base", "metric", "scenario", "why", "ratio [95 %]", "p", "blocks"}}
		for _, v := range d.Verdicts {
			ratio := optional(v.Ratio, ratioText)
			if v.Lo != nil && v.Hi != nil {
				ratio += fmt.Sprintf(" [%s..%s]", ratioText(*v.Lo), ratioText(*v.Hi))
			}
			rows = append(rows, []string{v.Word, v.Primary.Target + " / " + v.Primary.Base, metricWord(v.Primary), v.Primary.Scenario, v.Why,
				ratio, optional(v.Adjusted, pValue), fmt.Sprint(v.Blocks)})
		}
		markdownTable(b, 5, rows)
	}
	if len(d.Levels) > 0 {
		rows := [][]string{{"target", "metric", "scenario", "median", "range", "processes"}}
		for _, l := range d.Levels {
			rows = append(rows, []string{l.Target, metricWord(record.Primary{Metric: l.Metric}), l.Scenario, inUnit(l.Metric, l.Median),
				inUnit(l.Metric, l.Min) + " to " + inUnit(l.Metric, l.Max), fmt.Sprint(l.Processes)})
		}
		markdownTable(b, 3, rows)
	}
	clusteringOf(b, d.Clustering)
	capacityOf(b, d.CapacityTimes)
	gainsOf(b, d.Gains)
}

func clusteringOf(b *bytes.Buffer, all []record.Clustering) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n**What clustering alone gives** (exploratory: no verdict)\n")
	rows := [][]string{{"cluster / one process", "metric", "scenario", "ratio [95 %]", "blocks"}}
	for _, c := range all {
		ratio := ratioText(c.Ratio.Value)
		if c.Reached {
			ratio += fmt.Sprintf(" [%s..%s]", ratioText(c.Ratio.Lo), ratioText(c.Ratio.Hi))
		}
		scenario := c.Scenario
		if c.Shared {
			scenario += " (shared)"
		}
		rows = append(rows, []string{c.Target + " / " + c.Base, metricWord(record.Primary{Metric: c.Metric}), scenario, ratio, fmt.Sprint(c.Blocks)})
	}
	markdownTable(b, 3, rows)
}

func capacityOf(b *bytes.Buffer, all []record.CapacityTime) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n**Capacity time**: " + strings.TrimPrefix(findings.CapacityTimeIs, "capacity time is ") + "\n")
	head := []string{"target / base", "scenario", "target", "base", "saved by block (min..max)", "blocks"}
	for _, w := range all[0].OwnWork {
		head = append(head, "of "+ownText(w)+" own work")
	}
	rows := [][]string{head}
	for _, c := range all {
		r := []string{c.Target + " / " + c.Base, c.Scenario, digits(c.TargetTime/micros) + " µs", digits(c.BaseTime/micros) + " µs", fmt.Sprintf("%s (%s..%s) µs", digits(c.Saved/micros), digits(c.SavedMin/micros), digits(c.SavedMax/micros)), fmt.Sprint(c.Blocks)}
		for _, share := range c.Shares {
			r = append(r, percent(share))
		}
		rows = append(rows, r)
	}
	markdownTable(b, 2, rows)
}

// gainsOf has a table a metric: a row for each amount of own work, a column for
// each pair.
func gainsOf(b *bytes.Buffer, all []record.Gain) {
	for _, metric := range []findings.Metric{findings.ServerCPU, findings.P99} {
		var work, pairs []string
		cells := map[[2]string]string{}
		for _, g := range all {
			if g.Metric != string(metric) {
				continue
			}
			w, pair := ownWork(g), g.Base+" / "+g.Target
			if !slices.Contains(work, w) {
				work = append(work, w)
			}
			if !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
			cells[[2]string{w, pair}] = fmt.Sprintf("%.4f (%.4f..%.4f)", g.Gain.Value, g.Gain.Lo, g.Gain.Hi)
		}
		if len(work) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n**How many times less of a whole request: %s**\n", metricWords[metric])
		rows := [][]string{append([]string{"own work"}, pairs...)}
		for _, w := range work {
			r := []string{w}
			for _, pair := range pairs {
				r = append(r, cells[[2]string{w, pair}])
			}
			rows = append(rows, r)
		}
		markdownTable(b, 1, rows)
	}
}

func ownWork(g record.Gain) string {
	parts := []string{ownText(g.CPU) + " CPU"}
	if g.IO > 0 {
		parts = append(parts, ownText(g.IO)+" I/O")
	}
	text := strings.Join(parts, " + ")
	if g.Yours {
		text += " (yours)"
	}
	return text
}

// ownText prints a time in ms.
func ownText(d time.Duration) string { return digits(float64(d)/millis) + " ms" }
