package findings

import (
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Summary condenses the values of a cell's processes. N counts processes.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// summary is absent for no values.
func summary(xs []float64) (Summary, bool) {
	median, ok := stats.Median(xs)
	if !ok {
		return Summary{}, false
	}
	lo, hi, _ := stats.MinMax(xs)
	return Summary{N: len(xs), Median: median, Min: lo, Max: hi}, true
}

func (c *Cell) summarize() {
	c.Summary = map[Metric]Summary{}
	for _, m := range Metrics {
		xs := c.Values(m)
		if isQuantile(m) && len(xs) < len(c.Processes) {
			continue
		}
		if s, ok := summary(xs); ok {
			c.Summary[m] = s
		}
	}
}

// Values are a metric's values in run order, of the processes that have it.
func (c *Cell) Values(m Metric) []float64 {
	var xs []float64
	for _, p := range c.Processes {
		if v, ok := p.Values[m]; ok {
			xs = append(xs, v)
		}
	}
	return xs
}

// Ratio compares a target with its base in one metric: target / base, block by
// block, so that what slows the machine down for a while slows both. The summary
// is over blocks; N counts the blocks in which both have a value.
type Ratio struct {
	Target   string `json:"target"`
	Base     string `json:"base"`
	Scenario string `json:"scenario"`
	Metric   Metric `json:"metric"`
	Summary
}

// compared are the metrics with a ratio. Latency is not among them: in a closed
// loop it is the rate once more (connections = rate x mean latency), and a faster
// server is asked more often.
var compared = []Metric{Rate, ServerCPU, LoadPSS}

func ratios(s *record.Session, cells []Cell) []Ratio {
	var all []Ratio
	for _, sc := range s.Plan.Scenarios {
		if s.Plan.Kind.Searched() { // each target has a rate, or a limit, of its own
			break
		}
		for _, t := range s.Plan.Targets {
			if t.Base == "" {
				continue
			}
			for _, m := range metricsOf(sc.Kind) {
				xs := byBlock(find(cells, t.Name, sc.Name), find(cells, t.Base, sc.Name), m)
				if sum, ok := summary(xs); ok {
					all = append(all, Ratio{t.Name, t.Base, sc.Name, m, sum})
				}
			}
		}
	}
	return all
}

// metricsOf leaves out rates and CPU under the memory sampler.
func metricsOf(k record.Kind) []Metric {
	if k == record.Memory {
		return compared[2:]
	}
	return compared[:2]
}

func find(cells []Cell, target, scenario string) *Cell {
	for i := range cells {
		if cells[i].Target == target && cells[i].Scenario == scenario {
			return &cells[i]
		}
	}
	return &Cell{}
}

// byBlock pairs by block and divides, in the order of c's runs.
func byBlock(c, base *Cell, m Metric) []float64 {
	of := map[int]float64{}
	for _, p := range base.Processes {
		if v, ok := p.Values[m]; ok && v > 0 {
			of[p.Step.Block] = v
		}
	}
	var xs []float64
	for _, p := range c.Processes {
		if v, ok := p.Values[m]; ok && of[p.Step.Block] > 0 {
			xs = append(xs, v/of[p.Step.Block])
		}
	}
	return xs
}
