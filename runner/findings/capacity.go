package findings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Capacity is what a session of capacity says beyond its cells.
type Capacity struct {
	SLO     string           `json:"slo"` // p95 <= 20ms
	Targets []TargetCapacity `json:"targets"`
	// Ratios are target / base of the brackets' middles, by block.
	Ratios []Ratio `json:"ratios,omitempty"`
}

// TargetCapacity is the highest rate at which a target meets the limits.
type TargetCapacity struct {
	Target   string           `json:"target"`
	Shared   bool             `json:"shared"`
	Closed   float64          `json:"closed_loop_per_sec"` // of the probe: where the searches began, and no capacity
	Searches []CapacitySearch `json:"searches"`
	// Rate is the median of the brackets' middles with its 95 % interval by rank; where
	// too few searches reach one, Lo and Hi are the ends of all brackets. Absent if a
	// search found no bracket: what the others found is then no sample of all.
	Rate      *Interval  `json:"rate_per_sec,omitempty"`
	Bound     []string   `json:"bound,omitempty"` // limits that at least half of the searches missed at Hi
	Overloads []Overload `json:"overloads,omitempty"`
}

// CapacitySearch is one search, gone through again from its runs.
type CapacitySearch struct {
	Block int `json:"block"`
	capacity.Answer
	Rates []RateSeen `json:"rates"` // in the order they were tried
	// Wrong says that the runs are not those that the search asked for, or not all.
	Wrong string `json:"wrong,omitempty"`
}

// RateSeen is a trial with the percentiles of its response time, where it has enough
// requests for them.
type RateSeen struct {
	Step string `json:"step"`
	capacity.Trial
	P50 float64 `json:"p50_ns,omitempty"`
	P95 float64 `json:"p95_ns,omitempty"`
	P99 float64 `json:"p99_ns,omitempty"`
}

// Overload is a target under more load than it can take.
type Overload struct {
	Step     string  `json:"step"`
	Capacity float64 `json:"capacity_per_sec"`
	Offered  float64 `json:"offered_per_sec"`
	Goodput  float64 `json:"goodput_per_sec"` // right answers within the window
	Rejected float64 `json:"rejected_ratio"`  // of the requests that were due: no right answer at all
	// Latencies are response times; a request that timed out is in them at the time-out.
	P50        float64        `json:"p50_ns,omitempty"`
	P99        float64        `json:"p99_ns,omitempty"`
	HealthOK   int            `json:"health_answered"`
	Health     int            `json:"health_asked"`
	HealthP50  float64        `json:"health_p50_ns,omitempty"`
	HealthMax  float64        `json:"health_max_ns,omitempty"`
	Recovery   *time.Duration `json:"recovery_ns,omitempty"` // absent: not within the time that it was given
	RecoverMax time.Duration  `json:"recovery_max_ns"`
}

// CapacityRate is the middle of a bracket. It is of a search and not of a run, so it is
// not among Metrics.
const CapacityRate Metric = "capacity_per_sec"

// Middles are the middles of a target's brackets, in the order of the blocks; none of
// a session without searches.
func (c *Capacity) Middles(target string) []float64 {
	var all []float64
	if c == nil {
		return nil
	}
	for _, t := range c.Targets {
		for _, s := range t.Searches {
			if m, ok := s.Middle(); ok && t.Target == target && s.Wrong == "" {
				all = append(all, m)
			}
		}
	}
	return all
}

// capacityOf works out what a session of capacity says; nil of another session.
func capacityOf(s *record.Session, cells []Cell) *Capacity {
	rules := s.Plan.Rules.Capacity
	if s.Plan.Kind != record.Capacity || rules == nil {
		return nil
	}
	c := &Capacity{SLO: capacity.SLOText(*rules), Targets: []TargetCapacity{}}
	for _, t := range s.Plan.Targets {
		one := TargetCapacity{Target: t.Name, Shared: t.Shared()}
		for _, p := range s.Probes {
			if p.Target == t.Name {
				one.Closed = p.CapacityPerSec
			}
		}
		for _, st := range s.Plan.Steps {
			if sc, _ := s.Plan.Scenario(st.Scenario); st.Target == t.Name && sc.Kind == record.Capacity {
				one.Searches = append(one.Searches, searchAgain(s, cells, st, one))
			}
		}
		one.Overloads = overloads(s, cells, t.Name)
		one.conclude()
		c.Targets = append(c.Targets, one)
	}
	c.Ratios = c.ratios(s)
	return c
}

// searchAgain goes through a search as it went through itself.
func searchAgain(s *record.Session, cells []Cell, st record.Step, t TargetCapacity) CapacitySearch {
	rules := *s.Plan.Rules.Capacity
	var runs []*record.Run
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Step.Search() == st {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *record.Run) int { return cmp.Compare(a.Step.Trial, b.Step.Trial) })
	out := CapacitySearch{Block: st.Block, Rates: []RateSeen{}}
	again := capacity.New(rules, t.Closed)
	for i, r := range runs {
		seen := RateSeen{Step: r.Step.Key(), Trial: capacity.Judge(rules, capacity.Look(rules, r, t.Shared))}
		if p, ok := processOf(cells, r.Step); ok {
			seen.P50, seen.P95, seen.P99 = p.Values[P50], p.Values[P95], p.Values[P99]
		}
		out.Rates = append(out.Rates, seen)
		if r.Step.Trial != i+1 && out.Wrong == "" {
			out.Wrong = fmt.Sprintf("trial %d is missing", i+1)
		}
		if out.Wrong == "" && r.Outcome != record.Interrupted {
			if err := again.Tell(seen.Trial); err != nil {
				out.Wrong = err.Error()
			}
		}
	}
	if _, more := again.Next(); more && out.Wrong == "" {
		out.Wrong = "it did not come to its end"
	}
	out.Answer = again.Answer()
	return out
}

func processOf(cells []Cell, st record.Step) (Process, bool) {
	for _, p := range find(cells, st.Target, st.Scenario).Processes {
		if p.Step == st {
			return p, true
		}
	}
	return Process{}, false
}

// conclude condenses the searches.
func (t *TargetCapacity) conclude() {
	var middles, lows, highs []float64
	missed := map[capacity.Limit]int{}
	for _, s := range t.Searches {
		for _, l := range s.Bound {
			missed[l]++
		}
		if m, ok := s.Middle(); ok && s.Wrong == "" {
			middles, lows, highs = append(middles, m), append(lows, s.Lo), append(highs, s.Hi)
		}
	}
	for _, l := range []capacity.Limit{capacity.Broke, capacity.Errors, capacity.Dropped, capacity.Achieved, capacity.SLO, capacity.Queue} {
		if n := missed[l]; n > 0 && 2*n >= len(t.Searches) {
			t.Bound = append(t.Bound, string(l))
		}
	}
	if len(middles) == 0 || len(middles) < len(t.Searches) {
		return
	}
	m, _ := stats.Median(middles)
	t.Rate = &Interval{Value: m, Lo: slices.Min(lows), Hi: slices.Max(highs)}
	if i, ok := stats.MedianInterval(middles, 0.95); ok && i.Reached {
		t.Rate.Lo, t.Rate.Hi, t.Rate.Reached = i.Lo, i.Hi, true
	}
}

func (c *Capacity) ratios(s *record.Session) []Ratio {
	middle := map[string]map[int]float64{}
	for _, t := range c.Targets {
		middle[t.Target] = map[int]float64{}
		for _, x := range t.Searches {
			if m, ok := x.Middle(); ok && x.Wrong == "" {
				middle[t.Target][x.Block] = m
			}
		}
	}
	var all []Ratio
	for _, t := range s.Plan.Targets {
		var xs []float64
		for block := 1; block <= s.Plan.Blocks; block++ {
			if a, b := middle[t.Name][block], middle[t.Base][block]; a > 0 && b > 0 {
				xs = append(xs, a/b)
			}
		}
		if sum, ok := summary(xs); ok && t.Base != "" {
			all = append(all, Ratio{t.Name, t.Base, string(record.Capacity), CapacityRate, sum})
		}
	}
	return all
}

func overloads(s *record.Session, cells []Cell, target string) []Overload {
	var all []Overload
	for i := range s.Runs {
		r := &s.Runs[i]
		sc, _ := s.Plan.Scenario(r.Step.Scenario)
		p, ok := processOf(cells, r.Step)
		if r.Step.Target != target || r.Overload == nil || sc.Overload == nil || !ok {
			continue
		}
		w, c := r.Overload, r.Load.Counts
		o := Overload{Step: r.Step.Key(), Capacity: w.CapacityPerSec, Offered: r.OfferedPerSec, Goodput: p.Values[Rate], P50: p.Values[P50], P99: p.Values[P99],
			HealthOK: len(w.Health), Health: w.HealthAsked, RecoverMax: sc.Overload.RecoveryMax}
		if c.Planned > 0 {
			o.Rejected = float64(c.Bad()) / float64(c.Planned)
		}
		var health []float64
		for _, d := range w.Health {
			health = append(health, float64(d))
		}
		if m, ok := stats.Median(health); ok {
			o.HealthP50, o.HealthMax = m, slices.Max(health)
		}
		if n := len(w.Recovery); n > 0 && w.Recovery[n-1].Passed {
			o.Recovery = &w.Recovery[n-1].At
		}
		all = append(all, o)
	}
	return all
}

// capacityEnds says of each target why it has no capacity, where it has none.
func capacityEnds(s *record.Session, e *Evaluation) []record.Finding {
	if e.Capacity == nil {
		return nil
	}
	rules := *s.Plan.Rules.Capacity
	var all []record.Finding
	add := func(code string, sev record.Severity, t TargetCapacity, x CapacitySearch, text, hint string) {
		f := record.Finding{Code: code, Severity: sev, Observed: fmt.Sprintf("%s after %s in block %d", orEnd(x), count(len(x.Rates), "trial"), x.Block),
			Threshold: fmt.Sprintf("both ends of a bracket confirmed, %d of %d pass and %d of %d fail", rules.Low.Need, rules.Low.Of, rules.High.Need, rules.High.Of),
			Text:      t.Target + ": " + text, Hint: hint}
		for _, r := range x.Rates[max(0, len(x.Rates)-3):] {
			f.Steps = append(f.Steps, r.Step)
		}
		all = append(all, f)
	}
	for _, t := range e.Capacity.Targets {
		for _, x := range t.Searches {
			switch {
			case x.Wrong != "":
				add("capacity-open", record.Voids, t, x, "the search cannot be followed: "+x.Wrong, "the numbers of the single trials stand")
			case x.End == capacity.ByGenerator && x.Lo == 0:
				add("capacity-generator", record.Warn, t, x, "the limit is the generator, at the lowest rate that was tried", "give the generator more CPUs, or a machine of its own")
			case x.End == capacity.ByGenerator:
				add("capacity-generator", record.Warn, t, x, fmt.Sprintf("the limit is the generator; the capacity is %s/s or more", digits(x.Lo)), "give the generator more CPUs, or a machine of its own")
			case x.End == capacity.ByMachine:
				add("capacity-machine", record.Warn, t, x, "the machine was too busy to tell a capacity", "gonogo doctor says with what")
			case x.End == capacity.NoRate:
				add("capacity-none", record.Warn, t, x, "no rate that was tried meets "+capacity.Words(rules, append(x.Bound, capacity.SLO)[:max(1, len(x.Bound))]), "the closed loop's rate says nothing of latency: a larger --slo is met at some rate")
			case x.End == capacity.OutOfTrials:
				add("capacity-trials", record.Warn, t, x, "trials at the same rate disagree too often for a bracket", "a longer --window makes a trial less of a chance")
			}
		}
	}
	return all
}

func orEnd(x CapacitySearch) string {
	if x.Wrong != "" {
		return x.Wrong
	}
	return string(x.End)
}

// fewSearches: an interval over searches takes as many as one over processes.
func fewSearches(s *record.Session, e *Evaluation) []record.Finding {
	if e.Capacity == nil || s.Plan.Blocks >= s.Plan.Rules.MinBlocksForMedian {
		return nil
	}
	return []record.Finding{{
		Code: "few-searches", Severity: record.Note, Observed: fmt.Sprintf("%d of each target", s.Plan.Blocks), Threshold: fmt.Sprint(s.Plan.Rules.MinBlocksForMedian),
		Text: "too few searches for a 95 % interval: the ends given are those of all brackets", Hint: "more --repeats",
	}}
}
