package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/capacity"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type capacityCmd struct {
	Targets []string      `arg:"" optional:"" name:"target" help:"Targets to measure (default: the pair on one core)."`
	SLO     string        `name:"slo" help:"Response time that a rate must be met with: a percentile and a limit." default:"p95<20ms" placeholder:"p95<20ms"`
	Repeats int           `help:"Searches of each target; from 6 on there is a 95 % interval." default:"2" placeholder:"2"`
	Window  time.Duration `help:"Window of a trial; at a low rate it is longer, for 3000 requests." default:"4s" placeholder:"4s"`
	Seed    *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Quick   bool          `help:"Smoke run: one coarse search of short trials. Not evidence."`
	DryRun  bool          `help:"Say what would run and how long, and run nothing."`
	Out     string        `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON    bool          `help:"Print the report as JSON."`
}

func (c *capacityCmd) plan() (*record.Plan, error) {
	quantile, slo, err := plan.ParseSLO(c.SLO)
	switch {
	case err != nil:
		return nil, fail(exitUsage, "--slo 'p95<20ms'", "%w", err)
	case c.Repeats < 1 || c.Repeats > 100:
		return nil, fail(exitUsage, "give 1 to 100", "plan capacity: %d repeats", c.Repeats)
	case c.Window < time.Second || c.Window > time.Minute:
		return nil, fail(exitUsage, "give 1s to 1m", "plan capacity: a window of %v", c.Window)
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.NewCapacity(plan.CapacityOptions{Kit: version(), CPUs: plan.CPUSets(sets), Targets: c.Targets, Seed: seed, Quick: c.Quick,
		Repeats: c.Repeats, Window: c.Window, Quantile: quantile, SLO: slo})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo capacity --dry-run shows the targets of this machine", "%w", err)
	}
	return p, err
}

// Run searches for the highest rate that each target meets the limits at, overloads
// it, and prints the report of what it archived.
func (c *capacityCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeCapacity(p), describeTargets(p))
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("capacity", s)
	if err != nil {
		return err
	}
	defer release()
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describeCapacity(p))
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

// describeCapacity says before anything runs what it is and how long it takes, about:
// a search ends when it is sure.
func describeCapacity(p *record.Plan) string {
	var b strings.Builder
	r := p.Rules.Capacity
	fmt.Fprintf(&b, "plan: capacity at %s, %s of a search for each of %s, about %v, seed %d\n",
		capacity.SLOText(*r), plural(p.Blocks, "repeat"), plural(len(p.Targets), "target"), p.Expected.Round(time.Second), p.Seed)
	for _, sc := range p.Scenarios {
		fmt.Fprintf(&b, "  %-15s %d connections, open loop (%s), %v warm-up, %v window", sc.Name, sc.Connections, sc.Arrivals, sc.Warmup, sc.Window)
		if w := sc.Overload; w != nil {
			fmt.Fprintf(&b, ", at %.0f %% of the capacity found, then until it recovers", 100*w.RateOfCapacity)
		}
		b.WriteByte('\n')
	}
	if p.Quick {
		b.WriteString("quick: one coarse search shows that everything works; it is not evidence\n")
	}
	return b.String()
}
