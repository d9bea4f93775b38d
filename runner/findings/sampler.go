package findings

import (
	"fmt"
	"strings"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// SamplerCost is what reading memory costs a target, from neighbouring loads of one
// process with and without it. A ratio is with / without, and its interval is over
// pairs of loads: it is for this machine and these processes.
type SamplerCost struct {
	Target string    `json:"target"`
	Pairs  int       `json:"pairs"`
	Reads  int       `json:"reads"`
	Rate   *Interval `json:"rate_ratio,omitempty"`
	CPU    *Interval `json:"server_cpu_ratio,omitempty"` // of CPU per request
	// Seen: a 95 % interval leaves out 1, on the side that costs. Above: it leaves out
	// all that the plan allows, too.
	Seen  bool   `json:"seen"`
	Above bool   `json:"above"`
	Text  string `json:"text"`
}

// Interval is an estimate with its 95 % interval, which too few values do not reach.
type Interval struct {
	Value   float64 `json:"value"`
	Lo      float64 `json:"lo"`
	Hi      float64 `json:"hi"`
	Reached bool    `json:"reached"`
}

// samplerCost pairs the neighbours of every process. The noise between processes is
// in neither member of such a pair, so pairs of all processes stand in one row.
func (c *Cell) samplerCost(most float64) SamplerCost {
	cost := SamplerCost{Target: c.Target}
	var rateOn, rateOff, cpuOn, cpuOff []float64
	for _, p := range c.Processes {
		cycles := p.run.Memory.Cycles
		for i := 0; i+1 < len(cycles); i += 2 {
			on, off := cycles[i], cycles[i+1]
			if on.Reads == 0 {
				on, off = off, on
			}
			if on.Reads == 0 || off.Reads > 0 || on.Counts.Answered() == 0 || off.Counts.Answered() == 0 {
				continue
			}
			cost.Pairs++
			cost.Reads += on.Reads
			rateOn, rateOff = append(rateOn, perSecond(on)), append(rateOff, perSecond(off))
			if on.ServerCPU != nil && off.ServerCPU != nil {
				cpuOn, cpuOff = append(cpuOn, perRequest(on)), append(cpuOff, perRequest(off))
			}
		}
	}
	cost.Rate, cost.CPU = ratioOf(rateOn, rateOff), ratioOf(cpuOn, cpuOff)
	cost.judge(most)
	return cost
}

func (c *SamplerCost) judge(most float64) {
	known, within := false, true
	for _, x := range []*Interval{flipped(c.Rate), c.CPU} { // above 1 is a cost in both
		if x == nil {
			continue
		}
		known = known || x.Reached
		c.Seen = c.Seen || x.Reached && x.Lo > 1
		c.Above = c.Above || x.Reached && x.Lo > 1+most
		within = within && x.Reached && x.Hi < 1+most
	}
	limit := fmt.Sprintf("%s %%", digits(100*most))
	switch {
	case !known:
		c.Text = "not known: too few pairs for a 95 % interval"
	case c.Above:
		c.Text = "reading memory costs more than " + limit
	case c.Seen && within:
		c.Text = "reading memory costs something, and less than " + limit
	case c.Seen:
		c.Text = "reading memory costs something; whether less than " + limit + " is not known"
	case within:
		c.Text = "reading memory costs less than " + limit
	default:
		c.Text = "no cost is seen, but one of more than " + limit + " is not ruled out"
	}
}

func perSecond(c record.MemoryCycle) float64 { return float64(c.Counts.Answered()) / c.Took.Seconds() }

func perRequest(c record.MemoryCycle) float64 {
	return float64(c.ServerCPU.Total()) / float64(c.Counts.Answered())
}

// ratioOf is nil where no ratio can be told.
func ratioOf(on, off []float64) *Interval {
	e, err := stats.Pair(on, off)
	if err != nil {
		return nil
	}
	r := e.Ratio()
	return &Interval{Value: r.Value, Lo: r.Lo, Hi: r.Hi, Reached: r.Reached}
}

func flipped(x *Interval) *Interval {
	if x == nil {
		return nil
	}
	return &Interval{Value: 1 / x.Value, Lo: 1 / x.Hi, Hi: 1 / x.Lo, Reached: x.Reached}
}

// samplerCosts warns where reading memory is not as cheap as memory runs assume.
func samplerCosts(_ *record.Session, e *Evaluation) []record.Finding {
	if e.Memory == nil {
		return nil
	}
	var dear []string
	for _, c := range e.Memory.Sampler {
		if c.Above {
			dear = append(dear, fmt.Sprintf("%s: rate x%s, CPU per request %s", c.Target, intervalText(c.Rate), intervalText(c.CPU)))
		}
	}
	if len(dear) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "sampler-cost", Severity: record.Warn, Observed: strings.Join(dear, "; "), Threshold: "see rules.memory",
		Text: "reading memory slows the servers down: memory runs here are no measure of speed, and their peaks may be late",
		Hint: "memory has runs of its own for this reason; give the runner a CPU of its own",
	}}
}

func intervalText(x *Interval) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.3f (%.3f..%.3f)", x.Value, x.Lo, x.Hi)
}
