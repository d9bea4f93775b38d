package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/capacity"
	"gonogo/runner/cgroup"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type floorCmd struct {
	Targets []string      `arg:"" optional:"" name:"target" help:"Targets to measure (default: the pair on one core, and the cluster)."`
	Rate    amount        `help:"Requests per second that have to be met." default:"1000" placeholder:"1000"`
	For     time.Duration `help:"For so long in each trial; at a low rate it is longer, for 3000 requests." default:"4s" placeholder:"4s"`
	SLO     string        `name:"slo" help:"Response time that the rate must be met with: a percentile and a limit." default:"p95<20ms" placeholder:"p95<20ms"`
	Ceiling int           `name:"ceiling-mib" help:"Limit that a search starts from." default:"512" placeholder:"512"`
	Repeats int           `help:"Searches of each target; from 6 on there is a 95 % interval." default:"1" placeholder:"1"`
	Seed    *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Quick   bool          `help:"Smoke run: one coarse search of short trials. Not evidence."`
	DryRun  bool          `help:"Say what would run and how long, and run nothing."`
	Out     string        `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON    bool          `help:"Print the report as JSON."`
}

func (c *floorCmd) plan() (*record.Plan, error) {
	quantile, slo, err := plan.ParseSLO(c.SLO)
	switch {
	case err != nil:
		return nil, fail(exitUsage, "--slo 'p95<20ms'", "%w", err)
	case c.Repeats < 1 || c.Repeats > 100:
		return nil, fail(exitUsage, "give 1 to 100", "plan memory floor: %d repeats", c.Repeats)
	case c.For < time.Second || c.For > 10*time.Minute:
		return nil, fail(exitUsage, "give 1s to 10m", "plan memory floor: a window of %v", c.For)
	case c.Rate < 50 || c.Rate > 1e6:
		return nil, fail(exitUsage, "give 50 to 1m", "plan memory floor: %g requests per second", float64(c.Rate))
	case c.Ceiling < 16 || c.Ceiling > 1<<20:
		return nil, fail(exitUsage, "give 16 or more", "plan memory floor: a ceiling of %d MiB", c.Ceiling)
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.NewFloor(plan.FloorOptions{Kit: version(), CPUs: plan.CPUSets(sets), Targets: c.Targets, Seed: seed, Quick: c.Quick, Repeats: c.Repeats,
		Rate: float64(c.Rate), Window: c.For, Quantile: quantile, SLO: slo, Ceiling: c.Ceiling})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo memory-floor --dry-run shows the targets of this machine", "%w", err)
	}
	return p, err
}

// Run searches for the smallest memory limit that each target still meets the rate at,
// and prints the report of what it archived.
func (c *floorCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeFloor(p), describeTargets(p))
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("memory-floor", s)
	if err != nil {
		return err
	}
	defer release()
	if err := limitable(p); err != nil {
		return err
	}
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describeFloor(p))
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

// describeFloor says before anything runs what it is and how long it takes, about: a
// search ends when it is sure.
func describeFloor(p *record.Plan) string {
	var b strings.Builder
	limits, rules, sc := *p.Rules.Capacity, *p.Rules.Floor, p.Scenarios[0]
	fmt.Fprintf(&b, "plan: memory floor at %g requests/s with %s for %v, %s of a search from %d MiB down for each of %s, about %v, seed %d\n",
		sc.RatePerSec, capacity.SLOText(limits), sc.Window, plural(p.Blocks, "repeat"), rules.Ceiling>>20, plural(len(p.Targets), "target"), p.Expected.Round(time.Second), p.Seed)
	fmt.Fprintf(&b, "  each trial a fresh process in a control group of its own; %s: its runtime is told the limit (GOMEMLIMIT %g %% of it, --max-old-space-size %g %%)\n",
		"*"+plan.MatchedLimit, 100*rules.GoShare, 100*rules.OldSpace)
	if p.Quick {
		b.WriteString("quick: one coarse search shows that everything works; it is not evidence\n")
	}
	return b.String()
}

// groupsFor is where the targets of a plan get their control groups; nil if none asks
// for one. What runners left that were killed is swept.
func groupsFor(p *record.Plan) (*cgroup.Tree, error) {
	var need []string
	for _, t := range p.Targets {
		if l := t.Group; l != nil && l.CPUs > 0 {
			need = append(need, cgroup.CPU)
		}
		if l := t.Group; l != nil && l.MemoryBytes > 0 {
			need = append(need, cgroup.Memory)
		}
	}
	if need == nil {
		return nil, nil
	}
	tree, err := cgroup.Find(slices.Compact(slices.Sorted(slices.Values(need)))...)
	if err != nil {
		return nil, err
	}
	_, err = tree.Sweep()
	return tree, err
}

// limitable makes and removes one group with the limits of each target, before anything
// runs: what a machine does not allow is said at once, with what to do about it.
func limitable(p *record.Plan) error {
	tree, err := groupsFor(p)
	if missing := (*cgroup.Missing)(nil); errors.As(err, &missing) {
		return fail(exitPreflight, missing.Do, "%w", err)
	}
	if err != nil {
		return fail(exitPreflight, "run it as root", "%w", err)
	}
	for _, t := range p.Targets {
		if t.Group == nil {
			continue
		}
		g, err := tree.New(*t.Group)
		if err == nil {
			err = g.Remove()
		}
		if err != nil {
			return fail(exitPreflight, "a group may have no more than the one above it; in a container: --privileged, or its own limits", "limit target %s: %w", t.Name, err)
		}
	}
	return nil
}
