package findings

import (
	"strings"
	"testing"

	"gonogo/runner/record"
)

// TestUnsettledHint: what to do depends on what did not settle.
func TestUnsettledHint(t *testing.T) {
	p := record.Plan{Rules: record.Rules{Steady: steadyRules}} // 2 % of rates, 10 % of latencies, p 0.05
	for _, c := range []struct {
		kind  record.Kind
		drift float64
		p     float64
		want  string
	}{
		{record.Closed, 0.05, 0.01, "longer --budget"},
		{record.Closed, -0.05, 0.01, "gets slower under load"},
		{record.Closed, 0.05, 0.06, "without a drift"},
		{record.Closed, 0.019, 0.01, "without a drift"},
		{record.Open, 0.05, 0.01, "medians stand"}, // within the 10 % of latencies
		{record.Open, 0.15, 0.01, "longer --budget"},
	} {
		cell := Cell{Kind: c.kind}
		if got := cell.unsettledHint(&Warmup{Drift: c.drift, P: c.p}, p); !strings.Contains(got, c.want) {
			t.Errorf("%s, %g at p %g: %s", c.kind, c.drift, c.p, got)
		}
	}
}
