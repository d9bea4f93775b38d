package findings

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Memory is what a session of memory alone says beyond its cells.
type Memory struct {
	Instants []Instant     `json:"instants"` // by scenario, target and time
	Growth   []Growth      `json:"growth,omitempty"`
	Sampler  []SamplerCost `json:"sampler,omitempty"`
	// Ratios are target / base at the end of the load and at the last rest after it,
	// where all stored the same number of users.
	Ratios []Ratio `json:"ratios,omitempty"`
}

// Instant is the memory of a target so long after the end of a load, of the last
// cycle where there are several. The unit of its summaries is the fresh process.
type Instant struct {
	Target   string        `json:"target"`
	Scenario string        `json:"scenario"`
	After    time.Duration `json:"after_ns"`
	PSS      *Summary      `json:"pss_bytes,omitempty"`
	RSS      Summary       `json:"rss_bytes"` // summed over processes: shared pages count once for each
}

// Trend is what may be said of memory over cycles of load and rest.
type Trend string

const (
	Growing   Trend = "growing"   // in more than half of the processes the slope matters and is no chance
	NoTrend   Trend = "no trend"  // in none of them
	Undecided Trend = "undecided" // in some
	NotJudged Trend = "not judged: too few cycles"
)

// Growth is the memory of a target at rest, cycle after cycle (method R6).
type Growth struct {
	Target    string          `json:"target"`
	Scenario  string          `json:"scenario"`
	Of        string          `json:"of"` // pss_bytes, or rss_bytes where the system tells no PSS
	Cycles    int             `json:"cycles"`
	Processes []ProcessGrowth `json:"processes"`
	Seen      int             `json:"seen"` // processes in which it grows
	Trend     Trend           `json:"trend"`
}

// ProcessGrowth is the series of one process.
type ProcessGrowth struct {
	Step  string    `json:"step"`
	Bytes []float64 `json:"bytes"` // at the last rest of each cycle
	// Slope is Theil and Sen's of the logarithms, as a ratio a cycle: 0.03 is 3 % more
	// each time. P is Mann and Kendall's, two-sided and exact.
	Slope float64 `json:"slope_ratio"`
	P     float64 `json:"p"`
}

// memoryOf works out what a session of memory alone says; nil of another session.
func memoryOf(s *record.Session, cells []Cell) *Memory {
	if s.Plan.Kind != record.Memory || s.Plan.Rules.Memory == nil {
		return nil
	}
	m := &Memory{Instants: []Instant{}}
	for i := range cells {
		c := &cells[i]
		sc, _ := s.Plan.Scenario(c.Scenario)
		if sc.Work == nil || len(c.Processes) == 0 {
			continue
		}
		m.Instants = append(m.Instants, c.instants(sc.Work.Rests)...)
		if t, _ := s.Plan.Target(c.Target); sc.Work.Stores && t.Base != "" {
			m.Ratios = append(m.Ratios, storedRatios(c, find(cells, t.Base, sc.Name), t.Base)...)
		}
		switch {
		case sc.Work.Alternate:
			m.Sampler = append(m.Sampler, c.samplerCost(s.Plan.Rules.Memory.SamplerCostMax))
		case sc.Work.Cycles > 1 && len(sc.Work.Rests) > 0:
			m.Growth = append(m.Growth, c.growth(*s.Plan.Rules.Memory))
		}
	}
	return m
}

func storedRatios(c, base *Cell, name string) []Ratio {
	var all []Ratio
	for _, m := range []Metric{LoadEndPSS, RestPSS} {
		if sum, ok := summary(byBlock(c, base, m)); ok {
			all = append(all, Ratio{c.Target, name, c.Scenario, m, sum})
		}
	}
	return all
}

func (c *Cell) instants(rests []time.Duration) []Instant {
	var all []Instant
	for i, after := range rests {
		var pss, rss []float64
		for _, p := range c.Processes {
			cycles := p.run.Memory.Cycles
			if len(cycles) == 0 || len(cycles[len(cycles)-1].Rests) <= i {
				continue
			}
			r := cycles[len(cycles)-1].Rests[i]
			rss = append(rss, float64(r.RSS))
			if r.PSS != nil {
				pss = append(pss, float64(*r.PSS))
			}
		}
		at := Instant{Target: c.Target, Scenario: c.Scenario, After: after}
		var ok bool
		if at.RSS, ok = summary(rss); !ok {
			continue
		}
		if sum, ok := summary(pss); ok {
			at.PSS = &sum
		}
		all = append(all, at)
	}
	return all
}

// growth judges each process by itself: between processes memory differs by more
// than a cycle adds.
func (c *Cell) growth(r record.MemoryRules) Growth {
	g := Growth{Target: c.Target, Scenario: c.Scenario, Of: "pss_bytes"}
	for _, p := range c.Processes {
		one := ProcessGrowth{Step: p.Step.Key(), P: 1}
		one.Bytes, g.Of = resting(p.run.Memory.Cycles)
		logs, at := make([]float64, len(one.Bytes)), make([]float64, len(one.Bytes))
		for i, b := range one.Bytes {
			logs[i], at[i] = math.Log(b), float64(i)
		}
		if slope, ok := stats.TheilSen(at, logs); ok {
			one.Slope = math.Expm1(slope)
		}
		if t, ok := stats.MannKendall(one.Bytes); ok {
			one.P = t.P
		}
		if one.Slope > r.GrowthMin && one.P < r.GrowthP {
			g.Seen++
		}
		g.Cycles = len(one.Bytes)
		g.Processes = append(g.Processes, one)
	}
	switch {
	case g.Cycles < r.GrowthCycles:
		g.Trend, g.Seen = NotJudged, 0
	case 2*g.Seen > len(g.Processes):
		g.Trend = Growing
	case g.Seen == 0:
		g.Trend = NoTrend
	default:
		g.Trend = Undecided
	}
	return g
}

// resting is the memory at the last rest of each cycle.
func resting(cycles []record.MemoryCycle) (bytes []float64, of string) {
	of = "pss_bytes"
	for _, c := range cycles {
		if n := len(c.Rests); n == 0 || c.Rests[n-1].PSS == nil {
			of = "rss_bytes"
		}
	}
	for _, c := range cycles {
		if n := len(c.Rests); n > 0 && of == "pss_bytes" {
			bytes = append(bytes, float64(*c.Rests[n-1].PSS))
		} else if n > 0 {
			bytes = append(bytes, float64(c.Rests[n-1].RSS))
		}
	}
	return bytes, of
}

// memoryGrows names the targets that keep more with each cycle.
func memoryGrows(s *record.Session, e *Evaluation) []record.Finding {
	if e.Memory == nil {
		return nil
	}
	var all []record.Finding
	r := s.Plan.Rules.Memory
	for _, g := range e.Memory.Growth {
		if g.Trend != Growing && g.Trend != Undecided {
			continue
		}
		f := record.Finding{
			Code: "memory-grows", Severity: record.Warn,
			Threshold: fmt.Sprintf("%s %% a cycle at p < %g", digits(100*r.GrowthMin), r.GrowthP),
			Text:      fmt.Sprintf("%s: memory at rest grows from cycle to cycle in %d of %s", g.Target, g.Seen, count(len(g.Processes), "process")),
			Hint:      "more cycles tell a leak from a heap that is still finding its size",
		}
		var seen []string
		for _, p := range g.Processes {
			f.Steps = append(f.Steps, p.Step)
			seen = append(seen, fmt.Sprintf("%+.1f %% a cycle, p %.2g", 100*p.Slope, p.P))
		}
		f.Observed = strings.Join(seen, "; ")
		all = append(all, f)
	}
	return all
}
