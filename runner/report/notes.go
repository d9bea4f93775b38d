package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

var gravity = map[record.Severity]int{record.Voids: 0, record.Warn: 1, record.Note: 2}

func gravestFirst(all []record.Finding) []record.Finding {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b record.Finding) int { return cmp.Compare(gravity[a.Severity], gravity[b.Severity]) })
	return sorted
}

// full is a finding with all that it holds.
func full(f record.Finding) string {
	text := fmt.Sprintf("%s %s: %s. Observed: %s; limit: %s.", f.Severity, f.Code, f.Text, f.Observed, f.Threshold)
	if n := len(f.Steps); n > 0 && n <= 3 {
		text += " In " + strings.Join(f.Steps, ", ") + "."
	}
	if f.Hint != "" {
		text += " Hint: " + f.Hint + "."
	}
	return text
}

// elsewhere are the codes that a table's footnote or the ledger says.
var elsewhere = []string{rejectedMax, undeterminedMax, "discarded-runs"}

// short are the findings of a page, each cut down to what fits on two lines: first
// the limit goes, then the observation; report.md has both. Findings that differ
// in their cell alone are said once, with the names of the other cells.
func short(all []record.Finding) []string {
	var texts []string
	said := map[string]bool{}
	for i, f := range all {
		code := f.Code
		if !ofOneCell(f) {
			code += "\x00" + f.Text
		}
		if said[code] || slices.Contains(elsewhere, f.Code) {
			continue
		}
		said[code] = true
		tail := "."
		if more := alike(all[i+1:], f); len(more) > 0 {
			tail = "; likewise " + some(more, 3) + "."
		}
		lead := string(f.Severity) + ": "
		texts = append(texts, firstThatFits(
			fmt.Sprintf("%s%s (%s; limit %s)%s", lead, f.Text, f.Observed, f.Threshold, tail),
			fmt.Sprintf("%s%s (%s)%s", lead, f.Text, f.Observed, tail),
			lead+f.Text+tail,
		))
	}
	return texts
}

// ofOneCell tells findings that begin with the name of the cell they are about.
func ofOneCell(f record.Finding) bool {
	return len(f.Steps) > 0 && strings.HasPrefix(f.Text, cellOf(f.Steps[0])+": ")
}

// cellOf cuts the block off a step's key.
func cellOf(step string) string { return step[:max(0, strings.LastIndex(step, "/"))] }

// alike names the cells of further findings of the kind.
func alike(rest []record.Finding, first record.Finding) []string {
	var names []string
	for _, f := range rest {
		if f.Code == first.Code && ofOneCell(f) && ofOneCell(first) {
			names = append(names, cellOf(f.Steps[0]))
		}
	}
	return names
}

func firstThatFits(texts ...string) string {
	for _, t := range texts {
		if strings.Count(wrap(printable(t), noteIndent), "\n") <= 2 {
			return t
		}
	}
	return texts[len(texts)-1]
}

const noteIndent = "      "

// ledger lists the runs of which no number is used: what became of them and why.
// Runs that failed alike are one line, with the first as the example; runs that
// were done and ran again with their group are only counted.
func ledger(discarded []findings.Discarded, runs int) (title string, lines []string) {
	if len(discarded) == 0 {
		return "", nil
	}
	var order []string
	of := map[string][]findings.Discarded{}
	groups, done := map[string]bool{}, 0
	for _, d := range discarded {
		if d.Repeated {
			_, group, _ := strings.Cut(d.Step, "/")
			groups[group] = true
			if d.Outcome == record.Done {
				done++
				continue
			}
		}
		head, _, _ := strings.Cut(d.Reason, ":")
		kind := string(d.Outcome) + "\x00" + head
		if of[kind] == nil {
			order = append(order, kind)
		}
		of[kind] = append(of[kind], d)
	}
	for _, kind := range order {
		lines = append(lines, alikeRuns(of[kind]))
	}
	title = fmt.Sprintf("DISCARDED RUNS  %d of %d: no number of theirs is used", len(discarded), runs)
	if n := len(groups); n > 0 {
		title += fmt.Sprintf("; %s (a scenario in a block) ran again whole", count(n, "group"))
	}
	if done > 0 {
		title += fmt.Sprintf(", with %s that had been done", count(done, "run"))
	}
	return title, lines
}

func alikeRuns(ds []findings.Discarded) string {
	line := fmt.Sprintf("%s: %s: %s", attempt(ds[0]), ds[0].Outcome, ds[0].Reason)
	var others []string
	for _, d := range ds[1:] {
		others = append(others, attempt(d))
	}
	if len(others) > 0 {
		line += "; likewise " + some(others, 3)
	}
	return line + "."
}

// attempt names a run: a step may have run more than once.
func attempt(d findings.Discarded) string {
	if d.Attempt == 0 {
		return d.Step
	}
	return fmt.Sprintf("%s (repeat %d)", d.Step, d.Attempt)
}

// some names the first few of many.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
