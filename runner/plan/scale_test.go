package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

var sweepCPUs = CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}

func TestScaleOverConnections(t *testing.T) {
	o := ScaleOptions{CPUs: sweepCPUs, Factor: Connections([]float64{1, 10, 50, 100, 300, 1000, 3000}), Targets: []string{"go-1", "node-1", "node-cluster-2"}, Seed: 3, Repeats: 6}
	p, err := NewScale(o)
	if err != nil {
		t.Fatal(err)
	}
	s := record.Session{SchemaVersion: record.SchemaVersion, Plan: *p}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	// 3 targets x 7 levels x (load, memory) x 6, and within the eight minutes that it may take.
	if len(p.Steps) != 252 || len(p.Scenarios) != 14 || len(p.Targets) != 3 || len(p.Scale.Points) != 21 || p.Expected > 8*time.Minute {
		t.Errorf("%d steps of %d scenarios and %d targets, %d points, %v", len(p.Steps), len(p.Scenarios), len(p.Targets), len(p.Scale.Points), p.Expected)
	}
	for _, pt := range p.Scale.Points {
		load, _ := p.Scenario(pt.Load)
		held, _ := p.Scenario(pt.Memory)
		if load.Connections != int(pt.Level) || held.Connections != int(pt.Level) || load.Kind != record.Closed || held.Kind != record.Memory || pt.Target != pt.Arm || held.RateOfCapacity != scaleShare {
			t.Errorf("%+v: %+v, %+v", pt, load, held)
		}
	}
	seen := map[string]int{}
	for _, st := range p.Steps {
		seen[st.Target+st.Scenario]++
	}
	for what, n := range seen {
		if n != 6 {
			t.Errorf("%s runs %d times, want once in each of 6 blocks", what, n)
		}
	}
	o.Seed = 4
	if q, _ := NewScale(o); slices.Equal(q.Steps, p.Steps) {
		t.Error("another seed, the same order")
	}
}

func TestScaleOverCores(t *testing.T) {
	sets := map[int]CPUPair{1: {[]int{0}, []int{1}}, 2: {[]int{0, 1}, []int{0, 1}}}
	p, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: Cores([]float64{1, 2}, sets), Seed: 3, Repeats: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]record.Target{
		"go-2":           {Base: "node-cluster-2", Env: []string{"GOMAXPROCS=2"}, Workers: 2, CPUs: []int{0, 1}, GeneratorCPUs: []int{0, 1}},
		"node-cluster-1": {Env: []string{"WORKERS=1"}, Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}},
	} {
		got, ok := p.Target(name)
		if !ok || got.Base != want.Base || !slices.Equal(got.Env, want.Env) || got.Workers != want.Workers || !slices.Equal(got.CPUs, want.CPUs) || !slices.Equal(got.GeneratorCPUs, want.GeneratorCPUs) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if len(p.Scenarios) != 2 || len(p.Targets) != 4 || len(p.Steps) != 16 || p.Scale.Points[3] != (record.ScalePoint{Arm: "node-cluster", Level: 2, Target: "node-cluster-2", Load: "load", Memory: "memory"}) {
		t.Errorf("%d scenarios, %d targets, %d steps, %+v", len(p.Scenarios), len(p.Targets), len(p.Steps), p.Scale.Points)
	}
	if _, err := NewScale(ScaleOptions{Factor: Cores([]float64{1, 4}, sets), Repeats: 1}); err == nil {
		t.Error("no error for four cores of a machine that has two")
	}
}

// Another factor is its data and functions alone.
func TestScaleOverAnotherFactor(t *testing.T) {
	delay := Factor{Name: "delay_ms", Levels: []float64{0, 5}, Default: []string{"go-1", "node-1"},
		Target: func(arm record.Target, level float64) (record.Target, error) {
			arm.Env = append(slices.Clone(arm.Env), fmt.Sprintf("DELAY_MS=%g", level))
			return arm, nil
		},
		Label: func(level float64) string { return fmt.Sprintf("%gms", level) }}
	p, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: delay, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := p.Target("go-1-5ms"); !ok || x.Base != "node-1-5ms" || !slices.Contains(x.Env, "DELAY_MS=5") || !slices.Contains(x.Env, "GOMAXPROCS=1") || len(p.Targets) != 4 || len(p.Scenarios) != 2 {
		t.Errorf("%+v of %+v", x, p.Targets)
	}
	if y, _ := p.Target("go-1-0ms"); slices.Contains(y.Env, "DELAY_MS=5") {
		t.Error("one level's environment is in another's")
	}
}

func TestScaleRefuses(t *testing.T) {
	for _, levels := range [][]float64{nil, {1}, {2, 1}, {1, 1, 2}} {
		if _, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: Connections(levels), Repeats: 1}); err == nil || !strings.Contains(err.Error(), "ascending") {
			t.Errorf("%v: %v", levels, err)
		}
	}
	_, err := NewScale(ScaleOptions{CPUs: sweepCPUs, Factor: Connections([]float64{1, 2}), Targets: []string{"php-1"}, Repeats: 1})
	if unknown := (*UnknownTarget)(nil); !errors.As(err, &unknown) {
		t.Errorf("%v, want an unknown target", err)
	}
}
