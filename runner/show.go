package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/record"
	"gonogo/runner/recount"
)

type showCmd struct {
	Ref   string `arg:"" name:"archive" help:"Session: id, beginning of an id, folder, benchmark.json, or latest."`
	Which string `arg:"" name:"run" help:"Run: its number, its step (go-1/get-c50/b01), or the name of its file. An earlier attempt of a repeated run: step@1."`
	Out   string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	Lines int    `help:"Lines of the server's log to show." default:"20" placeholder:"N"`
	JSON  bool   `help:"The run as it is archived, and the end of its log."`
}

// shown is one run in full.
type shown struct {
	Session  string             `json:"session"`
	File     string             `json:"file"` // in the session's folder
	Attempts int                `json:"attempts"`
	Counts   bool               `json:"in_the_last_attempt"` // of its group; an earlier one is not counted
	Numbers  map[string]float64 `json:"numbers"`
	LogTail  []string           `json:"log_tail,omitempty"`
	Missing  []string           `json:"missing,omitempty"` // what cannot be shown, and why
	Run      *record.Run        `json:"run"`
}

// Run prints one run with all that is known of it.
func (c *showCmd) Run(s streams) error {
	if c.Lines < 0 {
		return fail(exitUsage, "0 shows none", "show run: --lines %d is below 0", c.Lines)
	}
	session, err := open(c.Out, c.Ref)
	if err != nil {
		return err
	}
	path, err := resolve(c.Out, c.Ref)
	if err != nil {
		return err
	}
	v, err := find(session, c.Which)
	if err != nil {
		return err
	}
	target, _ := session.Plan.Target(v.Run.Step.Target)
	if v.Numbers, err = recount.Run(v.Run, target); err != nil {
		v.Missing = append(v.Missing, err.Error())
	}
	v.log(path, c.Lines)
	if c.JSON {
		return writeJSON(s.out, v)
	}
	_, err = s.out.Write(v.text())
	return err
}

var attemptForm = regexp.MustCompile(`^(.*?)(?:@|-again)(\d+)$`)

// find gives the run that which names, in the last attempt unless one is named.
// Probes have no number: they are named by their step.
func find(s *record.Session, which string) (*shown, error) {
	which = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(which, "./"), "runs/"), ".json")
	name, attempt := which, -1
	if m := attemptForm.FindStringSubmatch(which); m != nil {
		name = m[1]
		attempt, _ = strconv.Atoi(m[2])
		if strings.Contains(which, "@") {
			attempt-- // people count from 1
		}
	}
	number, err := strconv.Atoi(name)
	var found []*record.Run
	old := s.Superseded()
	v := &shown{Session: s.ID}
	for i := range s.Runs {
		r := &s.Runs[i]
		stem := strings.TrimSuffix(strings.TrimPrefix(archive.RunFile(r), "runs/"), ".json")
		if r.Step.Key() != name && (err != nil || r.Step.Index+1 != number) && stem != name && stem != which {
			continue
		}
		found = append(found, r)
		if attempt < 0 || r.Attempt == attempt {
			v.Run, v.File, v.Counts = r, archive.RunFile(r), !old[i]
		}
	}
	for i := range s.Probes {
		if r := &s.Probes[i].Run; r.Step.Key() == name && r.Step.Target != "" {
			found = append(found, r)
			v.Run, v.File = r, "probes.json"
		}
	}
	if v.Attempts = len(found); v.Run == nil {
		return nil, noRun(s, which, found)
	}
	return v, nil
}

func noRun(s *record.Session, which string, found []*record.Run) error {
	hint := fmt.Sprintf("it has %s; gonogo report %s --format csv lists them", plural(len(s.Runs), "run"), s.ID)
	if len(s.Runs) > 0 {
		hint = fmt.Sprintf("it has %s, the first is %s; gonogo report %s --format csv lists them", plural(len(s.Runs), "run"), s.Runs[0].Step.Key(), s.ID)
	}
	if len(found) > 0 {
		hint = fmt.Sprintf("the run has %s", plural(len(found), "attempt"))
	}
	return fail(exitFailed, hint, "show run %q: session %s has none of that name", which, s.ID)
}

// log takes the last lines of the server's log from the folder, or else what the
// record kept of it.
func (v *shown) log(path string, lines int) {
	if lines == 0 {
		return
	}
	text := v.Run.LogTail
	if info, err := os.Stat(path); err == nil && info.IsDir() && v.Run.LogFile != "" {
		data, err := archive.ReadFile(path, v.Run.LogFile)
		if err != nil {
			v.Missing = append(v.Missing, err.Error())
			return
		}
		text = string(data)
	} else if text == "" {
		v.Missing = append(v.Missing, "a record in one file holds no logs")
		return
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	v.LogTail = all[max(0, len(all)-lines):]
}

// text is the page: one fact a line, name first, so that it can be searched.
func (v *shown) text() []byte {
	var b bytes.Buffer
	r := v.Run
	fmt.Fprintf(&b, "%s attempt %d of %d, session %s, %s\n", plain(r.Step.Key()), r.Attempt+1, v.Attempts, plain(v.Session), plain(v.File))
	line := func(name, format string, a ...any) {
		fmt.Fprintf(&b, "  %-28s %s\n", plain(name), plain(fmt.Sprintf(format, a...)))
	}
	v.head(line)
	b.WriteString("numbers\n")
	for _, name := range recount.Known {
		if x, ok := v.Numbers[name]; ok {
			line(name, "%s", strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	if r.Load != nil {
		counts(line, r.Load)
	}
	profiled(&b, line, r.Profile)
	b.WriteString("checks\n")
	checks(&b, r.Checks)
	if r.Load != nil {
		checks(&b, r.Load.Checks)
	}
	section(&b, "settings of the live process", r.Settings)
	section(&b, "environment in the window", r.Environment)
	b.WriteString("log\n")
	for _, m := range v.Missing {
		fmt.Fprintf(&b, "  %s\n", plain(m))
	}
	for _, l := range v.LogTail {
		fmt.Fprintf(&b, "  | %s\n", plain(l))
	}
	return b.Bytes()
}

func (v *shown) head(line func(name, format string, a ...any)) {
	r := v.Run
	line("outcome", "%s", r.Outcome)
	if r.Reason != "" {
		line("reason", "%s", r.Reason)
	}
	if !v.Counts && v.File != "probes.json" {
		line("repeated", "its group ran again: this attempt is not counted")
	}
	if v.File != "probes.json" {
		line("position", "block %d, place %d in it, run %d of the session", r.Step.Block, r.Step.Position+1, r.Step.Index+1)
	}
	line("started", "%s", r.Started.UTC().Format(time.RFC3339Nano))
	line("took", "%v", r.Took)
	if r.Stop != nil {
		line("stop", "%v, killed: %v", r.Stop.Took, r.Stop.Killed)
	}
	if r.ExitStatus != "" {
		line("ended by itself", "%s", r.ExitStatus)
	}
	line("pids", "%v, on CPUs %v", r.PIDs, r.CPUsAllowed)
	if r.Group != nil {
		line("control group", "version %d, limits %s, in the window %s, in all %s", r.Group.Version, compact(r.Group.Limits), compact(r.Group.Window), compact(r.Group.Life))
	}
	line("log written", "%d bytes, %d in the window, to %s", r.LogBytes, r.LogInWindow, orAbsent(r.LogFile))
}

// compact is a small record as the archive has it.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func counts(line func(name, format string, a ...any), l *record.LoadResult) {
	c := l.Counts
	line("requests", "%d planned = %d ok + %d miss + %d failed + %d timed out + %d unfinished; %d in the window of %v",
		c.Planned, c.OK, c.Miss, c.Failed, c.TimedOut, c.Unfinished, c.InWindow, l.Window)
	line("connections", "%d, dialled in the window: %d", l.Connections, l.NewDials)
	for _, kind := range slices.Sorted(maps.Keys(l.Errors)) {
		line(kind, "%d, such as %s", l.Errors[kind].Count, l.Errors[kind].Example)
	}
}

func checks(w io.Writer, all []record.Check) {
	for _, c := range all {
		word := "ok"
		switch {
		case c.Unknown:
			word = "unknown"
		case !c.OK && c.Void:
			word = "VOID"
		case !c.OK:
			word = "WARN"
		}
		fmt.Fprintf(w, "  %-8s %s: %s (limit %s)\n", word, plain(c.Name), plain(c.Observed), plain(c.Limit))
	}
}
