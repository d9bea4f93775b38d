package page

import (
	"strconv"

	"gonogo/runner/findings"
)

// quotas is the table of CPU quotas, a row an arm and level.
func (v view) quotas() table {
	if len(v.e.Quotas) == 0 {
		return table{}
	}
	t := table{Head: []string{"arm", "CPUs", "runs on", "rate, /s", "from", "to", "p99, ms", "CPU/req, µs", "throttled, %", "stopped, ms/s", "against", "rate ratio", "p99 ratio"}}
	for _, r := range v.e.Quotas {
		n := func(metric, stat string, number float64, u unit) value {
			return value{Text: digits(number / u.divisor), Number: number, Target: r.Target, Scenario: r.Load, Metric: metric, Stat: stat}
		}
		of := func(metric string, i *findings.Interval, u unit) value {
			if i == nil {
				return text("–")
			}
			return n(metric, "median", i.Value, u)
		}
		runs, from, to := text("–"), text("–"), text("–")
		if r.Runs > 0 {
			runs = n("runs_on", "value", float64(r.Runs), unit{"", 1})
		}
		if r.Rate != nil {
			from, to = n("rate_per_sec", "lo", r.Rate.Lo, perSecond), n("rate_per_sec", "hi", r.Rate.Hi, perSecond)
		}
		t.Rows = append(t.Rows, []value{text(r.Arm), text(strconv.FormatFloat(r.CPUs, 'f', -1, 64)), runs, of("rate_per_sec", r.Rate, perSecond), from, to, of("p99_ns", r.P99, millis),
			of("server_cpu_ns_per_request", r.CPU, micros), of("throttled_ratio", r.Throttled, percent), of("stopped_ns_per_sec", r.Stopped, millis), text(r.Against),
			of("rate_ratio", r.RateRatio, unit{"", 1}), of("p99_ratio", r.P99Ratio, unit{"", 1})})
	}
	return t
}
