package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// How the waits of a fan-out follow each other; they end the names of its arms.
const (
	inSeries = "-series"
	atOnce   = "-parallel"
)

// delayMax and waitsMax are what the servers take of DELAY_MS.
const delayMax, waitsMax = 900, 16

// delayRate is the open-loop rate at all levels: a fraction of what either server can do
// on one core of any machine, so that neither queues, and enough for a p99 of each run.
const delayRate = 2000

// Delay is how long every request waits for others, by timers in the server: levels are
// milliseconds of one wait. With a fan-out of more than one wait each arm is there twice,
// with its waits one after the other and at once. In the closed loop the connections are
// the same at all levels, and bound the rate (Little's law); in the open loop the rate is.
func Delay(levels []float64, fanOut int) (Factor, error) {
	if fanOut < 1 || fanOut > waitsMax {
		return Factor{}, fmt.Errorf("sweep delays: a fan-out of %d waits, want 1 to %d", fanOut, waitsMax)
	}
	for _, l := range levels {
		if l != math.Trunc(l) || l < 0 || l*float64(fanOut) > delayMax {
			return Factor{}, fmt.Errorf("sweep delays: %g ms, %d times, want whole milliseconds, and %d in all at most", l, fanOut, delayMax)
		}
	}
	f := Factor{
		Name: "delay_ms", Levels: levels, Default: []string{"go-1", "node-1"}, OpenRate: delayRate,
		Target: func(arm record.Target, level float64) (record.Target, error) {
			if setting := delaySetting(arm.Name, level, fanOut); setting != "" {
				arm.Env = append(slices.Clone(arm.Env), "DELAY_MS="+setting)
			}
			return arm, nil
		},
		Load: func(sc record.Scenario, level float64) record.Scenario {
			if sc.Kind == record.Open {
				// By Little's law so many wait at once at the longest delay, and half as many
				// again: a request that is due is not to wait for a connection.
				sc.Connections = max(sc.Connections, int(math.Ceil(1.5*delayRate*(slices.Max(levels)+1)/1000*float64(fanOut))))
			}
			return sc
		},
		Label: func(level float64) string { return strconv.FormatFloat(level, 'f', -1, 64) + "ms" },
	}
	if fanOut > 1 {
		f.Default = []string{"go-1" + inSeries, "node-1" + inSeries, "go-1" + atOnce, "node-1" + atOnce}
		f.Arms = fanned
	}
	return f, nil
}

// fanned has every target of a comparison twice, each paired with its like.
func fanned(c CPUSets) []record.Target {
	var arms []record.Target
	for _, suffix := range []string{inSeries, atOnce} {
		for _, t := range DefaultTargets(c) {
			if t.Twin {
				continue
			}
			if t.Name += suffix; t.Base != "" {
				t.Base += suffix
			}
			arms = append(arms, t)
		}
	}
	return arms
}

// delaySetting is DELAY_MS of an arm at a level; "" for none, which is the plain server.
func delaySetting(arm string, level float64, fanOut int) string {
	if level == 0 {
		return ""
	}
	separator := "+"
	if strings.HasSuffix(arm, atOnce) {
		separator = "/"
	}
	return strings.Join(slices.Repeat([]string{strconv.Itoa(int(level))}, fanOut), separator)
}

// dilutionRules are the margins of the verdicts of a comparison.
func dilutionRules() *record.DilutionRules {
	var r record.DilutionRules
	for _, q := range questions {
		switch q.Metric {
		case "rate_per_sec":
			r.RateMargin = q.MarginRatio
		case "server_cpu_ns_per_request":
			r.CPUMargin = q.MarginRatio
		case "p99_ns":
			r.P99Margin, r.P99Floor = q.MarginRatio, time.Duration(q.Floor)
		}
	}
	return &r
}
