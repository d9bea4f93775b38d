package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/formats"
	"gonogo/runner/page"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

// written are all forms of a report by name: those of package report are read by
// people, the page by all, those of package formats by programs.
var written = forms()

func forms() map[string]report.Writer {
	all := map[string]report.Writer{"html": page.HTML}
	maps.Copy(all, report.Formats)
	for name, w := range formats.All {
		all[name] = w
	}
	return all
}

type reportCmd struct {
	Ref    string `arg:"" optional:"" name:"archive" help:"Session: id, beginning of an id, folder, benchmark.json, or latest." default:"latest"`
	Out    string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	Format string `help:"What to print: ${enum}." enum:"table,md,csv,json,html,bench,hlog,hgrm,hyperfine,github,junit,prometheus" default:"table"`
	Cell   string `help:"One cell alone, as go-1/get-open: for hgrm and hlog, whose plotters draw one a file." placeholder:"TARGET/SCENARIO"`
}

// Run prints an archived session.
func (c *reportCmd) Run(s streams) error {
	loaded, err := open(c.Out, c.Ref)
	if err != nil {
		return err
	}
	e := findings.Evaluate(loaded)
	if c.Cell != "" {
		if e.Cells, err = only(e.Cells, c.Cell, c.Format); err != nil {
			return err
		}
	}
	return show(s.out, c.Format, loaded, e)
}

// only is the cell of that name. In a format for people it would lack what it is
// compared with.
func only(cells []findings.Cell, name, format string) ([]findings.Cell, error) {
	if format != "hgrm" && format != "hlog" {
		return nil, fail(exitUsage, "--cell goes with --format hgrm or hlog", "report cell %q: format %s has all cells", name, format)
	}
	var have []string
	for i := range cells {
		if cells[i].Name() == name {
			return cells[i : i+1], nil
		}
		have = append(have, cells[i].Name())
	}
	return nil, fail(exitUsage, "it has "+strings.Join(have, ", "), "report cell %q: the session has none of that name", name)
}

// open loads the session that ref names.
func open(out, ref string) (*record.Session, error) {
	path, err := resolve(out, ref)
	if err != nil {
		return nil, err
	}
	loaded, err := archive.Load(path)
	if err != nil {
		return nil, fail(exitFailed, "an archive is read whole or not at all; restore the file, or name another session", "%w", err)
	}
	return loaded, nil
}

// resolve finds the folder or the file that ref names.
func resolve(out, ref string) (string, error) {
	path, err := archive.Resolve(out, ref)
	if unknown := (*archive.Unknown)(nil); errors.As(err, &unknown) {
		return "", fail(exitFailed, existing(unknown), "%w", err)
	}
	return path, err
}

// existing says what could have been asked for, newest first.
func existing(u *archive.Unknown) string {
	const most = 5
	if len(u.Have) == 0 {
		return "gonogo compare makes one; --out DIR looks elsewhere"
	}
	var ids []string
	for i := len(u.Have) - 1; i >= 0 && len(ids) < most; i-- {
		ids = append(ids, u.Have[i])
	}
	text := "newest in " + filepath.Clean(u.Out) + ": " + strings.Join(ids, ", ")
	if more := len(u.Have) - len(ids); more > 0 {
		text += fmt.Sprintf(" and %d older", more)
	}
	return text
}

// show prints a session. One from which nothing can be concluded is printed all
// the same, and the exit code says so.
func show(w io.Writer, format string, s *record.Session, e findings.Evaluation) error {
	if err := written[format](w, s, e); err != nil {
		return err
	}
	switch {
	case e.Invalid():
		return fail(exitInvalid, "the notes of the report say why", "report session %s: no conclusion can be drawn from it", s.ID)
	case e.NoVerdict():
		return fail(exitInvalid, "each verdict says which check failed", "report session %s: all %d verdicts are INVALID", s.ID, len(e.Verdicts))
	}
	return nil
}
