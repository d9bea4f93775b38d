package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

func memoryOptions() MemoryOptions {
	return MemoryOptions{Seed: 1, Repeats: 3, Cycles: 3, Users: 100_000, BudgetMiB: 256,
		CPUs: CPUSets{One: []int{0}, OneGenerator: []int{2}, Many: []int{0, 1}, ManyGenerator: []int{2}, K: 2}}
}

func TestMemoryPlan(t *testing.T) {
	p, err := NewMemory(memoryOptions())
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != record.Memory || p.Decision != nil || len(p.Primary) > 0 || p.Probe != nil || len(p.Confirm) > 0 || p.Rules.Memory == nil {
		t.Errorf("a plan of memory alone asks what a comparison asks: %+v", p)
	}
	// 3 repeats x (8 targets store, 4 rest, 4 pair)
	if len(p.Steps) != 48 || p.Blocks != 3 {
		t.Errorf("%d steps in %d blocks, want 48 in 3", len(p.Steps), p.Blocks)
	}
	// By hand: 24 x (0.35 + 2 + 10 + 150) + 12 x (0.35 + 2 + 3 x (10 + 30)) + 12 x (0.35 + 2 + 9 x 5) s, and the contract.
	if want := contractTime + 24*162350*time.Millisecond + 12*122350*time.Millisecond + 12*47350*time.Millisecond; p.Expected != want {
		t.Errorf("expected %v, by hand %v", p.Expected, want)
	}
	rests := []time.Duration{time.Second, 30 * time.Second, 150 * time.Second}
	if w := p.Scenarios[0].Work; w.Requests != 100_000 || !w.Stores || !slices.Equal(w.Rests, rests) {
		t.Errorf("stored: %+v", w)
	}
	for name, env := range map[string]string{"go-1-budget": "GOMEMLIMIT=256MiB", "go-2-budget": "GOMEMLIMIT=256MiB", "go-1": ""} {
		target, _ := p.Target(name)
		if has := slices.Contains(target.Env, env); env != "" && !has || env == "" && strings.Contains(strings.Join(target.Env, " "), "GOMEMLIMIT") {
			t.Errorf("%s is told %v", name, target.Env)
		}
	}
	// 256 - 3 x 8 for one process, 128 - 3 x 8 for each of two workers.
	for name, old := range map[string]string{"node-1-budget": "--max-old-space-size=232", "node-cluster-2-budget": "--max-old-space-size=104"} {
		target, _ := p.Target(name)
		if len(target.Argv) != 4 || target.Argv[1] != old || target.Argv[2] != "--max-semi-space-size=8" {
			t.Errorf("%s is started by %v", name, target.Argv)
		}
	}
	if target, _ := p.Target("go-1-budget"); target.Base != "node-1-budget" {
		t.Errorf("go-1-budget is compared with %q", target.Base)
	}
	if n, _ := p.Target("node-1"); len(n.Argv) != 2 {
		t.Errorf("the default target was changed: %v", n.Argv)
	}
}

func TestMemoryPlanQuickAndRefused(t *testing.T) {
	o := memoryOptions()
	o.Quick = true
	o.Targets = []string{"go-1", "node-1"}
	p, err := NewMemory(o)
	if err != nil || len(p.Steps) != 8 || p.Expected > 90*time.Second || !p.Part {
		t.Errorf("quick: %d steps, %v, %v", len(p.Steps), p.Expected, err)
	}
	o.Targets = []string{"deno"}
	if _, err := NewMemory(o); err == nil || !strings.Contains(err.Error(), "deno") {
		t.Errorf("an unknown target: %v", err)
	}
	o = memoryOptions()
	o.BudgetMiB = 96 // 48 for each of two workers: no more than twice their young generation
	if _, err := NewMemory(o); err == nil || !strings.Contains(err.Error(), "node-cluster-2 48 MiB") {
		t.Errorf("a budget that V8 cannot keep to: %v", err)
	}
}
