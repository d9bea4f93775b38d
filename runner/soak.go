package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/internal/soak"
)

// soakCmd is hidden: make soak runs it. It repeats quick sessions in this process,
// through the code that a user's compare runs, and tells what grows with them.
type soakCmd struct {
	For     time.Duration `help:"No session begins later than this after the start." default:"2h"`
	Targets []string      `help:"Targets of the sessions (default: all)." placeholder:"NAME,..."`
	Dir     string        `help:"Folder to make and to work in (default: one in the folder for temporary files)." placeholder:"DIR"`
	Judge   string        `help:"Run nothing: judge the samples of a soak, perhaps a cut one." placeholder:"FILE"`
}

// Run soaks, and fails when something grows.
func (c *soakCmd) Run(ctx context.Context, s streams) error {
	if c.Judge != "" {
		samples, err := soak.Read(c.Judge)
		if err != nil {
			return fail(exitFailed, "name the "+soak.SamplesFile+" of a soak", "%w", err)
		}
		return soaked(samples, s.out)
	}
	dir, err := c.folder()
	if err != nil {
		return fail(exitPreflight, "name a new folder with --dir", "soak: %w", err)
	}
	fmt.Fprintf(s.err, "soak: sessions for %v in %s, samples in its %s\n", c.For, dir, soak.SamplesFile)
	if err := os.Unsetenv("GITHUB_STEP_SUMMARY"); err != nil { // it would get a report of each session
		return err
	}
	samples, err := soak.Run(ctx, soak.Config{Dir: dir, For: c.For, Log: s.err, Session: c.session(s.err), Pause: 10 * time.Second,
		Refused: func(code int) bool { return code == exitPreflight }})
	if err != nil {
		return fail(exitFailed, "gonogo soak --judge judges the samples in "+dir, "soak: %w", err)
	}
	judged := soaked(samples, s.out)
	if ctx.Err() != nil {
		return fail(exitInterrupted, "the samples are kept in "+dir, "soak: interrupted by a signal after %s", plural(len(samples), "session"))
	}
	return judged
}

// folder makes the soak's folder.
func (c *soakCmd) folder() (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp("", "gonogo-soak-")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o755) // it must be new: what else lay there would be counted
}

// session runs one quick compare of this very process. What it says is shown if it
// did not end well.
func (c *soakCmd) session(log io.Writer) func(context.Context, string) int {
	return func(ctx context.Context, results string) int {
		args := []string{"compare", "--quick", "--out", results}
		if c.Targets != nil {
			args = append(args, "--targets", strings.Join(c.Targets, ","))
		}
		var said bytes.Buffer
		code := run(ctx, args, streams{strings.NewReader(""), io.Discard, &said})
		if code != exitDone && code != exitInterrupted {
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			fmt.Fprintf(log, "  %s\n", strings.Join(lines[max(0, len(lines)-4):], "\n  "))
		}
		return code
	}
}

// soaked prints the table and fails if something grows, or a session failed.
func soaked(samples []soak.Sample, out io.Writer) error {
	rows := soak.Judge(samples)
	if err := soak.Table(out, rows); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	failed := soak.Failed(samples, exitDone, exitInvalid)
	fmt.Fprintf(out, "%s, %d failed\n", plural(len(samples), "session"), len(failed))
	if len(failed) > 0 {
		return fail(exitFailed, "the session's own words are above its line", "soak: %s failed, first: %s", plural(len(failed), "session"), failed[0])
	}
	var bad []string
	for _, r := range rows {
		if r.Verdict == soak.Growing || r.Verdict == soak.Left {
			bad = append(bad, r.Name+" "+strings.ToLower(r.Verdict))
		}
	}
	if len(bad) > 0 {
		return fail(exitFailed, "the slope tells how much a session leaves", "soak: %s", strings.Join(bad, ", "))
	}
	if slices.ContainsFunc(rows, func(r soak.Row) bool { return r.Verdict == soak.TooFew }) {
		return fail(exitInvalid, "soak for longer", "soak: too few sessions to judge")
	}
	return nil
}
