package findings

import (
	"slices"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Scale is what a session of scale says beyond its cells.
type Scale struct {
	Factor string     `json:"factor"`
	Arms   []ScaleArm `json:"arms"`
}

// ScaleArm is a server followed over the levels.
type ScaleArm struct {
	Arm  string     `json:"arm"`
	Base string     `json:"base,omitempty"` // arm that it is paired with
	Rows []ScaleRow `json:"rows"`           // by level
	// Law is the universal scalability law through the levels that count. NoLaw says why
	// there is none; both are absent where the factor is none that the law is about.
	Law   *Law   `json:"usl,omitempty"`
	NoLaw string `json:"no_usl,omitempty"`
	// Each is what one more of the factor costs in memory.
	Each *EachCosts `json:"memory_each,omitempty"`
	// Added is what each step up adds, where levels are cores.
	Added []Added `json:"added,omitempty"`
}

// Limit says what limited the rate at a level.
type Limit string

const (
	ByServer    Limit = "server"
	ByGenerator Limit = "generator"  // takes no part in any fit: it is the rate of the generator
	BySharing   Limit = "shared"     // server and generator take CPU from each other
	ByTrip      Limit = "round trip" // neither is busy: no more requests are on their way
	ByQuota     Limit = "quota"      // of its control group: it was stopped in most periods
	ByNeither   Limit = "neither"    // likewise, though fewer requests on their way kept the server busy: something else
	ByNothing   Limit = ""           // not known
)

// ScaleRow is one level of an arm. The intervals are of medians over processes, by
// rank; where too few processes reach one, Lo and Hi are the ends of the values.
type ScaleRow struct {
	Level  float64   `json:"level"`
	Target string    `json:"target"`
	Load   string    `json:"load"`   // scenario
	Memory string    `json:"memory"` // scenario
	Limit  Limit     `json:"limited_by"`
	Counts bool      `json:"counts"` // for the law
	N      int       `json:"processes"`
	Rate   *Interval `json:"rate_per_sec,omitempty"`
	P50    *Interval `json:"p50_ns,omitempty"`
	P99    *Interval `json:"p99_ns,omitempty"`
	CPU    *Interval `json:"server_cpu_ns_per_request,omitempty"`
	PSS    *Interval `json:"load_end_pss_bytes,omitempty"` // at the end of the load, every connection open
	Held   int       `json:"memory_processes"`
	// RateRatio is rate / base's at this level, by block; absent without a base.
	RateRatio *Interval `json:"rate_ratio,omitempty"`
	// The open loop, where the factor has one, is at one rate for all levels: there
	// latency is what a user waits.
	Open     string    `json:"open,omitempty"` // scenario
	OpenRate float64   `json:"open_offered_per_sec,omitempty"`
	OpenP50  *Interval `json:"open_p50_ns,omitempty"`
	OpenP99  *Interval `json:"open_p99_ns,omitempty"`
	// Offered is the rate of the memory runs, the same at all levels.
	Offered float64 `json:"memory_offered_per_sec,omitempty"`
}

// EachCosts is a line through memory against the level: least squares in each block,
// of which there is one process a level. What is given is over blocks.
type EachCosts struct {
	Bytes  Interval `json:"bytes"` // of one more
	At0    float64  `json:"at_zero_bytes"`
	Blocks int      `json:"blocks"`
	Levels int      `json:"levels"`
	// Bend is the largest distance of a level's median from the line through them, as a
	// share of what the line rises by over the levels.
	Bend     float64 `json:"bend_ratio"`
	Straight bool    `json:"straight"` // else the cost of one depends on how many there are
}

// Added is what more cores add: rate at To over rate at From, by block, over To/From.
type Added struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Rate       Interval `json:"rate_ratio"`
	Efficiency float64  `json:"efficiency_ratio"` // of what as many cores would add if each were the first
}

// sense says what kind of sense a factor makes, beyond a row a level.
type sense struct {
	law, each, added bool
	trips            bool // a level bound by the round trip is a point of the law: it is about requests on their way
}

// senses: connections are clients, of which the law of load is fitted; cores are
// servers, of which the hardware's is (method P4: never mixed).
var senses = map[string]sense{
	"connections": {law: true, each: true, trips: true},
	"cores":       {law: true, each: true, added: true},
}

// scaleOf works out what a session of scale says; nil of another session.
func scaleOf(s *record.Session, cells []Cell) *Scale {
	sweep := s.Plan.Scale
	if s.Plan.Kind != record.Scaling || sweep == nil || s.Plan.Rules.Scale == nil {
		return nil
	}
	out := &Scale{Factor: sweep.Factor, Arms: []ScaleArm{}}
	var names []string
	for _, pt := range sweep.Points {
		if !slices.Contains(names, pt.Arm) {
			names = append(names, pt.Arm)
		}
	}
	for _, name := range names {
		a := arm{ScaleArm: ScaleArm{Arm: name, Base: baseArm(s, name), Rows: []ScaleRow{}}, s: s, sense: senses[sweep.Factor]}
		for _, pt := range sweep.Points {
			if pt.Arm == name {
				a.add(pt, cells)
			}
		}
		a.conclude()
		out.Arms = append(out.Arms, a.ScaleArm)
	}
	return out
}

// baseArm is the arm whose target at the same level is the base of this one's.
func baseArm(s *record.Session, name string) string {
	for _, pt := range s.Plan.Scale.Points {
		t, _ := s.Plan.Target(pt.Target)
		if pt.Arm != name || t.Base == "" {
			continue
		}
		for _, o := range s.Plan.Scale.Points {
			if o.Target == t.Base && o.Level == pt.Level {
				return o.Arm
			}
		}
	}
	return ""
}

// arm is a ScaleArm in the making.
type arm struct {
	ScaleArm
	s     *record.Session
	sense sense
	load  []*Cell // by row
	held  []*Cell
}

func (a *arm) add(pt record.ScalePoint, cells []Cell) {
	load, held, open := find(cells, pt.Target, pt.Load), find(cells, pt.Target, pt.Memory), find(cells, pt.Target, pt.Open)
	r := ScaleRow{Level: pt.Level, Target: pt.Target, Load: pt.Load, Memory: pt.Memory, N: len(load.Processes), Held: len(held.Processes)}
	r.Rate, r.CPU, r.PSS = overProcesses(load, Rate), overProcesses(load, ServerCPU), overProcesses(held, LoadEndPSS)
	r.P50, r.P99 = overProcesses(load, P50), overProcesses(load, P99)
	r.Offered, r.Open, r.OpenRate = held.Summary[Offered].Median, pt.Open, open.Summary[Offered].Median
	r.OpenP50, r.OpenP99 = overProcesses(open, P50), overProcesses(open, P99)
	if t, _ := a.s.Plan.Target(pt.Target); t.Base != "" {
		r.RateRatio = intervalOf(byBlock(load, find(cells, t.Base, pt.Load), Rate))
	}
	r.Limit = a.limit(load)
	r.Counts = r.Rate != nil && (r.Limit == ByServer || a.sense.trips && r.Limit == ByTrip)
	a.Rows, a.load, a.held = append(a.Rows, r), append(a.load, load), append(a.held, held)
}

// overProcesses is a median with its interval; nil where a process does not know the
// metric and it is a percentile, or none does.
func overProcesses(c *Cell, m Metric) *Interval {
	if _, ok := c.Summary[m]; !ok {
		return nil
	}
	return intervalOf(c.Values(m))
}

// intervalOf is a median with its 95 % interval by rank, or the ends of too few values.
func intervalOf(xs []float64) *Interval {
	m, ok := stats.Median(xs)
	if !ok {
		return nil
	}
	i := Interval{Value: m, Lo: slices.Min(xs), Hi: slices.Max(xs)}
	if r, ok := stats.MedianInterval(xs, 0.95); ok && r.Reached {
		i.Lo, i.Hi, i.Reached = r.Lo, r.Hi, true
	}
	return &i
}

// limit says what bound the rate of a level. Beyond the CPU of both sides, the time
// that the generator takes between two requests of a connection is looked at: with one
// connection neither is busy, and that time is a part of every cycle.
func (a *arm) limit(c *Cell) Limit {
	if byQuota(c) {
		return ByQuota
	}
	switch boundBy(c, a.s.Plan.Rules) {
	case sharedBound:
		return BySharing
	case serverBound:
		return ByServer
	case generatorBound:
		return ByGenerator
	case neitherBound:
		if a.generatorsOwn(c) {
			return ByGenerator
		}
		return ByTrip
	}
	return ByNothing
}

// generatorsOwn reports whether in half of the processes or more the connections lay
// idle between two requests for longer than the rules allow.
func (a *arm) generatorsOwn(c *Cell) bool {
	n := 0
	for _, p := range c.Processes {
		l := p.run.Load
		if l.InFlightMean != nil && l.Connections > 0 && *l.InFlightMean/float64(l.Connections) < a.s.Plan.Rules.DutyRatioMin {
			n++
		}
	}
	return 2*n >= len(c.Processes)
}

// conclude looks at the levels together. Where fewer connections kept the server busy,
// more of them cannot lack requests: something else was the limit there.
func (a *arm) conclude() {
	served := false
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Limit == ByTrip && served && a.sense.trips {
			r.Limit, r.Counts = ByNeither, false
		}
		served = served || r.Limit == ByServer
	}
	if a.sense.law {
		a.Law, a.NoLaw = a.fit()
	}
	if a.sense.each {
		a.Each = a.each()
	}
	if a.sense.added {
		a.Added = a.added()
	}
}

// levelText prints a level as it was asked for.
func levelText(l float64) string { return limit(l) }
