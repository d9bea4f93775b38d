package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Factor is what a session of scale varies. Every level becomes a scenario of its own
// (Load), a target of its own (Target), or both; what is nil stays as it is at all
// levels. It is data and functions, so that a new factor needs one constructor here and
// one flag of the command, and nothing in session, findings or report.
type Factor struct {
	Name   string    // as archived and printed: connections, cores
	Levels []float64 // ascending, at least two
	// Arms are the servers that are followed over the levels, the default ones first
	// if Default names none. nil: the targets of a comparison, without the twin.
	Arms    func(CPUSets) []record.Target
	Default []string
	// Target gives an arm's target at a level: another environment, other CPUs. Its name
	// and its base are set by NewScale.
	Target func(arm record.Target, level float64) (record.Target, error)
	// OpenRate adds an open loop at this rate to each level; 0 adds none.
	OpenRate float64
	// Load gives a scenario at a level. It is asked for the load, for the memory and, if
	// there is one, for the open scenario, whose names are set by NewScale.
	Load func(sc record.Scenario, level float64) record.Scenario
	// Label ends the name of what differs: 2 in go-2, c50 in load-c50.
	Label func(level float64) string
}

// ScaleOptions are what the command line may decide of a session of scale.
type ScaleOptions struct {
	Kit     string
	CPUs    CPUSets
	Factor  Factor
	Targets []string // arms; empty takes the factor's default
	Seed    uint64
	Quick   bool
	Repeats int // fresh processes of each target, level and kind of run
}

// A run of a sweep is short: there are many levels, and time buys more as a further
// process than as a longer window (method D1). Connections of the runs whose levels
// are not connections: as many as the saturated cells of a comparison have.
const (
	scaleWarmup      = 600 * time.Millisecond
	scaleWindow      = 800 * time.Millisecond
	scaleMemory      = 1200 * time.Millisecond
	scaleConnections = 50
	// scaleShare is the rate of the memory runs, of the smallest capacity of all targets
	// (probed at 50 connections), so that the slowest at its worst level, a single
	// connection, still keeps it: all levels do the same work (method R5).
	scaleShare = 0.15
)

// The scenarios of a session of scale; a factor of load adds its label.
const (
	scaleLoad = "load"
	scaleHeld = "memory"
	scaleOpen = "open"
)

// scaleRules: method P4, of the fit. Without a source there: the number of levels of a
// line, which two points always have and three nearly, and how far from it a level may
// lie, of its rise: a tenth is what a reader of "KiB per connection" may be off by.
func scaleRules() record.ScaleRules {
	return record.ScaleRules{LevelsMin: 6, SpanMin: 16, ResidualMax: 0.05, BeyondMax: 2, BendMax: 0.10, LinePoints: 4, Resamples: 2000}
}

// NewScale makes the plan of a session of scale: in each block every arm at every
// level once under load and once with its memory read, shuffled as all blocks are.
func NewScale(o ScaleOptions) (*record.Plan, error) {
	f := o.Factor
	warmup, window, memory := scaleWarmup, scaleWindow, scaleMemory
	if o.Quick {
		warmup, window, memory, o.Repeats = 300*time.Millisecond, 300*time.Millisecond, 500*time.Millisecond, 1
	}
	if err := checkLevels(f); err != nil {
		return nil, err
	}
	arms, all, err := f.arms(o)
	if err != nil {
		return nil, err
	}
	capacity, rules := probe(), scaleRules()
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.Scaling, Quick: o.Quick, Part: len(arms) < all, Seed: o.Seed, Blocks: o.Repeats,
		Rules: DefaultRules(), Probe: &capacity, RequestTimeout: 5 * time.Second, Scale: &record.Scale{Factor: f.Name, Levels: f.Levels},
	}
	if f.OpenRate > 0 {
		rules.Dilution = dilutionRules()
	}
	p.Rules.Scale = &rules
	load := record.Scenario{Name: scaleLoad, Kind: record.Closed, Requests: get, Connections: scaleConnections, Warmup: warmup, Window: window}
	held := record.Scenario{Name: scaleHeld, Kind: record.Memory, Requests: get, Connections: scaleConnections, RateOfCapacity: scaleShare, Arrivals: "poisson", Window: memory}
	open := record.Scenario{Name: scaleOpen, Kind: record.Open, Requests: get, Connections: capacityConnections, RatePerSec: f.OpenRate, Arrivals: "poisson", Warmup: warmup, Window: window}
	for _, arm := range arms {
		for _, level := range f.Levels {
			if err := f.point(p, arm, level, load, held, open); err != nil {
				return nil, err
			}
		}
	}
	p.Steps = Order(p)
	p.Expected = prelude(p.Targets)
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		p.Expected += StepTime(sc)
	}
	p.Budget = p.Expected
	return p, nil
}

// point adds what a level of an arm needs, if it is not there yet.
func (f Factor) point(p *record.Plan, arm record.Target, level float64, load, held, open record.Scenario) error {
	target := arm
	if f.Target != nil {
		var err error
		if target, err = f.Target(arm, level); err != nil {
			return err
		}
		target.Name = f.named(arm.Name, level)
		if arm.Base != "" {
			target.Base = f.named(arm.Base, level)
		}
	}
	if _, ok := p.Target(target.Name); !ok {
		p.Targets = append(p.Targets, target)
	}
	pt := record.ScalePoint{Arm: arm.Name, Level: level, Target: target.Name}
	for _, x := range []struct {
		sc record.Scenario
		to *string
	}{{load, &pt.Load}, {held, &pt.Memory}, {open, &pt.Open}} {
		if x.sc.Kind == record.Open && f.OpenRate == 0 {
			continue
		}
		if f.Load != nil {
			name := x.sc.Name
			if f.Target == nil { // else the target's name has the level
				name = f.named(name, level)
			}
			x.sc = f.Load(x.sc, level)
			x.sc.Name = name
		}
		*x.to = x.sc.Name
		if _, ok := p.Scenario(x.sc.Name); !ok {
			p.Scenarios = append(p.Scenarios, x.sc)
		}
	}
	p.Scale.Points = append(p.Scale.Points, pt)
	return nil
}

func (f Factor) named(of string, level float64) string { return of + "-" + f.Label(level) }

// arms are those that were asked for, and how many there are.
func (f Factor) arms(o ScaleOptions) ([]record.Target, int, error) {
	all := slices.DeleteFunc(DefaultTargets(o.CPUs), func(t record.Target) bool { return t.Twin })
	if f.Arms != nil {
		all = f.Arms(o.CPUs)
	}
	asked := o.Targets
	if len(asked) == 0 {
		asked = f.Default
	}
	arms, err := selectTargets(all, asked, false)
	return arms, len(all), err
}

func checkLevels(f Factor) error {
	if len(f.Levels) < 2 || !slices.IsSorted(f.Levels) || len(slices.Compact(slices.Clone(f.Levels))) < len(f.Levels) {
		return fmt.Errorf("sweep %s over %s: want two ascending levels or more, each once", f.Name, levelsText(f.Levels))
	}
	return nil
}

func levelsText(levels []float64) string {
	var all []string
	for _, l := range levels {
		all = append(all, strconv.FormatFloat(l, 'g', -1, 64))
	}
	return strings.Join(all, ",")
}

// Connections is how many of them are open: closed-loop clients under load, and the
// open connections of the memory run at the same rate whatever their number.
func Connections(levels []float64) Factor {
	return Factor{
		Name: "connections", Levels: levels, Default: []string{"go-1", "node-1"},
		Load: func(sc record.Scenario, level float64) record.Scenario {
			sc.Connections = int(level)
			return sc
		},
		Label: func(level float64) string { return "c" + strconv.Itoa(int(level)) },
	}
}

// CPUPair is where a server and its generator run.
type CPUPair struct{ Server, Generator []int }

// Cores is how many cores a server has, by affinity, with GOMAXPROCS or the workers
// matched. Both arms are the same program at all levels: a cluster of one worker and not
// the lone process, so that the curve changes one thing. sets has each level.
func Cores(levels []float64, sets map[int]CPUPair) Factor {
	return Factor{
		Name: "cores", Levels: levels,
		Arms: func(CPUSets) []record.Target {
			return []record.Target{
				{Name: "go", Base: "node-cluster", Argv: []string{"bin/server-go"}},
				{Name: "node-cluster", Argv: []string{"node", "server-node/cluster.mjs"}},
			}
		},
		Target: func(arm record.Target, level float64) (record.Target, error) {
			k := int(level)
			at, ok := sets[k]
			if !ok {
				return arm, fmt.Errorf("sweep cores: this machine has no set of %d for a server", k)
			}
			variable := "WORKERS="
			if arm.Argv[0] != "node" {
				variable = "GOMAXPROCS="
			}
			arm.Env = append(slices.Clone(arm.Env), variable+strconv.Itoa(k))
			arm.Workers, arm.CPUs, arm.GeneratorCPUs = k, at.Server, at.Generator
			return arm, nil
		},
		Label: func(level float64) string { return strconv.Itoa(int(level)) },
	}
}
