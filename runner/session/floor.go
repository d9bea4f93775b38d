package session

import (
	"context"
	"math"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/floor"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// SearchFloors runs a plan of memory floors: in each block the searches of all targets,
// a trial of each in turn. Every trial is a fresh process in a fresh control group. Its
// errors are as Execute's.
func SearchFloors(ctx context.Context, c Config, probes []record.Probe) error {
	x, err := begin(c, probes, nil)
	if err != nil {
		return err
	}
	defer x.guard.Close()
	for _, st := range c.Plan.Steps {
		x.left += plan.FloorTime(c.Plan, st)
	}
	for block := 1; block <= c.Plan.Blocks; block++ {
		var all []*descent
		for _, st := range c.Plan.Steps {
			if st.Block == block {
				all = append(all, &descent{floor.New(*c.Plan.Rules.Floor), st, 0, plan.FloorTime(c.Plan, st)})
			}
		}
		for more := true; more; {
			more = false
			for _, d := range all {
				limit, on := d.Next()
				if !on {
					continue
				}
				more = true
				if err := x.limited(ctx, d, limit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// descent is one search of a block.
type descent struct {
	*floor.Search
	step   record.Step
	trials int
	left   time.Duration // of its share of the expected time
}

// limited tries a limit on a fresh process and tells the search.
func (x *execution) limited(ctx context.Context, d *descent, limit uint64) error {
	target, sc, err := x.lookUp(d.step)
	if err != nil {
		return err
	}
	limits, rules := *x.Plan.Rules.Capacity, *x.Plan.Rules.Floor
	sc.Window = enough(sc, limits)
	d.trials++
	st := d.step
	st.Trial = d.trials
	run, err := x.keep(ctx, st, plan.Limited(target, rules, limit), sc)
	if err != nil {
		return err
	}
	tried := floor.Look(limits, rules, run, target.Shared())
	if err := d.Tell(tried); err != nil {
		return err
	}
	if tried.Unfit == capacity.Machine && !x.Plan.Quick {
		if err := breathe(ctx); err != nil {
			return err
		}
	}
	spent := min(d.left, run.Took)
	if _, on := d.Next(); !on {
		spent = d.left
	}
	d.left -= spent
	x.left -= spent
	return nil
}

// enough is a window with as many requests as a trial needs: a tenth more than the least,
// for arrivals that vary.
func enough(sc record.Scenario, r record.CapacityRules) time.Duration {
	long := time.Duration(math.Ceil(1.1 * float64(r.RequestsMin) / sc.RatePerSec * float64(time.Second)))
	return max(sc.Window, min(long, r.WindowMax))
}
