package report

import (
	"strconv"

	"gonogo/runner/findings"
)

// quotas has a row an arm and quota; none of a session without quotas.
func (v view) quotas() grid {
	g := grid{title: "CPU QUOTAS", lead: []string{"A control group's quota, as a container's: a server that has used up its share of 100 ms is stopped until they are over. Runs on: GOMAXPROCS or workers, as the live process said. " +
		"Throttled: periods that ended so, of those in which it ran; stopped: for how long in a second, summed over CPUs. Ratios are to the arm named, at the same quota, paired by block."},
		columns: []heading{{name: "cpus"}, {name: "runs on"}, {name: "rate", unit: "k/s"}, {name: "95 %", text: true}, {name: "p99", unit: "ms"}, {name: "CPU/req", unit: "µs"},
			{name: "throttled", unit: "%"}, {name: "stopped", unit: "ms/s"}, {name: "rate ratio"}, {name: "95 %", text: true}, {name: "p99 ratio"}, {name: "95 %", text: true}}}
	arm := ""
	for _, r := range v.e.Quotas {
		runs := unknown
		if r.Runs > 0 {
			runs = strconv.Itoa(r.Runs)
		}
		x := row{cells: []cell{{text: level(r.CPUs)}, {text: runs}, {text: middleOf(r.Rate, kilo)}, {text: ends(r.Rate, kilo)}, {text: v.lateOf(r.P99)}, {text: middleOf(r.CPU, micros)},
			{text: middleOf(r.Throttled, percnt)}, {text: middleOf(r.Stopped, millis)}, {text: ratioOf(r, r.RateRatio)}, {text: ends(r.RateRatio, unit)}, {text: ratioOf(r, r.P99Ratio)}, {text: ends(r.P99Ratio, unit)}}}
		if r.Arm != arm {
			arm = r.Arm
			x.group = arm
			if r.Against != "" {
				x.group += " against " + r.Against
			}
		}
		g.rows = append(g.rows, x)
	}
	g.foot = []string{"go and node-cluster are told the quota, rounded up; go-default is Go's own default, which since 1.25 looks at the quota and is never below 2 where there are two CPUs; " +
		"go-machine is GODEBUG=containermaxprocs=0, as Go was before; node-cluster-machine has a worker for each CPU that Node sees."}
	return g
}

func ratioOf(r findings.QuotaRow, i *findings.Interval) string {
	if r.Against == "" {
		return "base"
	}
	return middleOf(i, unit)
}
