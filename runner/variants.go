package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type variantsCmd struct {
	Names  []string      `arg:"" optional:"" name:"variant" help:"Variants to measure, such as typed, or targets that are some, such as go-2+mutex (default: all of the one-core servers)."`
	List   bool          `help:"List the variants, and run nothing."`
	Seed   *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Budget time.Duration `help:"Wanted length; it decides how many blocks fit, at least 6." default:"15m" placeholder:"15m"`
	Quick  bool          `help:"Smoke run of one short block. Not evidence."`
	DryRun bool          `help:"Say what would run and how long, and run nothing."`
	Out    string        `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON   bool          `help:"Print the report as JSON."`
}

// plan leaves out what is not there, with a word for each; what was named has to be.
func (c *variantsCmd) plan(k kit) (p *record.Plan, missing []string, err error) {
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, nil, err
	}
	o := plan.MatrixOptions{Kit: version(), CPUs: plan.CPUSets(sets), Names: c.Names, Seed: seed, Budget: c.Budget, Quick: c.Quick}
	if len(c.Names) == 0 {
		o.Skip, missing = absent(k, plan.Targets(o.CPUs))
	}
	p, err = plan.NewMatrix(o)
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, nil, fail(exitUsage, "gonogo variants --list says what each is", "%w", err)
	}
	return p, missing, err
}

// absent are the targets that need what is not there.
func absent(k kit, targets []record.Target) (names, why []string) {
	for _, t := range targets {
		file, from := plan.Needs(t)
		if file == "" || t.Variant == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(k.root, file)); err != nil {
			names = append(names, t.Name)
			if t.Workers == 1 {
				why = append(why, fmt.Sprintf("left out: %s needs %s; %s brings it, where there is a toolchain for it", t.Name, file, from))
			}
		}
	}
	return names, why
}

// Run measures each variant beside its plain server and prints the report of what it
// archived.
func (c *variantsCmd) Run(ctx context.Context, s streams) error {
	if c.List {
		return listVariants(s.out)
	}
	kit, lost := findKit()
	if lost != nil && len(c.Names) == 0 { // what is there cannot be told
		return lost
	}
	p, missing, err := c.plan(kit)
	if err != nil {
		return err
	}
	for _, text := range missing {
		fmt.Fprintln(s.err, text)
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeVariants(p), describeTargets(p))
		return err
	}
	if lost != nil {
		return lost
	}
	release, err := exclusive("variants", s)
	if err != nil {
		return err
	}
	defer release()
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describeVariants(p))
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

func listVariants(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range plan.Variants {
		fmt.Fprintf(w, "%s-1+%s\t%s\n", v.Of, v.Name, v.About)
	}
	for _, t := range plan.Runtimes(plan.CPUSets{}) {
		fmt.Fprintf(w, "%s\tserver-node on %s (make runtimes); for gonogo compare\n", t.Name, strings.Split(t.Argv[0], "/")[1])
	}
	return w.Flush()
}

// describeVariants says before anything runs what it is and how long it takes.
func describeVariants(p *record.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: variants, %s of %s, %s, about %v of a budget of %v, seed %d\n",
		plural(p.Blocks, "block"), plural(len(p.Targets), "target"), plural(len(p.Steps), "step"), p.Expected.Round(time.Second), p.Budget, p.Seed)
	for _, sc := range p.Scenarios {
		fmt.Fprintf(&b, "  %-12s %s: %d connections, warm-up %v, window %v\n", sc.Name, sc.Kind, sc.Connections, sc.Warmup, sc.Window)
	}
	switch {
	case p.Quick:
		b.WriteString("quick: one short block shows that everything works; it is not evidence\n")
	case p.Expected > p.Budget:
		fmt.Fprintf(&b, "longer than the budget: fewer than %d blocks give no 95 %% interval; name some variants for less\n", plan.MinRounds)
	}
	return b.String()
}
