package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// resumeCommand is how to go on with the session in a folder.
func resumeCommand(dir string) string {
	if filepath.Dir(dir) == "results" {
		dir = filepath.Base(dir)
	}
	return "gonogo compare --resume " + dir
}

// resume goes on with a session that was cut short: by its own plan, on the same
// machine, with the same programs, or not at all. What is left to do follows from
// the runs on disk.
func (c *compareCmd) resume(ctx context.Context, s streams) error {
	if !reflect.DeepEqual(c.planFlags, planFlags{Budget: plan.DefaultBudget}) {
		return fail(exitUsage, "leave the flags of the plan out", "resume session %s: its plan was fixed before its first run", c.Resume)
	}
	dir, err := resolve(c.Out, c.Resume)
	if err != nil {
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("compare --resume", s)
	if err != nil {
		return err
	}
	defer release()
	w, kept, err := archive.Open(dir)
	if finished := (*archive.Finished)(nil); errors.As(err, &finished) {
		return fail(exitPreflight, "gonogo report "+finished.ID+" prints it; gonogo compare makes a new one", "%w", err)
	}
	if err != nil {
		return fail(exitPreflight, "gonogo verify says what is wrong with an archive; gonogo compare makes a new one", "%w", err)
	}
	if kept.Finished.IsZero() {
		if err := c.goOn(ctx, kit, w, kept, s); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.err, "session %s: all runs are made; what is derived from them is written\n", kept.ID)
	}
	return conclude(dir, c.outOf(dir), s)
}

// outOf is the folder of archives that a session is in, by the name that the user
// gave it: benchmark.json belongs beside the default one.
func (c *compareCmd) outOf(dir string) string {
	out := filepath.Dir(dir)
	a, errA := filepath.Abs(out)
	b, errB := filepath.Abs(c.Out)
	if errA == nil && errB == nil && a == b {
		return c.Out
	}
	return out
}

// goOn runs the steps that are outstanding.
func (c *compareCmd) goOn(ctx context.Context, kit kit, w *archive.Writer, kept *record.Session, s streams) error {
	p := &kept.Plan
	if err := storeIsGone(p, w); err != nil {
		return err
	}
	if p.Kind.Searched() {
		return fail(exitPreflight, fmt.Sprintf("gonogo %s searches anew", p.Kind), "resume session %s: a search has no steps that were planned before it", kept.ID)
	}
	kit = kit.of(p)
	if err := prepare(ctx, kit, p, false, s); err != nil {
		return err
	}
	now, err := preflight(ctx, kit, p, filepath.Dir(w.Dir()))
	if err != nil {
		return err
	}
	if changed := unlike(kept, now); len(changed) > 0 {
		return fail(exitPreflight, "put that back, or begin anew: gonogo compare",
			"resume session %s: its runs and new ones would not be comparable:\n  %s", kept.ID, strings.Join(changed, "\n  "))
	}
	fmt.Fprint(s.err, describeRest(kept))
	if now, err = grade(ctx, now, p, s); err != nil {
		return err
	}
	runs := len(kept.Runs)
	if err := w.Resumed(record.Resume{At: time.Now(), Grade: now.Grade, Checks: now.Checks, Kept: &runs}); err != nil {
		return unkept(err, w.Dir())
	}
	x := &sitting{kit: kit, plan: p, host: kept.Host, w: w, kept: kept, progress: newProgress(s.err, p)}
	return x.run(ctx)
}

// unlike says what is no longer as it was, one line a difference.
func unlike(kept *record.Session, now record.Host) []string {
	var lines []string
	if kept.Plan.Kit != version() {
		lines = append(lines, fmt.Sprintf("gonogo: %s then, %s now", kept.Plan.Kit, version()))
	}
	for _, c := range slices.Concat(moved(kept.Host, now), rebuilt(kept.Host.Binaries, now.Binaries)) {
		lines = append(lines, fmt.Sprintf("%s: %s then, %s now", strings.TrimSuffix(c.Name, " changed"), plain(c.Limit), plain(c.Observed)))
	}
	return lines
}

// moved tells one machine from another: by its settings, and by what it is made of.
func moved(before, now record.Host) []record.Check {
	checks := host.Changed(before, now)
	for _, m := range []struct{ name, was, is string }{
		{"system", before.OS + "/" + before.Arch, now.OS + "/" + now.Arch},
		{"cores", fmt.Sprint(before.PhysicalCores), fmt.Sprint(now.PhysicalCores)},
		{"memory", fmt.Sprintf("%d bytes", before.MemoryBytes), fmt.Sprintf("%d bytes", now.MemoryBytes)},
	} {
		if m.was != m.is {
			checks = append(checks, record.Check{Name: m.name, Observed: m.is, Limit: m.was})
		}
	}
	return checks
}

// changes are the settings and the programs that are no longer as they were at the
// start of the session.
func changes(ctx context.Context, k kit, p *record.Plan, before record.Host) []record.Check {
	node, err := checkCommands(ctx, k, p)
	sums := map[string]string{}
	if err == nil {
		sums, err = measured(k, p)
	}
	if err != nil {
		return []record.Check{{Name: "commands", Void: true, Observed: err.Error(), Limit: "as at the start"}}
	}
	return append(host.Changed(before, host.Describe(ctx, node)), rebuilt(before.Binaries, sums)...)
}

// describeRest says where the session was interrupted and what is left of it.
func describeRest(kept *record.Session) string {
	left := session.Outstanding(kept.Runs, kept.Plan.Steps)
	var expected time.Duration
	for _, st := range left {
		sc, _ := kept.Plan.Scenario(st.Scenario)
		expected += plan.StepTime(sc)
	}
	asked := *kept
	runs := len(kept.Runs)
	asked.Resumes = append(slices.Clone(kept.Resumes), record.Resume{At: time.Now(), Kept: &runs})
	gaps := asked.Interruptions()
	gap := gaps[len(gaps)-1]
	return fmt.Sprintf("session %s: interrupted %s, %v ago\n%d of %d steps stand, %d are outstanding, about %v\n", kept.ID, gap.Where(), gap.Gap.Round(time.Second),
		len(kept.Plan.Steps)-len(left), len(kept.Plan.Steps), len(left), expected.Round(time.Second))
}
