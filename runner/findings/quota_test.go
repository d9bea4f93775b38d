package findings_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// quotaSession has 6 blocks of windows of 800 ms at two quotas. The kernel counts 8 periods
// a window; go is throttled in 4 of them at 0.5 and in none at 2, go-machine in 8 and 2.
func quotaSession(t *testing.T) *record.Session {
	t.Helper()
	cpus := plan.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{2, 3}, K: 2}
	p, err := plan.NewScale(plan.ScaleOptions{CPUs: cpus, Factor: plan.Quotas([]float64{0.5, 2}), Targets: []string{"go", "go-machine"}, Seed: 1, Repeats: 6})
	if err != nil {
		t.Fatal(err)
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, Plan: *p, Finished: time.Unix(9, 0)}
	throttled := map[string]uint64{"go-0.5cpu": 4, "go-2cpu": 0, "go-machine-0.5cpu": 8, "go-machine-2cpu": 2}
	answers := map[string]uint64{"go-0.5cpu": 4000, "go-2cpu": 16000, "go-machine-0.5cpu": 3000, "go-machine-2cpu": 16000}
	runs := map[string]int{"go-0.5cpu": 1, "go-2cpu": 2, "go-machine-0.5cpu": 2, "go-machine-2cpu": 2}
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		if sc.Kind == record.Memory {
			continue
		}
		periods, stops, stopped := uint64(8), throttled[st.Target], time.Duration(throttled[st.Target])*40*time.Millisecond
		n := answers[st.Target] + uint64(st.Block) // a little other in each block
		s.Runs = append(s.Runs, record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Done,
			Settings: &record.Settings{Runtime: "go", Version: "go1.26.8", GOMAXPROCS: runs[st.Target]},
			Load:     &record.LoadResult{Kind: record.Closed, Connections: 50, Window: 800 * time.Millisecond, Counts: record.Counts{Planned: n, OK: n, InWindow: n}},
			Group:    &record.Group{Version: 1, Window: &record.GroupCounts{Periods: &periods, Throttled: &stops, ThrottledFor: &stopped}}})
	}
	return s
}

func TestQuotas(t *testing.T) {
	e := findings.Evaluate(quotaSession(t))
	rows := map[string]findings.QuotaRow{}
	for _, r := range e.Quotas {
		rows[r.Target] = r
	}
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	// 4 of 8 periods; 4 x 40 ms in 0.8 s; 8 of 8, 400 ms a second; 3000 / 4000 of the rate.
	a, b := rows["go-0.5cpu"], rows["go-machine-0.5cpu"]
	if a.Throttled.Value != 0.5 || math.Abs(a.Stopped.Value-200e6) > 1 || a.Runs != 1 || a.CPUs != 0.5 || !a.Throttled.Reached || a.Against != "" {
		t.Errorf("matched: %+v", a)
	}
	if b.Throttled.Value != 1 || math.Abs(b.Stopped.Value-400e6) > 1 || b.Runs != 2 || b.Against != "go" || math.Abs(b.RateRatio.Value-0.75) > 0.001 {
		t.Errorf("by the machine's CPUs: %+v", b)
	}
	if c := rows["go-2cpu"]; c.Throttled.Value != 0 || c.Stopped.Value != 0 {
		t.Errorf("without a stop: %+v", c)
	}
	for _, arm := range e.Scale.Arms {
		for _, r := range arm.Rows {
			if want := strings.HasSuffix(r.Target, "-0.5cpu"); (r.Limit == findings.ByQuota) != want {
				t.Errorf("%s is limited by %q", r.Target, r.Limit)
			}
		}
	}
	if len(e.Scale.Arms) != 2 || e.Scale.Arms[0].Law != nil {
		t.Errorf("%+v: a law of quotas", e.Scale.Arms[0].Law)
	}
}
