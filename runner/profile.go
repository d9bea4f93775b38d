package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/profile"
	"gonogo/runner/record"
)

type profileCmd struct {
	Targets []string      `arg:"" optional:"" name:"target" help:"One target, or two that are held against each other (default: the pair on one core)."`
	Window  time.Duration `help:"What is profiled of each run, after its warm-up." default:"10s" placeholder:"10s"`
	Seed    *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Quick   bool          `help:"Smoke run: windows of a second after a short warm-up. Not evidence."`
	DryRun  bool          `help:"Say what would run and how long, and run nothing."`
	Out     string        `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON    bool          `help:"Print the report as JSON."`
}

func (c *profileCmd) plan() (*record.Plan, error) {
	switch {
	case len(c.Targets) > 2:
		return nil, fail(exitUsage, "name one, or two to hold against each other", "plan profile: %d targets", len(c.Targets))
	case len(c.Targets) == 2 && c.Targets[0] == c.Targets[1]:
		return nil, fail(exitUsage, "name another one, or one alone", "plan profile: %s twice", c.Targets[0])
	case c.Window < time.Second || c.Window > 2*time.Minute:
		return nil, fail(exitUsage, "give 1s to 2m", "plan profile: a window of %v", c.Window)
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.NewProfile(plan.ProfileOptions{Kit: version(), CPUs: plan.CPUSets(sets), Targets: c.Targets, Seed: seed, Quick: c.Quick, Window: c.Window})
	if err != nil {
		return nil, fail(exitUsage, "gonogo profile --dry-run shows the targets of this machine", "%w", err)
	}
	return p, nil
}

// Run takes the profiles of one or two targets at saturation, and prints the report of
// what it archived.
func (c *profileCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeProfile(p), describeTargets(p), describeSteps(p))
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("profile", s)
	if err != nil {
		return err
	}
	defer release()
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describeProfile(p))
	if h, err = grade(ctx, h, p, s); err != nil {
		return err
	}
	dir, err := measure(ctx, kit, p, h, c.Out, s)
	if err != nil {
		return err
	}
	loaded, err := archive.Load(dir)
	if err != nil {
		return unkept(err, dir)
	}
	e := findings.Evaluate(loaded)
	format := "table"
	if c.JSON {
		format = "json"
	}
	return errors.Join(keep(dir, c.Out, loaded, e), show(s.out, format, loaded, e))
}

// describeProfile says before anything runs what it is and how long it takes.
func describeProfile(p *record.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: profiles of %s, %s, each a fresh process at saturation, about %v, seed %d\n",
		plural(len(p.Targets), "target"), plural(len(p.Steps), "run"), p.Expected.Round(time.Second), p.Seed)
	for _, sc := range p.Scenarios {
		with := "no profiler"
		if sc.Profile != "" {
			with = "profiles of " + strings.Join(sc.Targets, " and ")
		}
		fmt.Fprintf(&b, "  %-15s %d connections, closed loop, %v warm-up, %v window, %s\n", sc.Name, sc.Connections, sc.Warmup, sc.Window, with)
	}
	if p.Quick {
		b.WriteString("quick: profiles of a second show that everything works; they are not evidence\n")
	}
	return b.String()
}

// profiles works the functions of every run out once more, from the raw profiles.
func (v *verification) profiles(dir string, s *record.Session) {
	if s.Plan.Kind != record.Profiling {
		return
	}
	var problems []archive.Problem
	files := 0
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Profile == nil {
			continue
		}
		files += len(r.Profile.Files)
		for _, wrong := range profile.Again(r.Profile, func(name string) ([]byte, error) { return readProfile(dir, name) }) {
			problems = append(problems, archive.Problem{File: archive.RunFile(r), Text: wrong})
		}
	}
	v.add("profiles", plural(files, "raw profile")+", from which every function's part follows again", problems...)
}

// readProfile reads a raw profile of an archive, which may be larger than its record.
func readProfile(dir, name string) ([]byte, error) {
	f, err := os.OpenInRoot(dir, name)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read profile %s: not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, profile.MaxFile+1))
	if err == nil && len(data) > profile.MaxFile {
		err = fmt.Errorf("larger than %d MiB", profile.MaxFile>>20)
	}
	return data, err
}

// profiled says of a run what its profiler yielded: the first functions of each vector.
func profiled(w io.Writer, line func(name, format string, a ...any), p *record.ProfileRun) {
	if p == nil {
		return
	}
	const first = 5
	fmt.Fprintf(w, "profile of %s\n", plain(p.Of))
	for _, v := range p.Vectors {
		line(v.Name, "%d %s in %d samples", v.Total, v.Unit, v.Samples)
		for _, f := range v.Functions[:min(first, len(v.Functions))] {
			line("", "%14d  %s", f.Self, f.Name)
		}
	}
	if l := p.Loop; l != nil {
		line("event loop late", "p50 %v, p99 %v, at most %v", l.P50, l.P99, l.Max)
	}
	for _, f := range p.Files {
		line("file", "%s, %d bytes", f.Name, f.Bytes)
	}
}
