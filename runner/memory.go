package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type memoryCmd struct {
	Targets []string `arg:"" optional:"" name:"target" help:"Targets to measure (default: all)."`
	Repeats int      `help:"Fresh processes of each target and scenario." default:"3" placeholder:"3"`
	Cycles  int      `help:"Cycles of load and rest in one process; from 6 on memory may be called growing." default:"3" placeholder:"3"`
	Users   amount   `help:"Users that each target stores, and requests of each cycle." default:"100k" placeholder:"100k"`
	Budget  int      `name:"budget-mib" help:"Memory that a copy of each target is told to keep to." default:"256" placeholder:"256"`
	Seed    *uint64  `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Quick   bool     `help:"Smoke run: one process each, 5000 users, short rests. Not evidence."`
	DryRun  bool     `help:"Say what would run and how long, and run nothing."`
	Out     string   `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON    bool     `help:"Print the report as JSON."`
}

func (c *memoryCmd) plan() (*record.Plan, error) {
	switch {
	case c.Repeats < 1 || c.Repeats > 100 || c.Cycles < 1 || c.Cycles > 1000:
		return nil, fail(exitUsage, "give 1 to 100 repeats and 1 to 1000 cycles", "plan memory: %d repeats of %d cycles", c.Repeats, c.Cycles)
	case c.Users < 1000 || c.Users > 1e7:
		return nil, fail(exitUsage, "give 1k to 10m", "plan memory: %.0f users", float64(c.Users))
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.NewMemory(plan.MemoryOptions{Kit: version(), CPUs: plan.CPUSets(sets), Targets: c.Targets, Seed: seed, Quick: c.Quick,
		Repeats: c.Repeats, Cycles: c.Cycles, Users: uint64(c.Users), BudgetMiB: c.Budget})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo memory --dry-run shows the targets of this machine", "%w", err)
	}
	if err != nil {
		return nil, fail(exitUsage, "give a larger --budget-mib", "%w", err)
	}
	return p, nil
}

// Run measures memory, and nothing else: by count and with rests that a comparison
// has no time for. It is archived as every session is.
func (c *memoryCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeMemory(p), describeTargets(p), describeSteps(p))
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("memory", s)
	if err != nil {
		return err
	}
	defer release()
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describeMemory(p))
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

// describeMemory says before anything runs what it is and how long it takes.
func describeMemory(p *record.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: memory alone, %s of %s (%d targets), about %v, seed %d\n",
		plural(p.Blocks, "repeat"), plural(len(p.Steps)/p.Blocks, "step"), len(p.Targets), p.Expected.Round(time.Second), p.Seed)
	for _, sc := range p.Scenarios {
		w := sc.Work
		fmt.Fprintf(&b, "  %-15s %d connections, %s of %d requests", sc.Name, sc.Connections, plural(w.Cycles, "load"), w.Requests)
		if len(w.Rests) > 0 {
			fmt.Fprintf(&b, ", read at rest after %v", w.Rests)
		}
		if w.Alternate {
			b.WriteString(", every other one without the sampler")
		}
		b.WriteByte('\n')
	}
	if p.Quick {
		b.WriteString("quick: one short repeat shows that everything works; it is not evidence\n")
	}
	return b.String()
}
