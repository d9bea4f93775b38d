package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Markdown prints a session for a pull request or a wiki: the same tables and
// the same words as Table, with the detail folded.
func Markdown(w io.Writer, s *record.Session, e findings.Evaluation) error {
	d := compose(s, e)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", inMarkdown(d.title))
	for _, h := range d.head {
		fmt.Fprintf(&b, "\n%s\n", inMarkdown(h))
	}
	if d.mark != "" {
		fmt.Fprintf(&b, "\n> **%s**\n", d.mark)
	}
	d.glance.markdown(&b)
	for _, g := range d.main {
		g.markdown(&b)
	}
	bullets(&b, "Notes", d.notes, true)
	bullets(&b, "Discarded runs", d.discarded, false)
	b.WriteString("\n<details><summary>Detail</summary>\n")
	for _, g := range d.detail {
		g.markdown(&b)
	}
	b.WriteString("\n</details>\n")
	fmt.Fprintf(&b, "\n%s\n", inMarkdown(strings.Join(d.foot, " ")))
	return flush(w, &b)
}

func bullets(b *bytes.Buffer, title string, items []string, numbered bool) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for i, item := range items {
		lead := "-"
		if numbered {
			lead = fmt.Sprintf("%d.", i+1)
		}
		fmt.Fprintf(b, "%s %s\n", lead, inMarkdown(item))
	}
}

func (g grid) markdown(b *bytes.Buffer) {
	if len(g.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", inMarkdown(g.title))
	row := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(b, "| %s ", inMarkdown(c))
		}
		b.WriteString("|\n")
	}
	row(g.header)
	for i := range g.header {
		if i < g.names {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, r := range g.rows {
		row(r)
	}
}
