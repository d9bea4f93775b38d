package findings

import (
	"fmt"
	"math"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// canary: a fixed loop is timed before each group of runs. Where it leaves its
// median the processor had another speed, whoever took it: pairs, which run side
// by side, share that, and absolute numbers do not (method E3). It warns and voids
// nothing, for on a shared machine it would void most of a session whose ratios
// stand.
func canary(s *record.Session, _ *Evaluation) []record.Finding {
	limit := s.Plan.Rules.Machine.Canary.Warn
	var times []float64
	for _, r := range s.Runs {
		if r.Canary != nil {
			times = append(times, float64(*r.Canary))
		}
	}
	median, ok := stats.Median(times)
	if !ok || limit <= 0 {
		return nil
	}
	off, worst := 0, 0.0
	for _, t := range times {
		d := t/median - 1
		if math.Abs(d) > limit*(1+1e-9) {
			off++
		}
		if math.Abs(d) > math.Abs(worst) {
			worst = d
		}
	}
	if off == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "canary", Severity: record.Warn,
		Observed:  fmt.Sprintf("%d of %s off, the farthest by %+.0f %%", off, count(len(times), "group"), 100*worst),
		Threshold: fmt.Sprintf("within %.0f %% of their median", 100*limit),
		Text:      "the processor changed its speed during the session: compare ratios, not absolute numbers",
		Hint:      "set the governor to performance, let it cool, end what else runs, take a dedicated machine",
	}}
}
