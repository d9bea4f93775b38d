package findings

import (
	"math"
	"slices"
	"testing"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// variantSession has one closed scenario with a plain server, its twin and a variant,
// whose capacity times are given by block, and a CPU time in one open scenario.
func variantSession(metric Metric, target, base, twin []float64) (*record.Session, *Evaluation) {
	kind := map[Metric]record.Kind{CapacityTimeOf: record.Closed, ServerCPU: record.Open, P99: record.Open, LoadPSS: record.Memory}[metric]
	s := &record.Session{Plan: record.Plan{Kind: record.Variants, Scenarios: []record.Scenario{{Name: "x", Kind: kind}},
		Targets: []record.Target{{Name: "go-1"}, {Name: "go-1-twin", Base: "go-1", Twin: true}, {Name: "go-1+typed", Base: "go-1", Variant: "typed"}}}}
	e := &Evaluation{}
	for _, arm := range []struct {
		name   string
		values []float64
	}{{"go-1", base}, {"go-1-twin", twin}, {"go-1+typed", target}} {
		c := Cell{Target: arm.name, Scenario: "x", Kind: kind, Bound: serverBound}
		for b, v := range arm.values {
			m := metric
			if metric == CapacityTimeOf {
				m, v = Rate, 1e9/v
			}
			c.Processes = append(c.Processes, Process{Step: record.Step{Block: b + 1}, Values: map[Metric]float64{m: v}})
		}
		e.Cells = append(e.Cells, c)
	}
	return s, e
}

// The words by hand: ten blocks of 1 % noise, so that the twin's floor is about 1 %.
func TestMoved(t *testing.T) {
	wild := []float64{60, 150, 80, 130, 70, 140, 90, 120, 65, 155}
	scaled := func(xs []float64, by float64) (ys []float64) {
		for _, x := range xs {
			ys = append(ys, x*by)
		}
		return ys
	}
	for _, c := range []struct {
		name               string
		metric             Metric
		target, base, twin []float64
		want               Moved
	}{
		{"a fifth less time", CapacityTimeOf, noisy(80), shifted(100), noisy(100), Less},
		{"a fifth more time", CapacityTimeOf, noisy(120), shifted(100), noisy(100), More},
		{"the same", CapacityTimeOf, noisy(100), shifted(100), noisy(100), Same},
		{"2 %, inside the margin", CapacityTimeOf, noisy(98), shifted(100), noisy(100), Same},
		{"beside 1, but less than the twin differs by", CapacityTimeOf, noisy(92), shifted(100), noisy(112), Unclear},
		{"too noisy", CapacityTimeOf, wild, shifted(100), noisy(100), Unclear},
		{"five blocks", CapacityTimeOf, noisy(80)[:5], shifted(100)[:5], noisy(100)[:5], Unclear},
		{"no twin", CapacityTimeOf, noisy(80), shifted(100), nil, Unclear},
		{"CPU", ServerCPU, noisy(80), shifted(100), noisy(100), Less},
		{"p99, a fifth of 2 us", P99, scaled(noisy(80), 20), scaled(shifted(100), 20), scaled(noisy(100), 20), Same},
		{"p99, a fifth of 10 ms", P99, scaled(noisy(80), 1e5), scaled(shifted(100), 1e5), scaled(noisy(100), 1e5), Less},
		{"memory, a fifth of 100 MiB", LoadPSS, scaled(noisy(120), 1<<20), scaled(shifted(100), 1<<20), scaled(noisy(100), 1<<20), More},
	} {
		s, e := variantSession(c.metric, c.target, c.base, c.twin)
		all := variantsOf(s, e)
		i := slices.IndexFunc(all, func(v Variant) bool { return v.Name == "typed" })
		j := slices.IndexFunc(all[i].Effects, func(x VariantEffect) bool { return x.Metric == c.metric })
		if got := all[i].Effects[j]; got.Word != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, got.Word, c.want, got)
		}
	}
}

// By hand: 80 against 100 in every block is a ratio of 0.8, whatever the block.
func TestVariantEffect(t *testing.T) {
	base := []float64{100, 200, 300, 400, 500, 600}
	target := []float64{80, 160, 240, 320, 400, 480}
	s, e := variantSession(CapacityTimeOf, target, base, base)
	all := variantsOf(s, e)
	if len(all) != 2 || all[0].Target != "go-1-twin" || all[1].Base != "go-1" {
		t.Fatalf("%+v", all)
	}
	x := all[1].Effects[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }
	if !near(x.Ratio, 0.8) || x.Lo == nil || !near(*x.Lo, 0.8) || !near(*x.Hi, 0.8) || !near(x.Value, 280) || !near(x.Base, 350) || x.Blocks != 6 || x.Noise == nil || *x.Noise != 0 || x.Word != Less {
		t.Errorf("%+v", x)
	}
	if twin := all[0].Effects[0]; twin.Ratio != 1 || twin.Word != Same {
		t.Errorf("twin: %+v", twin)
	}
	// What the generator limited is no capacity time.
	e.Cells[2].Bound = generatorBound
	if x := variantsOf(s, e)[1].Effects[0]; x.Word != Unclear || x.Doubted != "go-1+typed was generator-bound" {
		t.Errorf("%+v", x)
	}
	// Twins that differ void the session; another kind of session has no variants.
	e.Cells[2].Bound = serverBound
	s, e = variantSession(CapacityTimeOf, noisy(80), noisy(100), noisy(110))
	if f := variantTwins(s, e); len(f) != 1 || f[0].Severity != record.Voids {
		t.Errorf("twins that differ by 10 %%: %v", f)
	}
	s.Plan.Kind = ""
	if variantsOf(s, e) != nil {
		t.Error("a comparison has variants")
	}
}

// A test borrows the noise of its own base's twin: here the one of go-1 differs by 1 %,
// that of node-1 by 10 %.
func TestNoiseIsOfTheOwnBase(t *testing.T) {
	s, e := synthetic(rateQuestion, map[string]arms{"x": {noisy(120), shifted(100), noisy(110)}})
	q := s.Plan.Primary[0]
	q.Target, q.Base = "go-1+typed", "go-1"
	s.Plan.Primary = append(s.Plan.Primary, q)
	s.Plan.Targets = append(s.Plan.Targets, record.Target{Name: "go-1+typed", Base: "go-1"}, record.Target{Name: "go-1-twin", Base: "go-1", Twin: true})
	for name, values := range map[string][]float64{"go-1+typed": noisy(150), "go-1-twin": shifted(120)} {
		c := Cell{Target: name, Scenario: "x", Kind: record.Closed, Bound: serverBound}
		for b, v := range values {
			c.Processes = append(c.Processes, Process{Step: record.Step{Block: b + 1}, Values: map[Metric]float64{Rate: v}})
		}
		e.Cells = append(e.Cells, c)
	}
	j := newJudgement(s, e)
	for i, want := range []float64{0.10, 0.01} {
		noise, ok := stats.NoiseOf(*j.twin(s.Plan.Primary[i]))
		if got := math.Expm1(noise.Floor); !ok || math.Abs(got-want) > 0.015 {
			t.Errorf("%s has a noise floor of %.3f, want about %.2f", s.Plan.Primary[i].Target, got, want)
		}
	}
	if len(j.twinOrder()) != 2 {
		t.Errorf("%d effects of twins, want one a base", len(j.twinOrder()))
	}
	// Without a twin of its own a target borrows another's.
	q.Base = "go-2"
	if j.twin(q) == nil {
		t.Error("no noise is borrowed")
	}
}
