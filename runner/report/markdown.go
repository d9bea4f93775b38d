package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Markdown prints a session for a pull request or a wiki: the page of Table with all
// scenarios, and folded what the page has no room for: notes and discarded runs in
// full, every range.
func Markdown(w io.Writer, s *record.Session, e findings.Evaluation) error {
	d := compose(s, e)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", inMarkdown(d.title))
	for _, f := range d.head {
		fmt.Fprintf(&b, "- %s: %s\n", f.name, inMarkdown(f.text))
	}
	if d.mark != "" {
		fmt.Fprintf(&b, "\n> **%s**\n", d.mark)
	}
	for _, g := range []grid{d.verdicts, d.load, d.memory} {
		g.markdown(&b, "##")
	}
	var notes, runs []string
	for _, f := range d.findings {
		notes = append(notes, full(f))
	}
	for _, r := range d.discarded {
		runs = append(runs, inFull(r))
	}
	bullets(&b, "NOTES", short(d.findings))
	folded(&b, "All notes in full", notes)
	if title, lines := ledger(d.discarded, d.runs); title != "" {
		name, said, _ := strings.Cut(title, "  ")
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, inMarkdown(said))
		bullets(&b, "", lines)
		folded(&b, "All discarded runs", runs)
	}
	b.WriteString("\n<details><summary>Every range</summary>\n")
	for _, g := range d.detail {
		g.markdown(&b, "###")
	}
	b.WriteString("\n</details>\n")
	fmt.Fprintf(&b, "\n%s\n", inMarkdown(strings.Join(d.foot, " ")))
	return flush(w, &b)
}

func inFull(r findings.Discarded) string {
	text := fmt.Sprintf("%s %s: %s", attempt(r), r.Outcome, r.Reason)
	if r.LogFile != "" {
		text += " (log: " + r.LogFile + ")"
	}
	return text
}

func bullets(b *bytes.Buffer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintf(b, "\n## %s\n", title)
	}
	b.WriteString("\n")
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", inMarkdown(item))
	}
}

// folded is a list that a reader opens: a pull request is read for its verdicts.
func folded(b *bytes.Buffer, summary string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n", summary, len(items))
	bullets(b, "", items)
	b.WriteString("\n</details>\n")
}

// markdown prints a table for each group, and remarks as a column at the end.
func (g grid) markdown(b *bytes.Buffer, level string) {
	if len(g.rows) == 0 && g.columns != nil {
		return
	}
	fmt.Fprintf(b, "\n%s %s\n", level, inMarkdown(g.title))
	for _, p := range g.lead {
		fmt.Fprintf(b, "\n%s\n", inMarkdown(p))
	}
	remarks := slices.ContainsFunc(g.rows, func(r row) bool { return r.remark != "" })
	for i, r := range g.rows {
		if r.group != "" {
			fmt.Fprintf(b, "\n**%s**\n", inMarkdown(r.group))
		}
		if r.group != "" || i == 0 {
			g.markdownHead(b, remarks)
		}
		for _, c := range r.cells {
			fmt.Fprintf(b, "| %s ", c.markdown())
		}
		if remarks {
			fmt.Fprintf(b, "| %s ", inMarkdown(r.remark))
		}
		b.WriteString("|\n")
	}
	for _, p := range g.foot {
		fmt.Fprintf(b, "\n%s\n", inMarkdown(p))
	}
}

func (g grid) markdownHead(b *bytes.Buffer, remarks bool) {
	b.WriteString("\n")
	line := ""
	for _, h := range g.columns {
		fmt.Fprintf(b, "| %s ", inMarkdown(strings.TrimSpace(h.name+" "+h.unit)))
		if h.text {
			line += "|---"
		} else {
			line += "|---:"
		}
	}
	if remarks {
		b.WriteString("| why ")
		line += "|---"
	}
	b.WriteString("|\n" + line + "|\n")
}

func (c cell) markdown() string {
	if c.struck == "" {
		return inMarkdown(c.text)
	}
	return strings.TrimSpace("~~" + inMarkdown(c.struck) + "~~ " + inMarkdown(c.text))
}
