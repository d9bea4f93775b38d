package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/report"
	"gonogo/runner/session"
)

// planFlags are what compare and plan have in common.
type planFlags struct {
	Targets []string      `help:"Targets to measure, separated by commas (default: all)." placeholder:"NAME,..."`
	Seed    uint64        `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Budget  time.Duration `help:"Wanted length; it decides how many blocks fit." default:"12m" placeholder:"12m"`
	Quick   bool          `help:"Smoke run of one short block. Not evidence."`
}

func (f planFlags) plan() (*record.Plan, error) {
	if f.Seed == 0 {
		f.Seed = rand.Uint64()
	}
	if f.Budget < time.Minute && !f.Quick {
		return nil, fail(exitUsage, "give at least 1m, or --quick", "plan session: a budget of %v holds no block", f.Budget)
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.New(plan.Options{Kit: version(), CPUs: plan.CPUSets(sets), Targets: f.Targets, Seed: f.Seed, Budget: f.Budget, Quick: f.Quick})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo plan shows the targets of this machine", "%w", err)
	}
	return p, err
}

type compareCmd struct {
	planFlags
	Out string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
}

// Run measures all targets and prints the report of what it archived.
func (c *compareCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describePlan(p))
	dir, err := measure(ctx, kit, p, h, c.Out, s)
	if err != nil {
		return err
	}
	return conclude(dir, c.Out, s)
}

// measure archives the session and returns its folder.
func measure(ctx context.Context, kit kit, p *record.Plan, h record.Host, out string, s streams) (string, error) {
	w, err := archive.Create(out, p, h)
	if err != nil {
		return "", fail(exitPreflight, "", "%w", err)
	}
	progress := newProgress(s.err, p)
	logDir, err := filepath.Abs(w.Dir())
	if err != nil {
		return "", err
	}
	cfg := session.Config{
		Plan: p, Root: kit.root, Guard: []string{kit.exe, "guard"}, Generator: []string{kit.exe, "load", "--spec", "-"},
		LogPath: func(st record.Step) string { return filepath.Join(logDir, w.LogName(st)) }, LogName: w.LogName,
		Append: w.Append, Observe: progress.observe,
	}
	progress.say("proving that the targets answer alike")
	parity, err := session.Prove(ctx, cfg, filepath.Join(logDir, "logs"))
	if unlike := (*session.Unlike)(nil); errors.As(err, &unlike) {
		return "", fail(exitWrong, "gonogo check repeats this; targets that answer differently are not timed", "%w", err)
	}
	if err == nil {
		err = w.AddContract(parity)
	}
	if err != nil {
		return "", err
	}
	if err := session.Execute(ctx, cfg); err != nil {
		if ctx.Err() != nil {
			return "", fail(exitInterrupted, "the finished runs are kept in "+w.Dir(), "compare: interrupted; no conclusion is drawn")
		}
		return "", err
	}
	progress.done()
	return w.Dir(), w.Finish()
}

// conclude reads the archive back and reports it: what is printed is what
// `gonogo report` prints, for it comes from the disk alone.
func conclude(dir, out string, s streams) error {
	loaded, err := archive.Load(dir)
	if err != nil {
		return err
	}
	e := findings.Evaluate(loaded)
	for name, write := range map[string]report.Writer{"report.md": report.Markdown, "runs.csv": report.CSV} {
		if err := archive.WriteFile(filepath.Join(dir, name), func(f *os.File) error { return write(f, loaded, e) }); err != nil {
			return err
		}
	}
	if loaded.Complete() && !loaded.Plan.Quick {
		if err := archive.Publish(benchmarkPath(out), loaded); err != nil {
			return err
		}
	}
	return show(s.out, "table", loaded, e)
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
