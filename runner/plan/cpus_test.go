package plan

import (
	"strings"
	"testing"

	"gonogo/runner/record"
)

// The matched arms have ceil(quota) threads or workers; the others are told nothing, and
// every arm has the quota.
func TestScaleOverQuotas(t *testing.T) {
	p, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: Quotas([]float64{0.5, 1, 1.5, 2}), Seed: 3, Repeats: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&record.Session{SchemaVersion: record.SchemaVersion, Plan: *p}).Validate(); err != nil {
		t.Error(err)
	}
	if len(p.Targets) != 5*4 || len(p.Steps) != 5*4*2*2 || p.Scale.Factor != QuotaFactor {
		t.Errorf("%d targets, %d steps of factor %s", len(p.Targets), len(p.Steps), p.Scale.Factor)
	}
	for name, want := range map[string]struct {
		cpus    float64
		workers int
		env     string
		base    string
	}{
		"go-0.5cpu":                   {0.5, 1, "GOMAXPROCS=1", "node-cluster-0.5cpu"},
		"go-1.5cpu":                   {1.5, 2, "GOMAXPROCS=2", "node-cluster-1.5cpu"},
		"go-default-1cpu":             {1, 0, "", "go-1cpu"},
		"go-machine-1cpu":             {1, 0, "GODEBUG=containermaxprocs=0", "go-1cpu"},
		"node-cluster-2cpu":           {2, 2, "WORKERS=2", ""},
		"node-cluster-machine-0.5cpu": {0.5, 0, "", "node-cluster-0.5cpu"},
	} {
		x, ok := p.Target(name)
		if !ok || x.Group == nil || x.Group.CPUs != want.cpus || x.Workers != want.workers || strings.Join(x.Env, " ") != want.env || x.Base != want.base || len(x.CPUs) != 2 {
			t.Errorf("%s: %+v of group %+v, want %+v", name, x, x.Group, want)
		}
	}
	for _, levels := range [][]float64{{1, 3}, {0, 1}, {1, 0.5}, {1}} {
		if _, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: Quotas(levels), Repeats: 1}); err == nil {
			t.Errorf("quotas %v on two CPUs are planned", levels)
		}
	}
}
