package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/page"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/report"
	"gonogo/runner/session"
)

// planFlags are what compare and plan have in common.
type planFlags struct {
	Targets []string      `help:"Targets to measure, separated by commas (default: all; gonogo variants --list has more)." placeholder:"NAME,..."`
	Seed    *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Budget  time.Duration `help:"Wanted length; it decides how many blocks fit." default:"12m" placeholder:"12m"`
	Quick   bool          `help:"Smoke run of one short block. Not evidence."`
	Plan    string        `help:"Instead of the servers of this kit, the services that this plan file describes: docs/your-own-service.md." placeholder:"FILE"`
}

func (f planFlags) plan() (*record.Plan, error) {
	if err := named(f.Targets); err != nil {
		return nil, err
	}
	seed := rand.Uint64()
	if f.Seed != nil {
		seed = *f.Seed
	}
	if f.Budget < time.Minute && !f.Quick {
		return nil, fail(exitUsage, "give at least 1m, or --quick", "plan session: a budget of %v holds no block", f.Budget)
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	if f.Plan != "" {
		return f.services(plan.CPUSets(sets), seed)
	}
	p, err := plan.New(plan.Options{Kit: version(), CPUs: plan.CPUSets(sets), Targets: f.Targets, Seed: seed, Budget: f.Budget, Quick: f.Quick})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo plan shows the targets of this machine, gonogo variants --list their variants and other runtimes", "%w", err)
	}
	return p, err
}

// named refuses --targets "$UNSET", which must not mean all of them.
func named(targets []string) error {
	if targets != nil && len(targets) == 0 {
		return fail(exitUsage, "leave --targets out to take the default", "select targets: none named")
	}
	return nil
}

type compareCmd struct {
	planFlags
	Out    string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	Resume string `help:"Go on with a session that was cut short, by its own plan: id, beginning of an id, folder, or latest." placeholder:"ARCHIVE"`
}

// Run measures all targets and prints the report of what it archived.
func (c *compareCmd) Run(ctx context.Context, s streams) error {
	if c.Resume != "" {
		return c.resume(ctx, s)
	}
	p, err := c.plan()
	if err != nil {
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("compare", s)
	if err != nil {
		return err
	}
	defer release()
	kit = kit.of(p)
	if err := prepare(ctx, kit, p, true, s); err != nil {
		return err
	}
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	if publishes(p) {
		if err := archive.ProbeFile(benchmarkPath(c.Out)); err != nil {
			return fail(exitPreflight, "the session's record goes there: make room for it, or name another folder with --out", "%w", err)
		}
	}
	fmt.Fprint(s.err, describePlan(p))
	if h, err = grade(ctx, h, p, s); err != nil {
		return err
	}
	dir, err := measure(ctx, kit, p, h, c.Out, s)
	if err != nil {
		return err
	}
	return conclude(dir, c.Out, s)
}

// watchFor is how long the machine is watched at rest before a session.
var watchFor = 5 * time.Second // tests wait less

// grade watches the machine before the first run. One that fails a gate is
// measured all the same, for the user may know why, but is told at once that no
// verdict will come of it. A smoke run gives none anyway.
func grade(ctx context.Context, h record.Host, p *record.Plan, s streams) (record.Host, error) {
	if p.Quick {
		return h, nil
	}
	fmt.Fprintf(s.err, "watching the machine at rest for %v\n", watchFor)
	d, err := examine(ctx, h, p, watchFor)
	if err != nil {
		return h, err
	}
	if ctx.Err() != nil {
		return h, fail(exitInterrupted, "run it again", "compare: interrupted by a signal; nothing was timed")
	}
	fmt.Fprintf(s.err, "machine: grade %s\n", d.Host.Grade)
	for _, advice := range d.Advice {
		fmt.Fprintf(s.err, "  %s\n", advice)
	}
	if len(failedChecks(d.Host.Checks)) > 0 {
		fmt.Fprintln(s.err, "  a gate has failed: numbers will be kept, verdicts will be withheld; Ctrl-C now if that is not worth the time")
	}
	return d.Host, nil
}

// pilot prints, once the pilot blocks are in the archive, what the session will be
// able to find. It stands between two steps, where nothing is timed.
func pilot(dir string, p *record.Plan, r *record.Run, progress *progress) error {
	block, ok := findings.PilotBlock(p)
	if !ok || r.Attempt > 0 || r.Step.Block != block || p.Steps[r.Step.Index+1].Block == block {
		return nil
	}
	s, err := archive.Load(dir)
	if err != nil {
		return err
	}
	progress.line(fmt.Sprintf("after %d blocks: with all %d a difference of so much would be found four times in five, and equality confirmed within so much", block, p.Blocks))
	for _, line := range findings.Pilot(s) {
		progress.line("  " + line)
	}
	return nil
}

// unproved says why nothing was timed.
func unproved(ctx context.Context, err error, dir string) error {
	if ctx.Err() != nil {
		return fail(exitInterrupted, "run it again, or go on: "+resumeCommand(dir), "compare: interrupted by a signal; nothing was timed")
	}
	if unlike := (*session.Unlike)(nil); errors.As(err, &unlike) {
		hint := "gonogo check repeats this; targets that answer differently are not timed"
		if len(unlike.Targets) > 0 {
			hint = fmt.Sprintf("gonogo check --targets %s repeats this; targets that answer differently are not timed: leave it out of --targets", strings.Join(unlike.Targets, ","))
		}
		return fail(exitWrong, hint, "%w", err)
	}
	return fail(exitPreflight, "nothing was timed; what the servers printed is in "+filepath.Join(dir, "logs"), "%w", err)
}

// unkept says that the session ended early, and what there is of it.
func unkept(err error, dir string) error {
	return fail(exitFailed, "the finished runs are kept in "+dir+"; once the cause is gone, "+resumeCommand(dir)+" goes on", "%w", err)
}

// conclude reads the archive back and reports it: what is printed is what
// `gonogo report` prints, for it comes from the disk alone. A file that cannot be
// written does not keep the report from being printed: it took minutes to make.
func conclude(dir, out string, s streams) error {
	loaded, err := archive.Load(dir)
	if err != nil {
		return unkept(err, dir)
	}
	e := findings.Evaluate(loaded)
	if err := errors.Join(keep(dir, out, loaded, e), summarize(os.Getenv("GITHUB_STEP_SUMMARY"), loaded, e)); err != nil {
		again := "the session itself is whole; gonogo report " + dir + " prints it, and " + resumeCommand(dir) + " files the rest"
		return errors.Join(fail(exitFailed, again, "%w", err), show(s.out, "table", loaded, e))
	}
	return show(s.out, "table", loaded, e)
}

// derived are the files of a session that its record gives: compare writes them,
// verify makes them anew.
var derived = map[string]report.Writer{"report.html": page.HTML, "report.md": report.Markdown, "runs.csv": report.CSV}

// keep writes what is derived from a session: its reports, the sums of all its
// files, and benchmark.json.
func keep(dir, out string, loaded *record.Session, e findings.Evaluation) error {
	for _, name := range slices.Sorted(maps.Keys(derived)) {
		write := derived[name]
		if err := archive.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { return write(w, loaded, e) }); err != nil {
			return err
		}
	}
	if publishable(loaded, e) {
		if err := archive.Publish(benchmarkPath(out), loaded); err != nil {
			return err
		}
	}
	// Last: a session with a manifest has nothing left to do.
	return archive.WriteManifest(dir)
}

// publishable: the project's record is of the whole question, and of a session
// that stands.
func publishable(s *record.Session, e findings.Evaluation) bool {
	return s.Complete() && publishes(&s.Plan) && !e.Invalid()
}

// publishes tells whether a session of this plan replaces benchmark.json, if it
// stands.
func publishes(p *record.Plan) bool {
	return p.Kind == "" && p.Service == nil && !p.Quick && !p.Part && plan.Fewest(p) >= plan.MinRounds
}

// benchmarkPath puts benchmark.json beside the default folder of archives, and
// inside any other, so that a session kept elsewhere does not replace the
// project's record.
func benchmarkPath(out string) string {
	if filepath.Clean(out) == "results" {
		return "benchmark.json"
	}
	return filepath.Join(out, "benchmark.json")
}

// summarize appends the report to the summary of a CI job, of which GitHub Actions
// names the file. Only compare does: it is what a job runs, and a job that prints
// an old session decides by itself where to.
func summarize(path string, s *record.Session, e findings.Evaluation) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append report to the job's summary: %w", err)
	}
	if err := errors.Join(report.Markdown(f, s, e), f.Close()); err != nil {
		return fmt.Errorf("append report to the job's summary: %w", err)
	}
	return nil
}
