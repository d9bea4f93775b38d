package decision

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gonogo/runner/record"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestGain: the known truth of method P3, and a request that is all server.
func TestGain(t *testing.T) {
	third := record.Span{Value: 20. / 60, Lo: 18. / 60, Hi: 24. / 60}
	for _, c := range []struct {
		w, lo, value, hi float64
	}{
		{0, 60. / 24, 3, 60. / 18},
		{2e6, 2_060_000. / 2_024_000, 2_060_000. / 2_020_000, 2_060_000. / 2_018_000}, // 1.0198
		{10e6, 10_060. / 10_024, 10_060. / 10_020, 10_060. / 10_018},
	} {
		g := Gain(c.w, 60_000, third)
		if !near(g.Lo, c.lo) || !near(g.Value, c.value) || !near(g.Hi, c.hi) {
			t.Errorf("W = %g ns: %+v, want %g (%g..%g)", c.w, g, c.value, c.lo, c.hi)
		}
	}
	if g := Gain(2e6, 60_000, third); math.Abs(g.Value-1.0198) > 0.00005 {
		t.Errorf("W = 2 ms: %g, want 1.0198", g.Value)
	}
}

// TestGainsOfASession: the same through a whole session, CPU and latency.
func TestGainsOfASession(t *testing.T) {
	d := decide(t, plain, with(func(in *record.DecisionInputs) { in.OwnCPU, in.PeakRate, in.OwnIO = of(2.0), of(19_500.0), of(5.0) }))
	found := 0
	for _, g := range d.Gains {
		if g.Target != "go-1" || g.CPU != 2*time.Millisecond {
			continue
		}
		found++
		want, io := 1.0198, time.Duration(0) // 2060 / 2020 µs: I/O takes no CPU
		if g.Metric == "p99_ns" {
			want, io = 11./9, 5*time.Millisecond // (2 + 5 + 4) / (2 + 5 + 2) ms
		}
		if math.Abs(g.Gain.Value-want) > 0.01*(want-1)+0.002 || g.IO != io || !(g.Gain.Lo < g.Gain.Value && g.Gain.Value < g.Gain.Hi) {
			t.Errorf("%s: %+v, I/O %v, want %g", g.Metric, g.Gain, g.IO, want)
		}
	}
	if found != 4 { // of the rule, and the user's own, for both metrics
		t.Errorf("%d gains at 2 ms", found)
	}
}

// More own work never makes more of a difference, whichever side is better.
func TestMoreOwnWorkNeverRaisesTheGain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Float64Range(1, 1e7).Draw(t, "base")
		r := rapid.Float64Range(0.01, 10).Draw(t, "ratio")
		ratio := record.Span{Value: r, Lo: r * rapid.Float64Range(0.5, 1).Draw(t, "lo"), Hi: r * rapid.Float64Range(1, 2).Draw(t, "hi")}
		w := rapid.Float64Range(0, 1e8).Draw(t, "w")
		a, b := Gain(w, base, ratio), Gain(w+rapid.Float64Range(0, 1e8).Draw(t, "more"), base, ratio)
		const slack = 1e-12
		for _, x := range [][2]float64{{a.Value, b.Value}, {a.Lo, b.Lo}, {a.Hi, b.Hi}} {
			if math.Abs(x[1]-1) > math.Abs(x[0]-1)+slack || (x[0]-1)*(x[1]-1) < -slack {
				t.Fatalf("%+v became %+v", a, b)
			}
		}
		if a.Lo > a.Value || a.Value > a.Hi {
			t.Fatalf("%+v is out of order", a)
		}
	})
}

// More replicas never lower what less memory saves, and every other input of a
// bill moves it the way it must.
func TestSavingGrowsWithReplicas(t *testing.T) {
	assess := func(t *rapid.T, in record.DecisionInputs) record.Assessment {
		s, e := plain.get()
		d, err := Make(s, e, in)
		if err != nil || d.Whole == nil || d.Whole.Saving == nil {
			t.Fatalf("%v %+v", err, d)
		}
		return *d.Whole
	}
	rapid.Check(t, func(t *rapid.T) {
		in := inputs()
		memoryBinds(&in)
		in.Replicas = of(rapid.IntRange(67, 5000).Draw(t, "replicas"))
		in.PricePerVCPU = of(rapid.Float64Range(0, 100).Draw(t, "vcpu"))
		in.OwnMemory = of(rapid.Float64Range(0, 1000).Draw(t, "own"))
		if rapid.Bool().Draw(t, "availability") {
			in.Binds = "availability"
		}
		before := assess(t, in)
		more, dearer := in, in
		more.Replicas = of(*in.Replicas + rapid.IntRange(1, 100).Draw(t, "more"))
		dearer.PricePerGiB = of(*in.PricePerGiB + 1)
		for _, after := range []record.Assessment{assess(t, more), assess(t, dearer)} {
			if a, b := before.Saving, after.Saving; b.Lo < a.Lo || b.Value < a.Value || b.Hi < a.Hi {
				t.Fatalf("%+v became %+v", *a, *b)
			}
			for _, s := range []record.Assessment{before, after} {
				if s.Saving.Lo > s.Saving.Value || s.Saving.Value > s.Saving.Hi || s.BreakEven != nil && !s.BreakEvenNever && s.BreakEven.Lo > s.BreakEven.Hi {
					t.Fatalf("%+v is out of order", s)
				}
			}
		}
	})
}

// TestAnythingDecides: no inputs that can be make a panic, a GO without a saving or
// without what binds being better, or a number that JSON cannot hold.
func TestAnythingDecides(t *testing.T) {
	s, e := plain.get()
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string, lo, hi float64) *float64 {
			if rapid.IntRange(0, 19).Draw(t, name+" absent") == 0 {
				return nil
			}
			return of(rapid.Float64Range(lo, hi).Draw(t, name))
		}
		in := record.DecisionInputs{
			Replicas: of(rapid.IntRange(1, 500).Draw(t, "replicas")), MinReplicas: of(rapid.IntRange(1, 5).Draw(t, "floor")),
			VCPUs: of(rapid.IntRange(1, 3).Draw(t, "vcpus")), NodeProcesses: of(rapid.IntRange(1, 3).Draw(t, "processes")),
			Binds: rapid.SampledFrom(resources).Draw(t, "binds"), PricePerVCPU: amount("vcpu", 0, 50), PricePerGiB: amount("gib", 0, 50),
			PeakRate: amount("rate", 1, 1e6), OwnCPU: amount("cpu", 0, 5), OwnMemory: amount("memory", 0, 500),
			EffortDays: amount("days", 0, 50), CostPerDay: amount("cost", 0, 1000), HorizonMonths: amount("horizon", 1, 60),
		}
		if rapid.Bool().Draw(t, "slo") {
			in.SLO, in.OwnIO = amount("slo", 1, 100), amount("io", 0, 50)
		}
		if rapid.Bool().Draw(t, "limit") {
			in.ReplicaMemory = amount("limit", 1, 1000)
		}
		d, err := Make(s, e, in)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Why) == 0 || d.Answer == "" {
			t.Fatalf("no reason for %q", d.Answer)
		}
		if d.Answer == record.Go && in.Binds != byLatency && !(d.Whole.Saving.Lo > 0 && d.Whole.Saving.Lo**in.HorizonMonths >= *d.Whole.Cost) {
			t.Fatalf("GO with %+v of %g", *d.Whole.Saving, *d.Whole.Cost)
		}
		if len(d.Missing) > 0 && d.Answer == record.Go {
			t.Fatalf("GO without %v", d.Missing)
		}
	})
}
