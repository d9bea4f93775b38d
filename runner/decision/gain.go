package decision

import (
	"slices"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Gain is by how much a whole request gets cheaper (method P3, after Amdahl):
//
//	gain(W) = (W + base) / (W + ratio x base)
//
// with W what a request needs beside the server's own share, and base that share
// with the base, both >= 0 and in one unit, and ratio that of target to base. Its
// low end is at the high end of the ratio. 1 means that nothing changes; as W grows
// gain goes to 1, from whichever side.
func Gain(w, base float64, ratio record.Span) record.Span {
	at := func(r float64) float64 { return (w + base) / (w + r*base) }
	return record.Span{Value: at(ratio.Value), Lo: at(ratio.Hi), Hi: at(ratio.Lo)}
}

// gains are the table over own work, of CPU time and of p99. Waiting for others
// takes no CPU, so I/O dilutes latency alone.
func (m *matter) gains(in record.DecisionInputs) []record.Gain {
	own := slices.Clone(m.rules.OwnWork)
	if in.OwnCPU != nil {
		own = append(own, milliseconds(*in.OwnCPU))
	}
	var io time.Duration
	if in.OwnIO != nil {
		io = milliseconds(*in.OwnIO)
	}
	var all []record.Gain
	for _, rule := range m.rules.Pairs {
		for _, metric := range []findings.Metric{findings.ServerCPU, findings.P99} {
			p := m.pair(rule, metric)
			ratio, ok := p.interval()
			if !ok {
				continue
			}
			for i, w := range own {
				g := record.Gain{Metric: string(metric), Target: rule.Target, Base: rule.Base, CPU: w, Yours: i == len(m.rules.OwnWork)}
				if metric == findings.P99 {
					g.IO = io
				}
				g.Gain = Gain(float64(g.CPU+g.IO), p.base, ratio)
				all = append(all, g)
			}
		}
	}
	return all
}

// milliseconds makes a duration of what a user wrote. It stops at 73 years, so
// that CPU and I/O can be added.
func milliseconds(ms float64) time.Duration {
	const most = float64(1 << 61)
	return time.Duration(min(ms*float64(time.Millisecond), most))
}
