package findings

import (
	"time"

	"gonogo/runner/record"
)

// QuotaRow is a server at a level of CPU quota: what the quota did to it.
type QuotaRow struct {
	Arm    string  `json:"arm"`
	CPUs   float64 `json:"cpus"`
	Target string  `json:"target"`
	Load   string  `json:"load"` // scenario
	// Runs is GOMAXPROCS or the number of workers, as the live process said; 0 is not known.
	Runs int `json:"runs_on,omitempty"`
	// Throttled is the share of the periods of 100 ms in which it ran that ended with the
	// quota used up; Stopped is for how long it was stopped in a second, summed over CPUs.
	Throttled *Interval `json:"throttled_ratio,omitempty"`
	Stopped   *Interval `json:"stopped_ns_per_sec,omitempty"`
	Rate      *Interval `json:"rate_per_sec,omitempty"`
	P99       *Interval `json:"p99_ns,omitempty"`
	CPU       *Interval `json:"server_cpu_ns_per_request,omitempty"`
	// RateRatio and P99Ratio are this / the arm that it is held against, at the same quota and
	// paired by block.
	Against   string    `json:"against,omitempty"`
	RateRatio *Interval `json:"rate_ratio,omitempty"`
	P99Ratio  *Interval `json:"p99_ratio,omitempty"`
}

// quotasOf are the rows of a session whose targets have quotas, in the order of the plan;
// none of another session.
func quotasOf(s *record.Session, cells []Cell) []QuotaRow {
	if s.Plan.Scale == nil {
		return nil
	}
	var all []QuotaRow
	for _, pt := range s.Plan.Scale.Points {
		t, _ := s.Plan.Target(pt.Target)
		if t.Group == nil || t.Group.CPUs == 0 {
			continue
		}
		c := find(cells, pt.Target, pt.Load)
		r := QuotaRow{Arm: pt.Arm, CPUs: t.Group.CPUs, Target: pt.Target, Load: pt.Load, Runs: runsOn(c),
			Rate: overProcesses(c, Rate), P99: overProcesses(c, P99), CPU: overProcesses(c, ServerCPU)}
		throttled, stopped := throttling(c)
		r.Throttled, r.Stopped = intervalOf(throttled), intervalOf(stopped)
		if b := find(cells, t.Base, pt.Load); b != nil && t.Base != "" {
			r.Against = baseArm(s, pt.Arm)
			r.RateRatio, r.P99Ratio = intervalOf(byBlock(c, b, Rate)), intervalOf(byBlock(c, b, P99))
		}
		all = append(all, r)
	}
	return all
}

// runsOn is what the processes of a cell said of themselves, if all said the same.
func runsOn(c *Cell) int {
	n := 0
	for _, p := range c.Processes {
		s := p.run.Settings
		if s == nil {
			return 0
		}
		k := s.Workers
		if s.Runtime == "go" {
			k = s.GOMAXPROCS
		}
		if n != 0 && k != n {
			return 0
		}
		n = k
	}
	return n
}

// throttling is what the kernel counted in the windows of a cell.
func throttling(c *Cell) (ratio, perSecond []float64) {
	for _, p := range c.Processes {
		g := p.run.Group
		if g == nil || g.Window == nil {
			continue
		}
		w := g.Window
		if w.Periods != nil && w.Throttled != nil && *w.Periods > 0 {
			ratio = append(ratio, float64(*w.Throttled)/float64(*w.Periods))
		}
		if w.ThrottledFor != nil && p.run.Load.Window > 0 {
			perSecond = append(perSecond, float64(*w.ThrottledFor)/p.run.Load.Window.Seconds())
		}
	}
	return ratio, perSecond
}

// mostPeriods is the share of periods from which on a quota is what limits: with fewer
// there was time that nobody took.
const mostPeriods = 0.5

// byQuota reports whether a quota limited the rate of a cell.
func byQuota(c *Cell) bool {
	ratio, _ := throttling(c)
	i := intervalOf(ratio)
	return i != nil && i.Value >= mostPeriods
}

// period is that of the kernel's quotas here.
const period = 100 * time.Millisecond

// fewPeriods says where a window has too few periods for a share of them.
func fewPeriods(s *record.Session, e *Evaluation) []record.Finding {
	if len(e.Quotas) == 0 {
		return nil
	}
	sc, _ := s.Plan.Scenario(e.Quotas[0].Load)
	const least = 5
	if sc.Window >= least*period {
		return nil
	}
	return []record.Finding{{Code: "few-periods", Severity: record.Warn, Observed: sc.Window.String(), Threshold: (least * period).String(),
		Text: "a window of so few periods of the quota says little of how often it was used up", Hint: "without --quick windows are longer"}}
}
