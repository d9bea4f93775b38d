package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is what became of one fault.
type row struct {
	fault
	raised string // "" if the alarm stayed silent
	quiet  string // "" if the twin stayed silent, else what it said
	took   time.Duration
}

func (r row) ok() bool { return r.raised != "" && r.quiet == "" }

// spoiled is how often a quiet twin is tried that the machine spoiled. One that raised
// the alarm is not tried again.
const spoiled = 3

// judge performs a session with the fault and one without.
func (f fault) judge(ctx context.Context, dir string) row {
	r := row{fault: f}
	begin := time.Now()
	defer func() { r.took = time.Since(begin) }()
	own, err := os.MkdirTemp(dir, "session-")
	if err != nil {
		r.quiet = err.Error()
		return r
	}
	loud := f.set(own, true).perform(ctx)
	r.raised = f.alarm(&loud)
	for range spoiled {
		if own, err = os.MkdirTemp(dir, "session-"); err != nil {
			r.quiet = err.Error()
			return r
		}
		quiet := f.set(own, false).perform(ctx)
		if said := f.alarm(&quiet); said != "" {
			r.quiet = "no: " + said
			break
		}
		r.quiet = ""
		if err := quiet.sound(); err == nil {
			break
		} else {
			r.quiet = "proves nothing: " + err.Error()
		}
	}
	r.took = time.Since(begin)
	return r
}

// faultName is a row's name without its case.
func faultName(name string) string {
	name, _, _ = strings.Cut(name, ": ")
	return name
}

// print writes the table and says whether all is well.
func print(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "planted\talarm expected\talarm raised\tquiet twin silent")
	var names, bad []string
	for _, r := range rows {
		raised, quiet := r.raised, r.quiet
		if raised == "" {
			raised = "NONE"
		}
		if quiet == "" {
			quiet = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.name, r.expected, brief(raised), brief(quiet))
		name := faultName(r.name)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !r.ok() && !slices.Contains(bad, name) {
			bad = append(bad, name)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d\n", len(names)-len(bad), len(names))
	if len(bad) > 0 {
		return fmt.Errorf("look for planted faults: %s not told from the quiet twin", strings.Join(bad, ", "))
	}
	return nil
}

// brief keeps a cell of the table on one line.
func brief(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	const most = 110
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
