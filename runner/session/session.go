// Package session runs a plan: for each step a fresh process, loaded, measured,
// stopped and handed on before the next one starts. It is the only package that
// joins sut, contract, load, memory and host; it knows no statistics.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonogo/runner/cgroup"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Config is what a session needs besides its plan.
type Config struct {
	Plan       *record.Plan
	PlanSHA256 string           // of the archived plan; every run names it
	Root       string           // folder that the targets' commands are relative to
	Guard      []string         // command of the process that outlives a killed runner
	Generator  []string         // command of the load generator, told what to do on stdin
	Meter      []string         // command of the hiccup meter, before its CPUs; empty: no meter
	Groups     *cgroup.Tree     // where targets with limits get a control group; nil: nowhere
	Wall       func() time.Time // the wall clock; nil: the system's

	Kept []record.Run // on disk from before an interruption; their groups run again only if they were cut

	LogPath func(record.Step, int) string // where the target of a step's attempt logs, absolute
	LogName func(record.Step, int) string // the same, as archived
	// ProfileDir is where the profiles of a step's attempt lie, absolute and as archived.
	ProfileDir func(record.Step, int) (dir, name string)

	Append  func(*record.Run) error // called after each run, before the next starts
	Observe func(Event)             // told of progress, never inside a timed window
	Sampler sampler                 // in place of memory.Watch; tests plant an expensive one
}

// Event is progress: a step that begins (Run is nil) or has ended.
type Event struct {
	Step    record.Step
	Attempt int
	Run     *record.Run
	// Left is the expected time for all steps that have not ended.
	Left time.Duration
}

// execution is a session that runs.
type execution struct {
	Config
	guard    *sut.Guard
	capacity map[string]float64 // per second, by target; from the probes
	left     time.Duration
	first    int // number of the group's first attempt now; left counts that one and no repeats
	wall     *wallClock
}

// Execute runs every step of the plan in its order. A step that fails is
// recorded with its reason and the next one goes on. Where a check voids a run,
// the group that it belongs to runs again. Of a session that was interrupted it runs
// what is outstanding. The error is for what ends the session: a signal (ctx), or a
// record that could not be kept.
func Execute(ctx context.Context, c Config, probes []record.Probe) error {
	x, err := begin(c, probes, c.Plan.Steps)
	if err != nil {
		return err
	}
	defer x.guard.Close()
	groups := groupsOf(c.Plan.Steps)
	repeats := int(c.Plan.Rules.RepeatedGroupsMax * float64(len(groups)))
	for _, g := range groups {
		b := before(c.Kept, g)
		repeats -= b.repeats
		x.first = b.attempts
		for attempt := b.attempts; !b.whole || b.disturbed && b.repeats < maxRepeats && repeats > 0; attempt++ {
			if b.whole {
				b.repeats++
				repeats--
			}
			if b.disturbed, err = x.group(ctx, g, attempt); err != nil {
				return err
			}
			b.whole = true
		}
	}
	return nil
}

// Confirm runs some of the plan's confirmation steps, once each: they count for
// maxima alone, and a disturbed one confirms nothing. Its errors are as Execute's.
func Confirm(ctx context.Context, c Config, probes []record.Probe, steps []record.Step) error {
	x, err := begin(c, probes, steps)
	if err != nil {
		return err
	}
	defer x.guard.Close()
	for _, g := range groupsOf(steps) {
		if b := before(c.Kept, g); !b.whole {
			x.first = b.attempts
			if _, err := x.group(ctx, g, b.attempts); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin readies the execution of steps. Its guard has to be closed.
func begin(c Config, probes []record.Probe, steps []record.Step) (*execution, error) {
	guard, err := sut.StartGuard(c.Guard[0], c.Guard[1:]...)
	if err != nil {
		return nil, err
	}
	x := &execution{Config: c, guard: guard, capacity: map[string]float64{}, wall: watchWallClock(c.Wall)}
	for _, p := range probes {
		x.capacity[p.Target] = p.CapacityPerSec
	}
	for _, st := range Outstanding(c.Kept, steps) {
		x.left += stepTime(c.Plan, st)
	}
	return x, nil
}

// maxRepeats bounds the repeats of one group; the plan's rules bound those of
// the session.
const maxRepeats = 2

// groupsOf cuts the steps where the block or the scenario changes. A group holds
// the targets of one scenario side by side: what is compared with each other. It
// is repeated whole, so that a pair never consists of a run before a disturbance
// and one after it.
func groupsOf(steps []record.Step) [][]record.Step {
	var groups [][]record.Step
	for i, st := range steps {
		if i == 0 || st.Block != steps[i-1].Block || st.Scenario != steps[i-1].Scenario {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], st)
	}
	return groups
}

// group runs its steps once and reports whether a check voided one of them.
func (x *execution) group(ctx context.Context, steps []record.Step, attempt int) (disturbed bool, err error) {
	canary := x.canary(steps)
	for _, st := range steps {
		x.Observe(Event{Step: st, Attempt: attempt, Left: x.left})
		run, err := x.step(ctx, st, attempt)
		if err != nil {
			return false, err
		}
		run.Canary, canary = canary, nil // the group's first run carries it
		if attempt == x.first {
			x.left -= stepTime(x.Plan, st)
		}
		if err := x.Append(run); err != nil {
			return false, fmt.Errorf("keep run %s: %w", st.Key(), err)
		}
		x.Observe(Event{Step: st, Attempt: attempt, Run: run, Left: x.left})
		if err := errors.Join(ctx.Err(), x.guard.Lost()); err != nil {
			return false, err
		}
		disturbed = disturbed || run.Outcome == record.Void
	}
	return disturbed, nil
}

// canary times a fixed loop on the CPUs that the group is about to use. What it
// means is for the findings to say; nil where it cannot be told.
func (x *execution) canary(steps []record.Step) *record.Nanos {
	var cpus []int
	for _, st := range steps {
		if t, ok := x.Plan.Target(st.Target); ok {
			cpus = append(append(cpus, t.CPUs...), t.GeneratorCPUs...)
		}
	}
	if len(cpus) == 0 || x.Plan.Quick {
		return nil
	}
	slices.Sort(cpus)
	d, err := host.Canary(slices.Compact(cpus))
	if err != nil {
		return nil
	}
	return &d
}

func (x *execution) step(ctx context.Context, st record.Step, attempt int) (*record.Run, error) {
	sc, ok := x.Plan.Scenario(st.Scenario)
	target, ok2 := x.Plan.Target(st.Target)
	if !ok || !ok2 {
		return nil, fmt.Errorf("run step %s: the plan does not define it", st.Key())
	}
	if sc.RateOfCapacity > 0 {
		sc.RatePerSec = rate(x.Plan, target, x.capacity, sc.RateOfCapacity)
	}
	return x.run(ctx, st, attempt, target, sc), nil
}

// run makes a run of a step under the scenario as it is to be loaded.
func (x *execution) run(ctx context.Context, st record.Step, attempt int, target record.Target, sc record.Scenario) *record.Run {
	s := step{Config: x.Config, guard: x.guard, target: target, scenario: sc, run: &record.Run{
		SchemaVersion: record.SchemaVersion, Step: st, Attempt: attempt, PlanSHA256: x.PlanSHA256, Started: x.wall.now(), OfferedPerSec: sc.RatePerSec}}
	s.execute(ctx)
	s.run.Checks = append(s.run.Checks, x.wall.check())
	return s.run
}

func stepTime(p *record.Plan, st record.Step) time.Duration {
	sc, _ := p.Scenario(st.Scenario)
	return plan.StepTime(sc)
}
