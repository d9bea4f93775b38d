package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

type doctorCmd struct {
	For  time.Duration `help:"How long to watch the machine at rest." default:"10s" placeholder:"10s"`
	JSON bool          `help:"Print JSON."`
}

// diagnosis is what doctor found, as --json prints it.
type diagnosis struct {
	Host        record.Host        `json:"host"` // with grade and checks
	Targets     []record.Target    `json:"targets"`
	Environment record.Environment `json:"environment"`
	Canary      time.Duration      `json:"canary_ns"`
	Advice      []string           `json:"advice,omitempty"`
}

// Run tells what the machine is and whether it is fit and quiet. It changes
// nothing and needs no root.
func (c *doctorCmd) Run(ctx context.Context, s streams) error {
	if c.For <= 0 {
		return fail(exitUsage, "give a time such as 10s", "watch machine: for %v", c.For)
	}
	release, err := exclusive("doctor", s)
	if err != nil {
		return err
	}
	defer release()
	if !c.JSON {
		fmt.Fprintf(s.err, "watching the machine for %v; leave it alone\n", c.For)
	}
	d, err := diagnose(ctx, c.For)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		err = e.Encode(d)
	} else {
		err = d.print(s.out)
	}
	if err != nil {
		return fmt.Errorf("print diagnosis: %w", err)
	}
	if failed := failedChecks(d.Host.Checks); len(failed) > 0 {
		return fail(exitPreflight, "numbers can be measured here, but carry no verdict", "check machine: failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

func diagnose(ctx context.Context, length time.Duration) (*diagnosis, error) {
	sets, err := host.Split()
	if err != nil {
		return nil, fmt.Errorf("share out CPUs: %w", err)
	}
	p, err := plan.New(plan.Options{Kit: version(), CPUs: plan.CPUSets(sets), Seed: 1})
	if err != nil {
		return nil, err
	}
	node, _ := exec.LookPath("node") // without it the version stays unknown
	return examine(ctx, host.Describe(ctx, node), p, length)
}

// examine watches the machine at rest and grades it, for doctor and before every
// session alike.
func examine(ctx context.Context, h record.Host, p *record.Plan, length time.Duration) (*diagnosis, error) {
	d := &diagnosis{Host: h, Targets: p.Targets}
	rules := p.Rules.Machine
	cpus := usedCPUs(p.Targets)
	first, err := host.Canary(cpus)
	if err != nil {
		return nil, err
	}
	var quiet []record.Check
	d.Environment, quiet = host.Quiet(ctx, cpus, length, rules)
	if d.Canary, err = host.Canary(cpus); err != nil {
		return nil, err
	}
	d.Host.Checks = slices.Concat(host.JudgeHost(d.Host), []record.Check{checkLimits(p)}, quiet,
		[]record.Check{host.JudgeCanary(d.Canary, first, rules)})
	d.Host.Grade = host.Grade(d.Host, d.Host.Checks)
	d.Advice = host.Advise(d.Host.Checks, d.Environment.Disturbers)
	return d, nil
}

// usedCPUs are all that a server or a generator would run on.
func usedCPUs(targets []record.Target) []int {
	var cpus []int
	for _, t := range targets {
		cpus = append(append(cpus, t.CPUs...), t.GeneratorCPUs...)
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
}

func checkLimits(p *record.Plan) record.Check {
	need := needs(p)
	c := record.Check{Name: "descriptors and ports", OK: true, Observed: "enough", Limit: fmt.Sprintf("%d and %d", need.Files, need.Ports)}
	if err := host.Preflight(need); err != nil {
		c.OK, c.Void, c.Observed = false, true, strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return c
}

func failedChecks(checks []record.Check) []string {
	var names []string
	for _, c := range checks {
		if c.Void && !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

func (d *diagnosis) print(w io.Writer) error {
	h := d.Host
	var b strings.Builder
	fmt.Fprintf(&b, "%-15s %s\n", "machine", strings.Join(known(h.CPUModel, fmt.Sprintf("%d CPUs on %d cores", len(h.CPUs), h.PhysicalCores),
		fmt.Sprintf("%.1f GiB", float64(h.MemoryBytes)/(1<<30)), guest(h)), ", "))
	fmt.Fprintf(&b, "%-15s %s\n", "system", strings.Join(known(h.OS+"/"+h.Arch, h.Kernel, h.GoVersion, "node "+orUnknown(h.NodeVersion)), ", "))
	for _, t := range d.Targets {
		shared := ""
		if t.Shared() {
			shared = ", shared"
		}
		fmt.Fprintf(&b, "%-15s server on CPUs %v, generator on %v%s\n", t.Name, t.CPUs, t.GeneratorCPUs, shared)
	}
	fmt.Fprintf(&b, "%-15s %v\n\n", "canary", d.Canary.Round(10*time.Microsecond))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "gate\tverdict\tobserved\tlimit")
	for _, c := range h.Checks {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Name, verdictWord(c), c.Observed, c.Limit)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\ngrade %s: %s\n", h.Grade, report.Grades[h.Grade])
	for _, a := range d.Advice {
		fmt.Fprintf(&b, "  %s\n", a)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func verdictWord(c record.Check) string {
	switch {
	case c.Unknown:
		return "unknown"
	case c.OK:
		return "ok"
	case c.Void:
		return "FAIL"
	}
	return "warn"
}

func guest(h record.Host) string {
	text := ""
	if h.Hypervisor != "" {
		text = "guest of " + h.Hypervisor
	}
	if c := h.Facts["container"]; c != "" {
		text = strings.TrimSpace(text + " in " + c)
	}
	return text
}

// known leaves out what is empty.
func known(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
