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
// the limit goes, then the observation; report.md has both. Findings of one code
// are one note, with the gravest in full.
func short(all []record.Finding) []string {
	var texts []string
	said := map[string]bool{}
	for i, f := range all {
		if said[f.Code] || slices.Contains(elsewhere, f.Code) {
			continue
		}
		said[f.Code] = true
		lead, tail := string(f.Severity)+": ", others(all[i+1:], f)+"."
		texts = append(texts, firstThatFits(
			fmt.Sprintf("%s%s (%s; limit %s)%s", lead, f.Text, f.Observed, f.Threshold, tail),
			fmt.Sprintf("%s%s (%s)%s", lead, f.Text, f.Observed, tail),
			lead+f.Text+tail,
		))
	}
	return texts
}

// others names the further findings of a code: by their cells if that is all they
// differ in, else by what they say.
func others(rest []record.Finding, first record.Finding) string {
	var cells, texts []string
	for _, f := range rest {
		switch {
		case f.Code != first.Code:
		case ofOneCell(f) && ofOneCell(first):
			cells = append(cells, cellOf(f.Steps[0]))
		default:
			texts = append(texts, f.Text)
		}
	}
	text := ""
	if len(cells) > 0 {
		text += "; likewise " + some(cells, 3, ", ")
	}
	if len(texts) > 0 {
		text += "; also " + some(texts, 2, ", ")
	}
	return text
}

// ofOneCell tells findings that begin with the name of the cell they are about.
func ofOneCell(f record.Finding) bool {
	return len(f.Steps) > 0 && strings.HasPrefix(f.Text, cellOf(f.Steps[0])+": ")
}

// cellOf cuts the block off a step's key.
func cellOf(step string) string { return step[:max(0, strings.LastIndex(step, "/"))] }

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
	const most = 8
	for i, kind := range order {
		if i == most {
			lines = append(lines, fmt.Sprintf("%d more reasons; report.md lists every run.", len(order)-most))
			break
		}
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
	var rest []string
	for _, d := range ds[1:] {
		rest = append(rest, attempt(d))
	}
	if len(rest) > 0 {
		line += "; likewise " + some(rest, 3, ", ")
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
func some(names []string, most int, between string) string {
	if len(names) <= most {
		return strings.Join(names, between)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], between), len(names)-most)
}
