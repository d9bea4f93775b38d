package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type planCmd struct {
	planFlags
	JSON  bool   `help:"The plan as it would be archived."`
	Write string `help:"Start a plan file for services of your own, and a file of requests beside it." placeholder:"FILE"`
}

// Run shows what compare would run, in which order, and how long it would take.
func (c *planCmd) Run(ctx context.Context, s streams) error {
	if c.Write != "" {
		return c.write(s)
	}
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(p)
	}
	_, err = fmt.Fprint(s.out, describePlan(p), describeTargets(p), describeSteps(p))
	return err
}

// describePlan is the time plan that compare prints before it starts.
func describePlan(p *record.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %d blocks, %d steps (%d targets, %d scenarios), about %v of a budget of %v, seed %d\n",
		p.Blocks, len(p.Steps), len(p.Targets), len(p.Scenarios), p.Expected.Round(time.Second), p.Budget, p.Seed)
	for _, s := range p.Scenarios {
		fmt.Fprintf(&b, "  %-12s %s: %d connections, warm-up %v, window %v", s.Name, s.Kind, s.Connections, s.Warmup, s.Window)
		if s.Kind == record.Memory {
			fmt.Fprintf(&b, ", idle %v, rest %v", s.Idle, s.Rest)
		}
		fmt.Fprintf(&b, ", %s\n", fresh(p, s))
	}
	if extra := plan.ConfirmTime(p); extra > 0 {
		fmt.Fprintf(&b, "and up to %v more if a maximum has to be confirmed\n", extra)
	}
	switch {
	case p.Quick:
		b.WriteString("quick: one short block shows that everything works; it is not evidence\n")
	case plan.Fewest(p) < plan.MinRounds:
		fmt.Fprintf(&b, "too short: %d fresh processes give no 95 %% interval of a median, which takes %d; raise the budget\n", plan.Fewest(p), plan.MinRounds)
	}
	return b.String()
}

// fresh says how many fresh processes of each target run a scenario.
func fresh(p *record.Plan, s record.Scenario) string {
	var counts []int
	for _, t := range p.Targets {
		if s.Has(t.Name) {
			counts = append(counts, p.Rounds(t.Name, s.Name))
		}
	}
	if len(counts) == 0 {
		return "no target"
	}
	what := "fresh processes"
	if len(p.Remote()) > 0 {
		what = "runs"
	}
	if least, most := slices.Min(counts), slices.Max(counts); least != most {
		return fmt.Sprintf("%d to %d %s of each target", least, most, what)
	}
	return fmt.Sprintf("%d %s of each target", counts[0], what)
}

func describeTargets(p *record.Plan) string {
	var b strings.Builder
	for _, t := range p.Targets {
		fmt.Fprintf(&b, "  %-15s %s on CPUs %v, generator on %v", t.Name, legible(startOf(t)), t.CPUs, t.GeneratorCPUs)
		if t.Shared() {
			b.WriteString(" (shared)")
		}
		if t.Base != "" {
			fmt.Fprintf(&b, ", against %s", t.Base)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// startOf is how a target is started, or where it runs already.
func startOf(t record.Target) string {
	if t.Remote() {
		return "runs already at " + t.Foreign.URL
	}
	return strings.Join(append(t.Env[:len(t.Env):len(t.Env)], t.Argv...), " ")
}

func describeSteps(p *record.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%4d  %s\n", s.Index+1, s.Key())
	}
	return b.String()
}
