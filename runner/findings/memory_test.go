package findings

import (
	"math"
	"testing"
	"time"

	"gonogo/runner/record"
)

var memoryRules = record.MemoryRules{GrowthMin: 0.02, GrowthP: 0.05, GrowthCycles: 6, SamplerCostMax: 0.03}

// atRest is a process whose memory at rest is given in MiB.
func atRest(mib ...float64) Process {
	m := &record.MemoryWatch{}
	for _, v := range mib {
		pss := uint64(v * (1 << 20))
		m.Cycles = append(m.Cycles, record.MemoryCycle{Rests: []record.MemoryAt{{At: 1, MemoryReading: record.MemoryReading{RSS: 2 * pss}},
			{At: 30, MemoryReading: record.MemoryReading{RSS: 3 * pss, PSS: &pss}}}})
	}
	return Process{run: &record.Run{Memory: m}}
}

// 100 x 1.03^n by hand, a sawtooth, a heap that finds its size (each step half of
// the one before: Theil-Sen of the logarithms is 1.6 %, below 2 %).
var (
	leaking  = []float64{100, 103, 106.09, 109.2727, 112.550881, 115.92740743}
	sawtooth = []float64{100, 110, 100, 110, 100, 110}
	settling = []float64{90, 95, 97.5, 98.75, 99.375, 99.6875}
	shorter  = []float64{100, 103, 106.09, 109.2727, 112.550881}
)

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  [][]float64
		seen  int
		trend Trend
	}{
		{"+3 % a cycle", [][]float64{leaking}, 1, Growing},
		{"+3 % a cycle in two of three", [][]float64{leaking, sawtooth, leaking}, 2, Growing},
		{"in one of three", [][]float64{sawtooth, leaking, sawtooth}, 1, Undecided},
		{"in one of two", [][]float64{leaking, sawtooth}, 1, Undecided},
		{"sawtooth", [][]float64{sawtooth, sawtooth}, 0, NoTrend},
		{"settling", [][]float64{settling}, 0, NoTrend},
		{"shrinking by 3 %", [][]float64{{115.92740743, 112.550881, 109.2727, 106.09, 103, 100}}, 0, NoTrend},
		{"five cycles carry no claim", [][]float64{shorter}, 0, NotJudged},
	} {
		cell := Cell{Target: "go-1"}
		for _, r := range c.runs {
			cell.Processes = append(cell.Processes, atRest(r...))
		}
		if g := cell.growth(memoryRules); g.Trend != c.trend || g.Seen != c.seen || g.Of != "pss_bytes" {
			t.Errorf("%s: %q, seen in %d, of %s; want %q in %d", c.name, g.Trend, g.Seen, g.Of, c.trend, c.seen)
		}
	}
	cell := Cell{Processes: []Process{atRest(leaking...)}}
	one := cell.growth(memoryRules).Processes[0]
	if math.Abs(one.Slope-0.03) > 1e-6 || math.Abs(one.P-2.0/720) > 1e-12 { // of 6! orders only one rises throughout, and one falls
		t.Errorf("slope %v, p %v, want 0.03 and 2/720", one.Slope, one.P)
	}
	for i := range cell.Processes[0].run.Memory.Cycles {
		cell.Processes[0].run.Memory.Cycles[i].Rests[1].PSS = nil
	}
	if g := cell.growth(memoryRules); g.Of != "rss_bytes" || g.Processes[0].Bytes[0] != 300<<20 {
		t.Errorf("without PSS: %+v", g)
	}
}

// pairsOf are loads of 1000 requests in pairs with and without the sampler, ABBA:
// with it a load takes slower times as long, and costs dearer times as much CPU.
func pairsOf(n int, slower, dearer float64) Process {
	m := &record.MemoryWatch{}
	for i := range 2 * n {
		wobble := 1 + 0.002*float64(i%3) // so that no two pairs are equal
		c := record.MemoryCycle{Counts: record.Counts{Planned: 1000, OK: 1000}, Took: time.Duration(wobble * 1e9),
			ServerCPU: &record.CPUTime{User: time.Duration(wobble * 5e8)}}
		if i%4 == 0 || i%4 == 3 {
			c.Reads, c.Took, c.ServerCPU.User = 2, time.Duration(float64(c.Took)*slower), time.Duration(float64(c.ServerCPU.User)*dearer)
		}
		m.Cycles = append(m.Cycles, c)
	}
	return Process{run: &record.Run{Memory: m}}
}

func TestSamplerCost(t *testing.T) {
	for _, c := range []struct {
		name           string
		runs           []Process
		pairs          int
		seen, above    bool
		text           string
		rate, cpuRatio float64
	}{
		{"free", []Process{pairsOf(4, 1, 1), pairsOf(4, 1, 1)}, 8, false, false, "reading memory costs less than 3.00 %", 1, 1},
		{"a tenth of the rate", []Process{pairsOf(4, 1.10, 1), pairsOf(4, 1.10, 1)}, 8, true, true, "reading memory costs more than 3.00 %", 0.909, 1},
		{"a tenth of the CPU", []Process{pairsOf(8, 1, 1.10)}, 8, true, true, "reading memory costs more than 3.00 %", 1, 1.10},
		{"one percent", []Process{pairsOf(12, 1.01, 1.01)}, 12, true, false, "reading memory costs something, and less than 3.00 %", 0.990, 1.01},
		{"three pairs", []Process{pairsOf(3, 1.5, 1.5)}, 3, false, false, "not known: too few pairs for a 95 % interval", 0.667, 1.5},
	} {
		cost := (&Cell{Target: "go-1", Processes: c.runs}).samplerCost(memoryRules.SamplerCostMax)
		if cost.Pairs != c.pairs || cost.Seen != c.seen || cost.Above != c.above || cost.Text != c.text {
			t.Errorf("%s: %+v, rate %+v, CPU %+v", c.name, cost, cost.Rate, cost.CPU)
		}
		if math.Abs(cost.Rate.Value-c.rate) > 0.004 || math.Abs(cost.CPU.Value-c.cpuRatio) > 0.004 {
			t.Errorf("%s: rate x%.3f, CPU x%.3f, want %.3f and %.3f", c.name, cost.Rate.Value, cost.CPU.Value, c.rate, c.cpuRatio)
		}
	}
	// A system that tells no CPU time leaves the rate.
	p := pairsOf(8, 1.2, 1)
	for i := range p.run.Memory.Cycles {
		p.run.Memory.Cycles[i].ServerCPU = nil
	}
	if cost := (&Cell{Processes: []Process{p}}).samplerCost(0.03); cost.CPU != nil || !cost.Above {
		t.Errorf("without CPU time: %+v", cost)
	}
}
