package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

type scaleCmd struct {
	Targets     []string `arg:"" optional:"" name:"target" help:"Targets to follow over the levels (default: the pair on one core; of --cores: go, node-cluster)."`
	Connections string   `help:"Sweep open connections over these levels (the default factor)." placeholder:"1,10,50,100,300,1000,3000"`
	Cores       string   `help:"Sweep the server's cores: by affinity, with GOMAXPROCS or workers matched." placeholder:"1,2,4"`
	Delay       string   `help:"Sweep what every request waits for others, in ms, by timers in the server." placeholder:"0,1,5,20"`
	FanOut      int      `help:"With --delay: so many waits in each request, one after the other and at once." default:"1" placeholder:"3"`
	CPUs        string   `name:"cpus" help:"Sweep CPU quotas as containers have them, by control groups: matched, the runtime's default, and blind to the quota." placeholder:"0.5,1,2"`
	Repeats     int      `help:"Fresh processes of each target and level, under load and for memory; from 6 on there is a 95 % interval." default:"6" placeholder:"6"`
	Seed        *uint64  `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Quick       bool     `help:"Smoke run: one short process each. Not evidence."`
	DryRun      bool     `help:"Say what would run and how long, and run nothing."`
	Out         string   `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON        bool     `help:"Print the report as JSON."`
}

// defaultConnections are those of a load balancer's few and of a public service's many.
const defaultConnections = "1,10,50,100,300,1000,3000"

// factor is the one that was asked for. A new one is a flag, a case, and a constructor
// in package plan.
func (c *scaleCmd) factor() (plan.Factor, error) {
	type flag struct{ name, levels string }
	var asked []flag
	for _, f := range []flag{{"connections", c.Connections}, {"cpus", c.CPUs}, {"cores", c.Cores}, {"delay", c.Delay}} {
		if f.levels != "" {
			asked = append(asked, f)
		}
	}
	if c.FanOut != 1 && c.Delay == "" {
		return plan.Factor{}, errors.New("sweep a fan-out: it is one of waits, so --delay has to say how long")
	}
	if len(asked) == 0 {
		asked = []flag{{"connections", defaultConnections}}
	}
	if len(asked) > 1 {
		return plan.Factor{}, fmt.Errorf("sweep %s and %s: one factor a session, for with two nobody can tell which did it", asked[0].name, asked[1].name)
	}
	switch f := asked[0]; f.name {
	case "cpus":
		levels, err := parseLevels(f.levels)
		if err != nil {
			return plan.Factor{}, fmt.Errorf("sweep cpus: %w", err)
		}
		return plan.Quotas(levels), nil
	case "cores":
		levels, err := wholeLevels(f.levels, 1, 1024)
		if err != nil {
			return plan.Factor{}, fmt.Errorf("sweep cores: %w", err)
		}
		return cores(levels)
	case "delay":
		levels, err := wholeLevels(f.levels, 0, 900)
		if err != nil {
			return plan.Factor{}, fmt.Errorf("sweep delays: %w", err)
		}
		return plan.Delay(levels, c.FanOut)
	default:
		levels, err := wholeLevels(f.levels, 1, 50_000)
		if err != nil {
			return plan.Factor{}, fmt.Errorf("sweep connections: %w", err)
		}
		return plan.Connections(levels), nil
	}
}

func cores(levels []float64) (plan.Factor, error) {
	var ks []int
	for _, l := range levels {
		ks = append(ks, int(l))
	}
	sets, err := host.Cores(ks)
	if err != nil {
		return plan.Factor{}, err
	}
	pairs := map[int]plan.CPUPair{}
	for k, s := range sets {
		pairs[k] = plan.CPUPair(s)
	}
	return plan.Cores(levels, pairs), nil
}

// parseLevels reads 0.5,1,2.
func parseLevels(text string) ([]float64, error) {
	var levels []float64
	for _, part := range strings.Split(text, ",") {
		l, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(l) || math.IsInf(l, 0) || l < 0 {
			return nil, fmt.Errorf("read levels %q: %q is no number of 0 or more", text, part)
		}
		levels = append(levels, l)
	}
	return levels, nil
}

func wholeLevels(text string, least, most float64) ([]float64, error) {
	levels, err := parseLevels(text)
	if err != nil {
		return nil, err
	}
	for _, l := range levels {
		if l != math.Trunc(l) || l < least || l > most {
			return nil, fmt.Errorf("read levels %q: %g is no whole number of %g to %g", text, l, least, most)
		}
	}
	return levels, nil
}

func (c *scaleCmd) plan() (*record.Plan, error) {
	if c.Repeats < 1 || c.Repeats > 100 {
		return nil, fail(exitUsage, "give 1 to 100", "plan scale: %d repeats", c.Repeats)
	}
	factor, err := c.factor()
	if err != nil {
		return nil, fail(exitUsage, "such as --connections "+defaultConnections+" or --cores 1,2 or --delay 0,1,5,20", "%w", err)
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	sets, err := host.Split()
	if err != nil {
		return nil, err
	}
	p, err := plan.NewScale(plan.ScaleOptions{Kit: version(), CPUs: plan.CPUSets(sets), Factor: factor, Targets: c.Targets, Seed: seed, Quick: c.Quick, Repeats: c.Repeats})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, fail(exitUsage, "gonogo scale --dry-run shows the targets of this machine", "%w", err)
	}
	if err != nil {
		return nil, fail(exitUsage, "two ascending levels or more, each once", "%w", err)
	}
	return p, nil
}

// Run follows targets over the levels of one factor, and prints the report of what it
// archived.
func (c *scaleCmd) Run(ctx context.Context, s streams) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := fmt.Fprint(s.out, describeScale(p), describeTargets(p), describeSteps(p))
		return err
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("scale", s)
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
	fmt.Fprint(s.err, describeScale(p))
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

// describeScale says before anything runs what it is and how long it takes.
func describeScale(p *record.Plan) string {
	var b strings.Builder
	var levels []string
	for _, l := range p.Scale.Levels {
		levels = append(levels, strconv.FormatFloat(l, 'g', -1, 64))
	}
	fmt.Fprintf(&b, "plan: %s at %s, %s of %s, about %v, seed %d\n", p.Scale.Factor, strings.Join(levels, " "),
		plural(p.Blocks, "repeat"), plural(len(p.Steps)/p.Blocks, "run"), p.Expected.Round(time.Second), p.Seed)
	for _, sc := range p.Scenarios {
		fmt.Fprintf(&b, "  %-15s %s: %d connections, warm-up %v, window %v", sc.Name, sc.Kind, sc.Connections, sc.Warmup, sc.Window)
		if sc.RateOfCapacity > 0 {
			fmt.Fprintf(&b, ", all at one rate: %.0f %% of the smallest capacity", 100*sc.RateOfCapacity)
		}
		b.WriteByte('\n')
	}
	if p.Quick {
		b.WriteString("quick: one short run each shows that everything works; it is not evidence\n")
	}
	return b.String()
}
