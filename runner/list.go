package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

type listCmd struct {
	Out  string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON bool   `help:"The list as JSON."`
}

// entry is one archive, in a line.
type entry struct {
	ID      string     `json:"id"`
	Started *time.Time `json:"started,omitempty"`
	Targets []string   `json:"targets,omitempty"`
	Blocks  int        `json:"blocks,omitempty"`
	Runs    int        `json:"runs"`
	Outcome string     `json:"outcome"` // complete, memory alone, capacity, smoke run, incomplete, cut short, damaged
	Grade   string     `json:"grade,omitempty"`
	Error   string     `json:"error,omitempty"` // why it cannot be read
}

// Run lists all archives, oldest first, so that the newest is next to the prompt.
// One that cannot be read is listed too, and makes the command fail.
func (c *listCmd) Run(s streams) error {
	ids, err := archive.List(c.Out)
	if err != nil {
		return fail(exitFailed, "--out DIR looks elsewhere", "%w", err)
	}
	all := make([]entry, len(ids))
	damaged := 0
	for i, id := range ids {
		all[i] = inALine(filepath.Join(c.Out, id), id)
		if all[i].Error != "" {
			damaged++
		}
	}
	if c.JSON {
		err = writeJSON(s.out, all)
	} else {
		err = printList(s, all)
	}
	if err == nil && damaged > 0 {
		return fail(exitFailed, "gonogo verify ID says what is wrong with one", "list archives: %d of %d cannot be read", damaged, len(all))
	}
	return err
}

func inALine(dir, id string) entry {
	l := entry{ID: id}
	s, err := archive.Load(dir)
	if err != nil {
		l.Outcome, l.Error = "damaged", err.Error()
		return l
	}
	if !s.Started.IsZero() {
		l.Started = &s.Started
	}
	for _, t := range s.Plan.Targets {
		l.Targets = append(l.Targets, t.Name)
	}
	l.Blocks, l.Runs, l.Outcome, l.Grade = s.Plan.Blocks, len(s.Runs), worth(s), s.Host.Grade
	return l
}

// worth says what a session is worth, in two words.
func worth(s *record.Session) string {
	switch {
	case s.Finished.IsZero():
		return "cut short"
	case !s.Complete():
		return "incomplete"
	case s.Plan.Quick:
		return "smoke run"
	case s.Plan.Kind == record.Memory:
		return "memory alone"
	case s.Plan.Kind == record.Capacity:
		return "capacity"
	case s.Plan.Kind == record.Profiling:
		return "profile"
	case s.Plan.Kind == record.MemoryFloor:
		return "memory floor"
	case s.Plan.Kind == record.Scaling:
		return "scale of " + plain(s.Plan.Scale.Factor)
	case s.Plan.Kind == record.Variants:
		return "variants"
	}
	return "complete"
}

func printList(s streams, all []entry) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(s.err, "no archives; gonogo compare makes one")
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTARTED (UTC)\tOUTCOME\tGRADE\tBLOCKS\tRUNS\tTARGETS")
	for _, l := range all {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\t\t%s\n", l.ID, l.Outcome)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", l.ID, day(l.Started), l.Outcome, dash(l.Grade), l.Blocks, l.Runs, plain(strings.Join(l.Targets, " ")))
	}
	return w.Flush()
}

func day(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return plain(s)
}
