package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// SearchCapacity runs a plan of capacity: in each block the searches of all targets,
// a trial of each in turn so that what drifts falls on all, then the overloads. Every
// trial is a fresh process. Its errors are as Execute's.
func SearchCapacity(ctx context.Context, c Config, probes []record.Probe) error {
	x, err := begin(c, probes, nil)
	if err != nil {
		return err
	}
	defer x.guard.Close()
	for _, st := range c.Plan.Steps {
		x.left += plan.SearchTime(c.Plan, st)
	}
	for block := 1; block <= c.Plan.Blocks; block++ {
		if err := x.searchBlock(ctx, block); err != nil {
			return err
		}
	}
	return nil
}

// hunt is one search of a block.
type hunt struct {
	*capacity.Search
	step   record.Step
	trials int
	left   time.Duration // of its share of the expected time
}

func (x *execution) searchBlock(ctx context.Context, block int) error {
	var hunts []*hunt
	var overloads []record.Step
	for _, st := range x.Plan.Steps {
		sc, _ := x.Plan.Scenario(st.Scenario)
		switch {
		case st.Block != block:
		case sc.Kind == record.Capacity:
			hunts = append(hunts, &hunt{capacity.New(*x.Plan.Rules.Capacity, x.capacity[st.Target]), st, 0, plan.SearchTime(x.Plan, st)})
		default:
			overloads = append(overloads, st)
		}
	}
	for more := true; more; {
		more = false
		for _, h := range hunts {
			rate, on := h.Next()
			if !on {
				continue
			}
			more = true
			if err := x.trial(ctx, h, rate); err != nil {
				return err
			}
		}
	}
	found := map[string]float64{}
	for _, h := range hunts {
		if rate, ok := h.Answer().Middle(); ok {
			found[h.step.Target] = rate
		}
	}
	for _, st := range overloads {
		if err := x.overload(ctx, st, found[st.Target]); err != nil {
			return err
		}
	}
	return nil
}

// trial tries a rate on a fresh process and tells the search.
func (x *execution) trial(ctx context.Context, h *hunt, rate float64) error {
	target, sc, err := x.lookUp(h.step)
	if err != nil {
		return err
	}
	rules := x.Plan.Rules.Capacity
	sc.RatePerSec = rate
	// A tenth more than the least, for arrivals that vary.
	long := time.Duration(math.Ceil(1.1 * float64(rules.RequestsMin) / rate * float64(time.Second)))
	sc.Window = max(sc.Window, min(long, rules.WindowMax))
	h.trials++
	st := h.step
	st.Trial = h.trials
	run, err := x.keep(ctx, st, target, sc)
	if err != nil {
		return err
	}
	tried := capacity.Judge(*rules, capacity.Look(*rules, run, target.Shared()))
	if err := h.Tell(tried); err != nil {
		return err
	}
	if tried.Unfit == capacity.Machine && !x.Plan.Quick {
		if err := breathe(ctx); err != nil {
			return err
		}
	}
	spent := min(h.left, plan.StepTime(sc))
	if _, on := h.Next(); !on {
		spent = h.left
	}
	h.left -= spent
	x.left -= spent
	return nil
}

// breather is a wait for whatever disturbed a trial to be over: four trials that tell
// nothing end a search, and what takes the CPU often takes it for some seconds.
const breather = 5 * time.Second

func breathe(ctx context.Context) error {
	t := time.NewTimer(breather)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// overload offers more than a target can take; 0 says that this is not known, and
// nothing is run.
func (x *execution) overload(ctx context.Context, st record.Step, found float64) error {
	defer func() { x.left -= plan.SearchTime(x.Plan, st) }()
	if found == 0 {
		return nil
	}
	target, sc, err := x.lookUp(st)
	if err != nil {
		return err
	}
	x.capacity[st.Target] = found
	sc.RatePerSec = math.Round(found * sc.Overload.RateOfCapacity)
	_, err = x.keep(ctx, st, target, sc)
	return err
}

func (x *execution) lookUp(st record.Step) (record.Target, record.Scenario, error) {
	sc, ok := x.Plan.Scenario(st.Scenario)
	target, ok2 := x.Plan.Target(st.Target)
	if !ok || !ok2 {
		return target, sc, fmt.Errorf("run step %s: the plan does not define it", st.Key())
	}
	return target, sc, nil
}

// keep makes a run and hands it on.
func (x *execution) keep(ctx context.Context, st record.Step, target record.Target, sc record.Scenario) (*record.Run, error) {
	x.Observe(Event{Step: st, Left: x.left})
	run := x.run(ctx, st, 0, target, sc)
	if err := x.Append(run); err != nil {
		return nil, fmt.Errorf("keep run %s: %w", st.Key(), err)
	}
	x.Observe(Event{Step: st, Run: run, Left: x.left})
	return run, errors.Join(ctx.Err(), x.guard.Lost())
}
