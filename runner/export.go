package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/export"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type exportCmd struct {
	Scenario string `arg:"" help:"A scenario of the default plan, such as get-c50; gonogo plan names them."`
	URL      string `arg:"" optional:"" name:"url" help:"http://HOST:PORT of the server."`

	Engine      string        `required:"" enum:"hyperfoil,k6,kubernetes,vegeta" help:"Whose language: hyperfoil, k6, vegeta, or kubernetes for many workers of gonogo's own."`
	Rate        amount        `short:"r" help:"Open loop: so many requests a second (1.5k, 2m). A session measures it; an export is told it."`
	Connections int           `short:"c" help:"Instead of the scenario's."`
	Duration    time.Duration `short:"d" help:"Length of the window, instead of the plan's."`

	Target  string     `help:"Kubernetes: the server, such as go-1, node-1, go-4 or node-cluster-4, with a limit of as many CPUs." placeholder:"NAME"`
	Image   string     `help:"Kubernetes: an image that holds the kit, see docs/more-load.md." placeholder:"IMAGE"`
	Memory  string     `help:"Kubernetes: the server's limit (default: 1Gi)." placeholder:"512Mi"`
	Workers int        `help:"Kubernetes: how many generators, each on a node of its own." placeholder:"N"`
	StartAt *time.Time `help:"Kubernetes: when all workers open the window (RFC 3339)." placeholder:"TIME"`
}

// Run writes a scenario for another engine. What that cannot express is told on
// stderr too, for the output goes into a file.
func (c *exportCmd) Run(s streams) error {
	scenario, err := c.scenario()
	if err != nil {
		return err
	}
	if c.Engine == "kubernetes" {
		return c.kubernetes(s, scenario)
	}
	if c.Target != "" || c.Image != "" || c.Memory != "" || c.Workers != 0 || c.StartAt != nil {
		return fail(exitUsage, "", "export for %s: target, image, memory, workers and start-at are of kubernetes alone", c.Engine)
	}
	to, err := parseTarget(c.URL)
	if err != nil {
		return fail(exitUsage, "such as gonogo export --engine k6 get-c50 http://127.0.0.1:8080", "%w", err)
	}
	if to.socket != "" || to.path != "/" {
		return fail(exitUsage, "", "export %s: want http://HOST:PORT alone, for the paths are the scenario's", c.URL)
	}
	text, err := export.Engines[c.Engine](exportJob(scenario, to.host))
	if err != nil {
		return exportFailed(err)
	}
	return write(s, text, c.Engine)
}

func exportJob(s record.Scenario, host string) export.Job {
	return export.Job{Kit: version(), Scenario: s, Host: host, IDs: plan.IDs, Seed: 1, Timeout: 5 * time.Second}
}

func (c *exportCmd) kubernetes(s streams, scenario record.Scenario) error {
	const hint = `such as --target go-1 --workers 4 --image registry.example/gonogo:1 --start-at "$(date -u -d '+5 min' +%FT%TZ)"`
	if c.URL != "" {
		return fail(exitUsage, "", "export for kubernetes: the server is one of the manifests, not %s", c.URL)
	}
	if c.Target == "" || c.Image == "" || c.Workers == 0 || c.StartAt == nil {
		return fail(exitUsage, hint, "export for kubernetes: wants target, image, workers and start-at")
	}
	target, err := namedTarget(c.Target)
	if err != nil {
		return err
	}
	text, err := export.Kubernetes(exportJob(scenario, ""), export.Cluster{Image: c.Image, Target: target, Memory: cmp.Or(c.Memory, "1Gi"), Workers: c.Workers, StartAt: *c.StartAt})
	if err != nil {
		return exportFailed(err)
	}
	return write(s, text, c.Engine)
}

// namedTarget is a default target, of as many CPUs as its name ends with, whatever
// this machine has.
func namedTarget(name string) (record.Target, error) {
	k, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	for _, t := range plan.DefaultTargets(plan.CPUSets{K: k}) {
		if t.Name == name && !t.Twin {
			return t, nil
		}
	}
	return record.Target{}, fail(exitUsage, "there are go-1, node-1, and go-K and node-cluster-K for any K above 1", "export: no target %q", name)
}

func exportFailed(err error) error {
	if errors.Is(err, export.ErrRate) {
		return fail(exitUsage, "give it with --rate, such as --rate 20k; a session's is in its report", "%w", err)
	}
	return fail(exitUsage, "", "%w", err)
}

func write(s streams, text *export.Text, engine string) error {
	for _, lost := range text.Lost {
		fmt.Fprintf(s.err, "gonogo: warning: not in the language of %s: %s\n", engine, lost)
	}
	_, err := io.WriteString(s.out, text.Text)
	return err
}

// scenario is one of the default plan, as long as the default budget makes it.
func (c *exportCmd) scenario() (record.Scenario, error) {
	p, err := plan.New(plan.Options{Kit: version(), Seed: 1, Budget: plan.DefaultBudget})
	if err != nil {
		return record.Scenario{}, err
	}
	var names []string
	for _, sc := range p.Scenarios {
		if sc.Name != c.Scenario {
			names = append(names, sc.Name)
			continue
		}
		if c.Rate > 0 && sc.Kind == record.Closed {
			return sc, fail(exitUsage, "get-open is an open loop", "export %s: a closed loop has no rate", sc.Name)
		}
		if c.Connections < 0 || c.Duration < 0 {
			return sc, fail(exitUsage, "", "export %s: connections and duration must be above 0", sc.Name)
		}
		sc.RatePerSec = float64(c.Rate)
		if c.Connections > 0 {
			sc.Connections = c.Connections
		}
		if c.Duration > 0 {
			sc.Window = c.Duration
		}
		return sc, nil
	}
	return record.Scenario{}, fail(exitUsage, "there are "+strings.Join(names, ", "), "export %q: there is no such scenario", c.Scenario)
}
