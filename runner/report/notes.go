package report

import (
	"cmp"
	"fmt"
	"regexp"
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

// short are the findings of a page; report.md has all in full. What voids the session
// is said whole. A warning is one line: first its limit goes, then the observation,
// then what follows its first clauses; alike ones are counted. Notes are named.
func short(all []record.Finding) []string {
	var texts, notes []string
	more := map[string]int{}
	for _, f := range all {
		more[f.Code]++
	}
	for _, f := range all {
		n := more[f.Code] - 1
		if n < 0 || slices.Contains(elsewhere, f.Code) {
			continue
		}
		more[f.Code] = 0 // said
		tail := ""
		if n > 0 {
			tail = fmt.Sprintf(" (and %d alike)", n)
		}
		whole := fmt.Sprintf("%s: %s (%s; limit %s)%s", f.Severity, f.Text, f.Observed, f.Threshold, tail)
		switch f.Severity {
		case record.Note:
			notes = append(notes, f.Code)
		case record.Warn:
			texts = append(texts, firstThatFits(append([]string{whole, fmt.Sprintf("warn: %s (%s)%s", f.Text, f.Observed, tail)}, clauses(f, tail)...)))
		default:
			texts = append(texts, whole)
		}
	}
	if len(notes) > 0 {
		texts = append(texts, "note: "+strings.Join(notes, ", ")+" (--format md has all in full)")
	}
	return texts
}

// clauses are a warning with fewer and fewer of its clauses, but for the first one.
func clauses(f record.Finding, tail string) []string {
	text := "warn: " + f.Text
	least := len("warn")
	if len(f.Steps) > 0 && strings.HasPrefix(f.Text, cellOf(f.Steps[0])+": ") { // a cell's name alone says nothing
		least = len("warn: " + cellOf(f.Steps[0]))
	}
	all := []string{text + tail}
	for {
		i := max(strings.LastIndex(text, ": "), strings.LastIndex(text, "; "), strings.LastIndex(text, ", "))
		if i <= least {
			return all
		}
		text = text[:i]
		all = append(all, text+tail)
	}
}

// cellOf cuts the block off a step's key.
func cellOf(step string) string { return step[:max(0, strings.LastIndex(step, "/"))] }

// firstThatFits is the first that is one line.
func firstThatFits(texts []string) string {
	for _, t := range texts {
		if strings.Count(wrap(printable(t), noteIndent), "\n") == 1 {
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
		kind := alike(d)
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
		title += fmt.Sprintf("; %s ran again", count(n, "group"))
	}
	if done > 0 {
		title += fmt.Sprintf(", with %s", count(done, "done run"))
	}
	return title, lines
}

var numbers = regexp.MustCompile(`[0-9]+`)

// alike is the same text for runs that are told of together: void ones by the check
// that voided them, others by all that happened to them, whatever the numbers in it.
// "start go-1: ..." begins every failure to start.
func alike(d findings.Discarded) string {
	what, _, _ := strings.Cut(d.Reason, ":")
	if d.Outcome != record.Void {
		what = numbers.ReplaceAllString(d.Reason, "#")
	}
	return string(d.Outcome) + "\x00" + what
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
