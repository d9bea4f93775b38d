package plan

import (
	"fmt"
	"slices"
	"time"

	"gonogo/runner/record"
)

// ServiceOptions are what a plan file decides, beside the command line.
type ServiceOptions struct {
	Options
	Service     record.Service
	Targets     []record.Target // all of the file; CPUs empty where the plan is to choose
	Connections []int           // one or two, rising
	RatePerSec  float64         // of the open loop; 0: openShare of the smaller capacity
	Warmup      time.Duration   // 0: the default
}

// The scenarios of services: their own requests in every one of them.
const (
	mixOpen   = "mix-open"
	mixMemory = "mix-memory"
)

func mixClosed(connections int) string { return fmt.Sprintf("mix-c%d", connections) }

// briefTimes are those of a smoke run of services: whether everything works is seen
// in half a second of load.
var briefTimes = times{200 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond, 300 * time.Millisecond, 200 * time.Millisecond}

// NewService makes the plan of a session of services that were not written for this
// kit. Blocks, order, rules, twin and margins are those of the built-in pair.
func NewService(o ServiceOptions) (*record.Plan, error) {
	all, err := placed(o)
	if err != nil {
		return nil, err
	}
	targets, err := selectTargets(all, o.Options.Targets, !o.Quick)
	if err != nil {
		return nil, err
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Service.IDs == 0 {
		o.Service.IDs = IDs
	}
	times, blocks := o.fit(targets)
	capacity := o.closed("probe", slices.Max(o.Connections), probeTimes(o.Quick))
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Quick: o.Quick, Seed: o.Seed, Budget: o.Budget,
		Blocks: blocks, Targets: targets, Scenarios: o.scenarios(times, targets), Rules: DefaultRules(), Probe: &capacity,
		RequestTimeout: 5 * time.Second, Service: &o.Service, Part: len(targets) < len(all),
	}
	p.Primary = o.primary(p)
	p.Decision = decision(p)
	p.Steps = order(p, due(blocks))
	p.Confirm = confirmation(p)
	p.Rules.ConfirmStepsMax = confirmSteps(p)
	p.Expected = o.prelude(targets) + stepsTime(p.Scenarios, targets, blocks)
	return p, nil
}

// placed puts targets on CPUs and gives the base of each pair its A/A twin. A pair has
// the same CPUs on both sides: else cores would be compared and not services.
func placed(o ServiceOptions) ([]record.Target, error) {
	var all []record.Target
	for _, t := range o.Targets {
		t.Workers = max(t.Workers, 1)
		switch {
		case t.Remote():
			t.GeneratorCPUs = o.CPUs.OneGenerator
		case len(t.CPUs) > 0:
			usable := union(o.CPUs)
			for _, c := range t.CPUs {
				if !slices.Contains(usable, c) {
					return nil, fmt.Errorf("put target %s on CPU %d: this process may use %v", t.Name, c, usable)
				}
			}
			t.GeneratorCPUs = slices.DeleteFunc(usable, func(c int) bool { return slices.Contains(t.CPUs, c) })
			if len(t.GeneratorCPUs) == 0 {
				t.GeneratorCPUs = union(o.CPUs) // shared, and labelled so
			}
		case t.Workers == 1:
			t.CPUs, t.GeneratorCPUs = o.CPUs.One, o.CPUs.OneGenerator
		default:
			t.CPUs, t.GeneratorCPUs = o.CPUs.Many, o.CPUs.ManyGenerator
		}
		all = append(all, t)
	}
	for _, t := range all {
		i := slices.IndexFunc(all, func(b record.Target) bool { return b.Name == t.Base })
		if i < 0 || t.Remote() || all[i].Remote() {
			continue
		}
		if !slices.Equal(t.CPUs, all[i].CPUs) {
			return nil, fmt.Errorf("compare target %s on CPUs %v with %s on CPUs %v: that compares cores; give both the same cpus, or the same number of workers", t.Name, t.CPUs, t.Base, all[i].CPUs)
		}
	}
	if o.Quick { // no verdict that would need the noise
		return all, nil
	}
	return besideTwins(all), nil
}

// besideTwins puts a twin behind each base that is started here. One that runs already
// is no fresh process however often it is asked, so it has none.
func besideTwins(all []record.Target) []record.Target {
	var list []record.Target
	for _, t := range all {
		list = append(list, t)
		isBase := slices.ContainsFunc(all, func(o record.Target) bool { return o.Base == t.Name })
		if isBase && !t.Remote() {
			t.Base, t.Twin, t.Name = t.Name, true, t.Name+TwinSuffix
			list = append(list, t)
		}
	}
	return list
}

// TwinSuffix ends the name of a twin; no target of a user's may have it.
const TwinSuffix = "-twin"

func union(c CPUSets) []int {
	all := slices.Concat(c.One, c.OneGenerator, c.Many, c.ManyGenerator)
	slices.Sort(all)
	return slices.Compact(all)
}

func (o ServiceOptions) closed(name string, connections int, t times) record.Scenario {
	return record.Scenario{Name: name, Kind: record.Closed, Requests: o.Service.Requests, Connections: connections, Warmup: t.warmup, Window: t.window}
}

func probeTimes(quick bool) times {
	if quick {
		return briefTimes
	}
	return times{warmup: probeWarmup, window: probeWindow}
}

// scenarios are a closed loop for each number of connections, and an open loop and a
// memory run with the most.
func (o ServiceOptions) scenarios(t times, targets []record.Target) []record.Scenario {
	var list []record.Scenario
	for _, n := range o.Connections {
		list = append(list, o.closed(mixClosed(n), n, t))
	}
	open := o.closed(mixOpen, slices.Max(o.Connections), t)
	open.Kind, open.Arrivals, open.RatePerSec = record.Open, "poisson", o.RatePerSec
	if o.RatePerSec == 0 {
		open.RateOfCapacity = openShare
	}
	memory := open
	memory.Name, memory.Kind, memory.Warmup, memory.Window, memory.Idle, memory.Rest = mixMemory, record.Memory, 0, t.memoryLoad, t.idle, t.rest
	list = append(list, open)
	for _, x := range targets {
		if !x.Remote() {
			memory.Targets = append(memory.Targets, x.Name)
		}
	}
	switch len(memory.Targets) {
	case 0: // nobody's memory can be read
	case len(targets):
		memory.Targets = nil // all
		list = append(list, memory)
	default:
		list = append(list, memory)
	}
	return list
}

// primary asks the questions of the built-in pair of every pair, as far as they can be
// answered.
func (o ServiceOptions) primary(p *record.Plan) []record.Primary {
	var family []record.Primary
	for _, t := range p.Targets {
		if t.Base == "" || t.Twin {
			continue
		}
		base, _ := p.Target(t.Base)
		unseen := t.Remote() || base.Remote()
		for _, q := range questions {
			switch q.Scenario {
			case getFew:
				q.Scenario = mixClosed(o.Connections[0])
			case getMany:
				if len(o.Connections) < 2 {
					continue
				}
				q.Scenario = mixClosed(o.Connections[1])
			case getOpen:
				q.Scenario = mixOpen
			case memoryOpen:
				q.Scenario = mixMemory
			}
			ofBoth := q.Metric == "rate_per_sec" || q.Metric == "p99_ns" // of server and generator, where they share CPUs
			if t.Shared() && ofBoth || unseen && !ofBoth {
				continue
			}
			q.Target, q.Base = t.Name, t.Base
			family = append(family, q)
		}
	}
	return family
}

// fit chooses blocks and windows as for the built-in pair.
func (o ServiceOptions) fit(targets []record.Target) (times, int) {
	t := fullTimes
	if o.Quick {
		t = briefTimes
	}
	if o.Warmup > 0 {
		t.warmup = o.Warmup
	}
	if o.Quick {
		return t, 1
	}
	left := o.Budget - o.prelude(targets)
	total := func(blocks int) time.Duration { return stepsTime(o.scenarios(t, targets), targets, blocks) }
	blocks := 1
	for blocks < maxBlocks && total(blocks+1) <= left {
		blocks++
	}
	if blocks < maxBlocks {
		return t, blocks
	}
	short, unit := total(blocks), 100*time.Millisecond
	t.window += unit
	cost := total(blocks) - short
	t.window = min(fullTimes.window+(left-short)/cost*unit, longestWindow)
	return t, blocks
}

// prelude is what comes before the first block: each target started and asked, and
// the probes.
func (o ServiceOptions) prelude(targets []record.Target) time.Duration {
	var sum time.Duration
	if !o.Quick {
		sum = watchTime
	}
	for _, t := range targets {
		if !t.Twin {
			sum += time.Second + StepTime(o.closed("probe", 1, probeTimes(o.Quick)))
		}
	}
	return sum
}

// watchTime is how long the machine is watched at rest.
const watchTime = 5 * time.Second
