package report

import (
	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// detail are the tables that the page has no room for: every range.
func (v view) detail() []grid {
	v.ms = digits
	latency, cost, memory := v.latencyColumns(), v.costColumns(), v.memoryDetailColumns()
	all := []grid{
		{title: "Latency: median (min..max) over fresh processes", columns: headings(latency)},
		{title: "Rate and CPU: median (min..max) over fresh processes; busy is the share of the CPUs it may use", columns: headings(cost)},
		{title: "Memory: median (min..max) over fresh processes", columns: headings(memory)},
	}
	for _, sc := range v.s.Plan.Scenarios {
		if sc.Kind == record.Memory {
			all[2].add(sc.Name, v.cells(sc), memory)
			continue
		}
		all[0].add(sc.Name, v.cells(sc), latency)
		all[1].add(sc.Name, v.cells(sc), cost)
	}
	return append(all, v.capacity())
}

func (v view) latencyColumns() []column {
	return []column{
		v.target(),
		v.bothLatency("p50", findings.P50),
		v.bothLatency("p90", findings.P90),
		v.bothLatency("p95", findings.P95),
		v.bothLatency("p99", findings.P99),
		v.bothLatency("p99.9", findings.P999),
		v.bothLatency("max", findings.Max),
	}
}

func (v view) costColumns() []column {
	return []column{
		v.target(),
		both("rate", "req/s", findings.Rate, unit),
		v.fullRatio("rate ratio", findings.Rate),
		both("server CPU", "µs/req", findings.ServerCPU, micros),
		v.fullRatio("CPU ratio", findings.ServerCPU),
		both("generator CPU", "µs/req", findings.GeneratorCPU, micros),
		both("server busy", "%", findings.ServerBusy, percnt),
		both("generator busy", "%", findings.GeneratorBusy, percnt),
		both("ready", "ms", findings.Ready, millis),
		cpus(),
	}
}

func (v view) memoryDetailColumns() []column {
	return []column{
		v.target(),
		both("idle PSS", "MiB", findings.IdlePSS, mebi),
		both("load PSS", "MiB", findings.LoadPSS, mebi),
		v.fullRatio("load PSS ratio", findings.LoadPSS),
		both("load USS", "MiB", findings.LoadUSS, mebi),
		both("load RSS", "MiB", findings.LoadRSS, mebi),
		both("end PSS", "MiB", findings.LoadEndPSS, mebi),
		both("end RSS", "MiB", findings.LoadEndRSS, mebi),
		both("rest PSS", "MiB", findings.RestPSS, mebi),
		both("peak RSS", "MiB", findings.Peak, mebi),
		cpus(),
	}
}

func (v view) fullRatio(name string, m findings.Metric) column {
	c := v.ratio(func(*findings.Cell) findings.Metric { return m }, func(s findings.Summary) string { return times(s, unit) })
	c.name = name
	return c
}
