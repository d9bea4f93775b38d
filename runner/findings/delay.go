package findings

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Dilution is what becomes of the difference between two servers when every request also
// waits for others. In the closed loop both have the same connections: waiting ones ask
// for nothing, so the wait bounds the rate of both, and hides that one could do more. In
// the open loop both are asked equally often: there the wait is added to both latencies,
// and CPU per request is what a wait costs a server.
type Dilution struct {
	Arm  string        `json:"arm"`
	Base string        `json:"base"`
	Rows []DilutionRow `json:"rows"` // by level
	// The levels from which on, at each and all above, the ratio is within its margin with
	// the whole of its 95 % interval; absent where it is so at no level, or at none after
	// one where it is not.
	RateFrom *float64 `json:"rate_from,omitempty"`
	P99From  *float64 `json:"p99_from,omitempty"`
	CPUFrom  *float64 `json:"cpu_from,omitempty"`
}

// DilutionRow is a level. The ratios are arm / base by block, medians with their interval.
type DilutionRow struct {
	Level  float64       `json:"level"`
	Waited time.Duration `json:"waited_ns"` // by a request at least: one wait after the other, or the longest
	// Share of the median response time that is such waiting, in the open loop.
	Share     *float64  `json:"waited_ratio,omitempty"`
	BaseShare *float64  `json:"base_waited_ratio,omitempty"`
	Rate      *Interval `json:"rate_ratio,omitempty"` // closed loop
	P99       *Interval `json:"p99_ratio,omitempty"`  // open loop
	P99By     *Interval `json:"p99_difference_ns,omitempty"`
	CPU       *Interval `json:"server_cpu_ratio,omitempty"` // open loop
}

// dilutions are those of the arms with a base, in a sweep of waits.
func dilutions(s *record.Session, e *Evaluation) []Dilution {
	if e.Scale == nil || s.Plan.Scale == nil || s.Plan.Rules.Scale == nil || s.Plan.Rules.Scale.Dilution == nil {
		return nil
	}
	rules := *s.Plan.Rules.Scale.Dilution
	var all []Dilution
	for _, a := range e.Scale.Arms {
		if a.Base == "" {
			continue
		}
		d := Dilution{Arm: a.Arm, Base: a.Base}
		for _, pt := range s.Plan.Scale.Points {
			if t, ok := s.Plan.Target(pt.Target); ok && pt.Arm == a.Arm && t.Base != "" {
				d.Rows = append(d.Rows, dilutionAt(pt, t, e.Cells))
			}
		}
		d.RateFrom = from(d.Rows, func(r DilutionRow) bool { return alike(r.Rate, rules.RateMargin) })
		d.CPUFrom = from(d.Rows, func(r DilutionRow) bool { return alike(r.CPU, rules.CPUMargin) })
		d.P99From = from(d.Rows, func(r DilutionRow) bool {
			return alike(r.P99, rules.P99Margin) || smaller(r.P99By, float64(rules.P99Floor))
		})
		all = append(all, d)
	}
	return all
}

func dilutionAt(pt record.ScalePoint, t record.Target, cells []Cell) DilutionRow {
	load, open := find(cells, t.Name, pt.Load), find(cells, t.Name, pt.Open)
	baseLoad, baseOpen := find(cells, t.Base, pt.Load), find(cells, t.Base, pt.Open)
	r := DilutionRow{Level: pt.Level, Waited: waits(t)}
	r.Share, r.BaseShare = shareOf(r.Waited, open), shareOf(r.Waited, baseOpen)
	r.Rate = intervalOf(byBlock(load, baseLoad, Rate))
	r.P99, r.CPU = intervalOf(byBlock(open, baseOpen, P99)), intervalOf(byBlock(open, baseOpen, ServerCPU))
	r.P99By = intervalOf(lessByBlock(open, baseOpen, P99))
	return r
}

// waits is the least that a request of a target waits, by what it was told in DELAY_MS.
func waits(t record.Target) (least time.Duration) {
	for _, e := range t.Env {
		setting, ok := strings.CutPrefix(e, "DELAY_MS=")
		if !ok {
			continue
		}
		least = 0
		for _, text := range strings.FieldsFunc(setting, func(r rune) bool { return r == '+' || r == '/' }) {
			ms, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return 0
			}
			wait := time.Duration(ms) * time.Millisecond
			if strings.Contains(setting, "/") {
				least = max(least, wait)
			} else {
				least += wait
			}
		}
	}
	return least
}

func shareOf(waited time.Duration, c *Cell) *float64 {
	sum, ok := c.Summary[P50]
	if !ok || !(sum.Median > 0) {
		return nil
	}
	share := float64(waited) / sum.Median
	return &share
}

// lessByBlock pairs by block and subtracts, in the order of c's runs.
func lessByBlock(c, base *Cell, m Metric) []float64 {
	of := map[int]float64{}
	for _, p := range base.Processes {
		if v, ok := p.Values[m]; ok {
			of[p.Step.Block] = v
		}
	}
	var xs []float64
	for _, p := range c.Processes {
		v, ok := p.Values[m]
		if b, both := of[p.Step.Block]; ok && both {
			xs = append(xs, v-b)
		}
	}
	return xs
}

// alike: twice as much and half as much are equally far from 1, as in every verdict.
func alike(i *Interval, margin float64) bool {
	return i != nil && i.Reached && i.Lo > 1/(1+margin) && i.Hi < 1+margin
}

func smaller(i *Interval, floor float64) bool {
	return i != nil && i.Reached && math.Abs(i.Lo) < floor && math.Abs(i.Hi) < floor
}

// from is the lowest level from which on all are good.
func from(rows []DilutionRow, good func(DilutionRow) bool) *float64 {
	var at *float64
	for i := len(rows) - 1; i >= 0 && good(rows[i]); i-- {
		at = &rows[i].Level
	}
	return at
}
