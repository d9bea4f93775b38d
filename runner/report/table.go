package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// textWidth is where running text is broken. Tables are never broken or cut.
const textWidth = 100

// Table prints a session as one page for a terminal.
func Table(w io.Writer, s *record.Session, e findings.Evaluation) error {
	d := compose(s, e)
	var b bytes.Buffer
	b.WriteString(d.title + "\n")
	for _, f := range d.head {
		b.WriteString(wrap(printable(fmt.Sprintf("%-9s %s", f.name, f.text)), strings.Repeat(" ", 10)))
	}
	if d.mark != "" {
		fmt.Fprintf(&b, "\n*** %s ***\n", d.mark)
	}
	if len(d.page.rows) == 0 {
		d.page = d.load
	}
	for _, g := range []grid{d.verdicts, d.page, d.memory} {
		if err := g.text(&b); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	paragraphs(&b, "NOTES", short(d.findings))
	title, lines := ledger(d.discarded, d.runs)
	paragraphs(&b, title, lines)
	b.WriteString("\n")
	if d.mark != "" {
		fmt.Fprintf(&b, "*** %s ***\n", d.mark)
	}
	for _, f := range d.foot {
		b.WriteString(wrap(printable(f), ""))
	}
	return flush(w, &b)
}

func paragraphs(b *bytes.Buffer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n" + wrap(printable(title), ""))
	for _, item := range items {
		b.WriteString(wrap(printable(item), noteIndent))
	}
}

// wrap breaks text between words. Further lines begin with indent; blanks inside
// the text stay as they are.
func wrap(text, indent string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Split(strings.TrimRight(text, " "), " ") {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > textWidth && word != "":
			b.WriteString("\n" + indent)
			width = len(indent)
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String() + "\n"
}

// text prints a grid with what belongs to it. A grid without rows is its lead.
func (g grid) text(w *bytes.Buffer) error {
	if len(g.rows) == 0 && g.columns != nil {
		return nil
	}
	w.WriteString("\n")
	for i, p := range g.lead {
		if i == 0 {
			p = g.title + "  " + p
		}
		w.WriteString(wrap(printable(p), ""))
	}
	if len(g.rows) == 0 {
		return nil
	}
	lines, err := g.lines()
	if err != nil {
		return err
	}
	head := len(lines) - len(g.rows)
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	for _, line := range lines[:head] {
		w.WriteString(line + "\n")
	}
	for i, line := range lines[head:] {
		r := g.rows[i]
		if r.group != "" {
			w.WriteString(rule(printable(r.group), width))
		}
		w.WriteString(line + "\n")
		if r.remark != "" {
			w.WriteString(wrap(remarkLead+printable(r.remark), remarkLead))
		}
	}
	for _, p := range g.foot {
		w.WriteString(wrap(printable(p), ""))
	}
	return nil
}

// rule is a group's line, drawn on to the width of its table.
func rule(text string, width int) string {
	text = strings.TrimSuffix(wrap(text, "  "), "\n")
	last := text[strings.LastIndex(text, "\n")+1:]
	if n := width - utf8.RuneCountInString(last) - 1; n > 0 {
		text += " " + strings.Repeat("-", n)
	}
	return text + "\n"
}

const remarkLead = "    "

// lines are the heads and one line a row: a cell never breaks its row.
func (g grid) lines() ([]string, error) {
	// The library does not tell of a failed write, so it writes to memory.
	var b bytes.Buffer
	t := tablewriter.NewTable(&b, options(g)...)
	names, units := g.heads()
	t.Header(names)
	rows := [][]string{}
	if strings.Join(units, "") != "" {
		rows = append(rows, units)
	}
	for _, r := range g.rows {
		var texts []string
		for _, c := range r.cells {
			if c.struck != "" { // a terminal strikes nothing through everywhere
				c.text = c.struck + "*"
			}
			texts = append(texts, printable(c.text))
		}
		rows = append(rows, texts)
	}
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return nil, err
		}
	}
	if err := t.Render(); err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines, nil
}

// heads are the two lines above a table, of names and of units. The unit of a
// number with a range goes to the right, above the range.
func (g grid) heads() (names, units []string) {
	for i, h := range g.columns {
		name, unit := h.name, h.unit
		if i > 0 && g.columns[i-1].ranged && g.columns[i-1].unit != "" {
			name, unit = g.columns[i-1].unit, h.name
		}
		if h.ranged && h.unit != "" {
			unit = ""
		}
		names, units = append(names, printable(name)), append(units, printable(unit))
	}
	return names, units
}

// options turn off all that the library does to words: upper case (it makes ms
// into MS and µs into ΜS), wrapping, cutting, and widths that follow the locale.
func options(g grid) []tablewriter.Option {
	align, pad := make(tw.Alignment, len(g.columns)), make([]tw.Padding, len(g.columns))
	for i, c := range g.columns {
		align[i], pad[i] = tw.AlignRight, tw.Padding{Left: "", Right: "  ", Overwrite: true}
		if c.text {
			align[i] = tw.AlignLeft
		}
		if c.ranged || g.tight {
			pad[i].Right = " "
		}
	}
	plain := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}, PerColumn: pad},
	}
	return []tablewriter.Option{
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: plain, Row: plain}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.Off, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off},
			},
		})),
	}
}

func flush(w io.Writer, b *bytes.Buffer) error {
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
