package findings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/floor"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// MemoryFloor is what a session of memory floors says: the smallest limit at which each
// target still meets a rate.
type MemoryFloor struct {
	SLO     string        `json:"slo"` // p95 <= 20ms
	Rate    float64       `json:"offered_per_sec"`
	For     time.Duration `json:"window_ns"`
	Targets []TargetFloor `json:"targets"`
	// Ratios are target / base of the floors, by block.
	Ratios []Ratio `json:"ratios,omitempty"`
}

// TargetFloor is the smallest memory limit of a target.
type TargetFloor struct {
	Target   string        `json:"target"`
	Matched  bool          `json:"matched_to_limit"` // its runtime was told each limit
	Shared   bool          `json:"shared"`
	Searches []FloorSearch `json:"searches"`
	// Floor is the median of the smallest limits that passed, with its 95 % interval by rank;
	// where too few searches reach one, Lo is the smallest limit that failed of all and Hi the
	// largest that passed. Absent if a search found none.
	Floor *Interval `json:"floor_bytes,omitempty"`
	Bound []string  `json:"bound,omitempty"` // what at least half of the searches failed by at their low end
}

// FloorSearch is one search, gone through again from its runs.
type FloorSearch struct {
	Block int `json:"block"`
	floor.Answer
	Limits []LimitSeen `json:"limits"` // in the order they were tried
	// Wrong says that the runs are not those that the search asked for, or not all.
	Wrong string `json:"wrong,omitempty"`
}

// LimitSeen is a trial, with what else was measured in it.
type LimitSeen struct {
	Step string `json:"step"`
	floor.Trial
	P95       float64             `json:"p95_ns,omitempty"`
	ServerCPU float64             `json:"server_cpu_ns_per_request,omitempty"`
	Took      time.Duration       `json:"took_ns"`
	Window    *record.GroupCounts `json:"window,omitempty"`
	Life      *record.GroupCounts `json:"life,omitempty"`
}

// FloorBytes is the smallest limit that passed. It is of a search and not of a run, so it
// is not among Metrics.
const FloorBytes Metric = "memory_floor_bytes"

// Floors are those of a target, in the order of the blocks; none of a session without
// searches.
func (m *MemoryFloor) Floors(target string) []float64 {
	var all []float64
	if m == nil {
		return nil
	}
	for _, t := range m.Targets {
		for _, s := range t.Searches {
			if f, ok := s.Floor(); ok && t.Target == target && s.Wrong == "" {
				all = append(all, float64(f))
			}
		}
	}
	return all
}

// floorOf works out what a session of memory floors says; nil of another session.
func floorOf(s *record.Session, cells []Cell) *MemoryFloor {
	limits, rules := s.Plan.Rules.Capacity, s.Plan.Rules.Floor
	if s.Plan.Kind != record.MemoryFloor || limits == nil || rules == nil {
		return nil
	}
	m := &MemoryFloor{SLO: capacity.SLOText(*limits), Targets: []TargetFloor{}}
	for _, sc := range s.Plan.Scenarios {
		m.Rate, m.For = sc.RatePerSec, sc.Window
	}
	for _, t := range s.Plan.Targets {
		one := TargetFloor{Target: t.Name, Matched: t.Matched, Shared: t.Shared()}
		for _, st := range s.Plan.Steps {
			if sc, _ := s.Plan.Scenario(st.Scenario); st.Target == t.Name && sc.Kind == record.MemoryFloor {
				one.Searches = append(one.Searches, floorAgain(s, cells, st, one.Shared))
			}
		}
		one.conclude()
		m.Targets = append(m.Targets, one)
	}
	m.Ratios = m.ratios(s)
	return m
}

// floorAgain goes through a search as it went through itself.
func floorAgain(s *record.Session, cells []Cell, st record.Step, shared bool) FloorSearch {
	var runs []*record.Run
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Step.Search() == st {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *record.Run) int { return cmp.Compare(a.Step.Trial, b.Step.Trial) })
	limits, rules := *s.Plan.Rules.Capacity, *s.Plan.Rules.Floor
	out := FloorSearch{Block: st.Block, Limits: []LimitSeen{}}
	again := floor.New(rules)
	for i, r := range runs {
		seen := LimitSeen{Step: r.Step.Key(), Trial: floor.Look(limits, rules, r, shared), Took: r.Took}
		if p, ok := processOf(cells, r.Step); ok {
			seen.P95, seen.ServerCPU = p.Values[P95], p.Values[ServerCPU]
		}
		if r.Group != nil {
			seen.Window, seen.Life = r.Group.Window, &r.Group.Life
		}
		out.Limits = append(out.Limits, seen)
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

// conclude condenses the searches.
func (t *TargetFloor) conclude() {
	var floors, lows []float64
	missed := map[capacity.Limit]int{}
	for _, s := range t.Searches {
		for _, l := range s.Bound {
			missed[l]++
		}
		if f, ok := s.Floor(); ok && s.Wrong == "" {
			floors, lows = append(floors, float64(f)), append(lows, float64(s.Lo))
		}
	}
	var bound []capacity.Limit
	for l, n := range missed {
		if 2*n >= len(t.Searches) {
			bound = append(bound, l)
		}
	}
	for _, l := range floor.Order(bound) {
		t.Bound = append(t.Bound, string(l))
	}
	if len(floors) == 0 || len(floors) < len(t.Searches) {
		return
	}
	m, _ := stats.Median(floors)
	t.Floor = &Interval{Value: m, Lo: slices.Min(lows), Hi: slices.Max(floors)}
	if i, ok := stats.MedianInterval(floors, 0.95); ok && i.Reached {
		t.Floor.Lo, t.Floor.Hi, t.Floor.Reached = i.Lo, i.Hi, true
	}
}

func (m *MemoryFloor) ratios(s *record.Session) []Ratio {
	floors := map[string]map[int]float64{}
	for _, t := range m.Targets {
		floors[t.Target] = map[int]float64{}
		for _, x := range t.Searches {
			if f, ok := x.Floor(); ok && x.Wrong == "" {
				floors[t.Target][x.Block] = float64(f)
			}
		}
	}
	var all []Ratio
	for _, t := range s.Plan.Targets {
		var xs []float64
		for block := 1; block <= s.Plan.Blocks; block++ {
			if a, b := floors[t.Name][block], floors[t.Base][block]; a > 0 && b > 0 {
				xs = append(xs, a/b)
			}
		}
		if sum, ok := summary(xs); ok && t.Base != "" {
			all = append(all, Ratio{t.Name, t.Base, string(record.MemoryFloor), FloorBytes, sum})
		}
	}
	return all
}

// floorEnds says of each target why it has no floor, where it has none.
func floorEnds(s *record.Session, e *Evaluation) []record.Finding {
	if e.Floor == nil {
		return nil
	}
	rules := *s.Plan.Rules.Floor
	var all []record.Finding
	add := func(code string, sev record.Severity, t TargetFloor, x FloorSearch, text, hint string) {
		f := record.Finding{Code: code, Severity: sev, Observed: fmt.Sprintf("%s after %s in block %d", cmp.Or(x.Wrong, string(x.End)), count(len(x.Limits), "trial"), x.Block),
			Threshold: fmt.Sprintf("both ends confirmed, %d of %d pass and %d of %d fail", rules.High.Need, rules.High.Of, rules.Low.Need, rules.Low.Of),
			Text:      t.Target + ": " + text, Hint: hint}
		for _, l := range x.Limits[max(0, len(x.Limits)-3):] {
			f.Steps = append(f.Steps, l.Step)
		}
		all = append(all, f)
	}
	for _, t := range e.Floor.Targets {
		for _, x := range t.Searches {
			switch {
			case x.Wrong != "":
				add("floor-open", record.Voids, t, x, "the search cannot be followed: "+x.Wrong, "the numbers of the single trials stand")
			case x.End == floor.NoLimit:
				add("floor-none", record.Warn, t, x, fmt.Sprintf("%d MiB are not enough for this rate, or it is not memory that it lacks", rules.Ceiling>>20), "a lower --rate, or a larger --ceiling-mib; gonogo capacity finds what it can take at all")
			case x.End == capacity.ByGenerator:
				add("floor-generator", record.Warn, t, x, "the limit is the generator, at this rate already", "a lower --rate")
			case x.End == capacity.ByMachine:
				add("floor-machine", record.Warn, t, x, "the machine was too busy to tell a memory limit", "gonogo doctor says with what")
			case x.End == capacity.OutOfTrials:
				add("floor-trials", record.Warn, t, x, "trials at the same limit disagree too often for an answer", "a longer --for makes a trial less of a chance")
			}
		}
	}
	return all
}

// fewFloors: an interval over searches takes as many as one over processes.
func fewFloors(s *record.Session, e *Evaluation) []record.Finding {
	if e.Floor == nil || s.Plan.Blocks >= s.Plan.Rules.MinBlocksForMedian {
		return nil
	}
	return []record.Finding{{
		Code: "few-searches", Severity: record.Note, Observed: fmt.Sprintf("%d of each target", s.Plan.Blocks), Threshold: fmt.Sprint(s.Plan.Rules.MinBlocksForMedian),
		Text: "too few searches for a 95 % interval: the ends given are those of all searches", Hint: "more --repeats",
	}}
}
