package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// textWidth is where running text is broken. Tables are never broken or cut.
const textWidth = 110

// Table prints a session as a page for a terminal.
func Table(w io.Writer, s *record.Session, e findings.Evaluation) error {
	d := compose(s, e)
	var b bytes.Buffer
	line := func(text string) { b.WriteString(wrap(printable(text), "")) }
	line(d.title)
	for _, h := range d.head {
		line(h)
	}
	if d.mark != "" {
		fmt.Fprintf(&b, "\n*** %s ***\n", d.mark)
	}
	grids := append([]grid{d.glance}, d.main...)
	for _, g := range append(grids, d.detail...) {
		if err := g.text(&b); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	list(&b, "Notes", d.notes, true)
	list(&b, "Discarded runs", d.discarded, false)
	if d.mark != "" {
		fmt.Fprintf(&b, "\n*** %s ***\n", d.mark)
	}
	b.WriteString("\n")
	for _, f := range d.foot {
		line(f)
	}
	return flush(w, &b)
}

func list(b *bytes.Buffer, title string, items []string, numbered bool) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for i, item := range items {
		lead := "- "
		if numbered {
			lead = fmt.Sprintf("[%d] ", i+1)
		}
		b.WriteString(wrap(lead+printable(item), strings.Repeat(" ", len(lead))))
	}
}

// wrap breaks text between words. Further lines begin with indent.
func wrap(text, indent string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > textWidth:
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

// text prints a grid. A grid without rows prints nothing.
func (g grid) text(w *bytes.Buffer) error {
	if len(g.rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(wrap(printable(g.title), ""), "\n"))
	// The library does not tell of a failed write, so it writes to memory.
	var b bytes.Buffer
	t := tablewriter.NewTable(&b, options(g)...)
	t.Header(escaped(g.header))
	for _, row := range g.rows {
		if err := t.Append(escaped(row)); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		w.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return nil
}

// options turn off all that the library does to words: upper case (it makes ms
// into MS and µs into ΜS), wrapping, cutting, and widths that follow the locale.
func options(g grid) []tablewriter.Option {
	align := make(tw.Alignment, len(g.header))
	for i := range align {
		align[i] = tw.AlignRight
		if i < g.names {
			align[i] = tw.AlignLeft
		}
	}
	plain := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}},
	}
	return []tablewriter.Option{
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: plain, Row: plain}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.On, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
			},
		})),
	}
}

func escaped(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = printable(c)
	}
	return out
}

func flush(w io.Writer, b *bytes.Buffer) error {
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
