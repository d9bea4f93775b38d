package plan

import (
	"time"

	"gonogo/runner/record"
)

// questions are the primary metrics with their margins, fixed before any run
// (method S6): what lies inside a margin does not matter to anybody who pays for
// a rewrite. The absolute floors keep a ratio of two tiny numbers from mattering.
var questions = []record.Primary{
	{Metric: "rate_per_sec", Scenario: getFew, HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
	{Metric: "rate_per_sec", Scenario: getMany, HigherIsBetter: true, MarginRatio: 0.05, ServerBound: true},
	{Metric: "server_cpu_ns_per_request", Scenario: getOpen, MarginRatio: 0.05},
	{Metric: "p99_ns", Scenario: getOpen, MarginRatio: 0.10, Floor: float64(500 * time.Microsecond)},
	{Metric: "load_pss_bytes", Scenario: memoryOpen, MarginRatio: 0.10, Floor: 5 << 20},
}

// primary asks every question of every target that has a base. Where server and
// generator share CPUs, rate and latency are of the two together: only CPU per
// request and memory are asked.
func primary(p *record.Plan) []record.Primary {
	var family []record.Primary
	for _, t := range p.Targets {
		if t.Base == "" || t.Twin {
			continue
		}
		for _, q := range questions {
			if t.Shared() && (q.Metric == "rate_per_sec" || q.Metric == "p99_ns") {
				continue
			}
			q.Target, q.Base = t.Name, t.Base
			family = append(family, q)
		}
	}
	return family
}
