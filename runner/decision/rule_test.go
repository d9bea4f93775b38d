package decision

import (
	"reflect"
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// TestMoney: of a bill of 1000 a tenth is 100; a migration of 2400 in 20 months
// asks for 120 a month.
func TestMoney(t *testing.T) {
	m := &matter{rules: &record.DecisionRules{SavingMin: 0.1}}
	for _, c := range []struct {
		lo, value, hi, cost float64
		want                outcome
	}{
		{120, 150, 200, 2400, pays},
		{119, 150, 200, 2400, open}, // the estimate pays, the near end does not
		{50, 119, 200, 2400, open},
		{50, 60, 119, 2400, pointless},
		{100, 150, 200, 0, pays},
		{99, 150, 200, 0, open},
		{10, 50, 99, 0, pointless},
		{-5, 0, 0, 0, pointless},
	} {
		in := with(func(in *record.DecisionInputs) {
			in.EffortDays, in.CostPerDay, in.HorizonMonths = of(1.0), of(c.cost), of(20.0)
		})
		h := held{against: today, options: []record.Option{{BillPerMonth: exactly(1000)}}, saving: &record.Span{Value: c.value, Lo: c.lo, Hi: c.hi}}
		if got, why := m.money(in, h); got != c.want {
			t.Errorf("%+v: outcome %d: %s", c, got, why)
		}
	}
}

// TestBreakEven: 1200 at 100 (50..200) a month is 12 (6..24) months; at an end that
// saves nothing it never comes.
func TestBreakEven(t *testing.T) {
	cost := 1200.0
	at := func(lo, value, hi float64) record.Assessment {
		return conclude(record.Assessment{Cost: &cost}, inputs(), held{options: []record.Option{{BillPerMonth: exactly(1000)}}, saving: &record.Span{Value: value, Lo: lo, Hi: hi}})
	}
	if a := at(50, 100, 200); a.BreakEven == nil || *a.BreakEven != (record.Span{Value: 12, Lo: 6, Hi: 24}) || a.BreakEvenNever || *a.SavingRatio != (record.Span{Value: 0.1, Lo: 0.05, Hi: 0.2}) {
		t.Errorf("%+v, %+v", a.BreakEven, a.SavingRatio)
	}
	if a := at(-1, 100, 200); a.BreakEven == nil || *a.BreakEven != (record.Span{Value: 12, Lo: 6}) || !a.BreakEvenNever {
		t.Errorf("%+v", a.BreakEven)
	}
	if a := at(-3, -2, 200); a.BreakEven != nil {
		t.Errorf("%+v", a.BreakEven)
	}
}

// TestCountable: what a bill may use of each word.
func TestCountable(t *testing.T) {
	for _, c := range []struct {
		word           stats.Word
		lo, value, hi  float64
		want           record.Span
		counts, unseen bool // unseen: too few blocks for an interval
	}{
		{word: stats.Better, lo: 0.3, value: 0.4, hi: 0.5, want: record.Span{Value: 0.4, Lo: 0.3, Hi: 0.5}, counts: true},
		{word: stats.Worse, lo: 1.3, value: 1.4, hi: 1.5, want: record.Span{Value: 1.4, Lo: 1.3, Hi: 1.5}, counts: true},
		{word: stats.Equivalent, lo: 0.97, value: 0.98, hi: 0.99, want: exactly(1), counts: true},
		{word: stats.Inconclusive, lo: 0.5, value: 0.9, hi: 1.2, want: record.Span{Value: 1, Lo: 1, Hi: 1.2}, counts: true},
		{word: stats.Inconclusive, lo: 0.5, value: 0.7, hi: 0.9, want: exactly(1), counts: true},
		{word: stats.Inconclusive, unseen: true},
		{word: stats.Invalid, lo: 0.3, value: 0.4, hi: 0.5},
		{word: "", lo: 0.3, value: 0.4, hi: 0.5},
	} {
		v := &record.Verdict{Word: string(c.word), Ratio: &c.value, Lo: &c.lo, Hi: &c.hi}
		if c.unseen {
			v.Lo, v.Hi = nil, nil
		}
		p := pair{verdict: v, base: 1}
		if c.word == "" {
			p.verdict = nil
		}
		if got, ok := p.countable(); ok != c.counts || ok && got != c.want {
			t.Errorf("%s %g..%g: %+v, %v", c.word, c.lo, c.hi, got, ok)
		}
	}
}

func TestWhole(t *testing.T) {
	tenth := 0.1 // a variable, for constants are added exactly: 3.0000000000000004
	for x, want := range map[float64]float64{(tenth + 2*tenth) * 10: 3, 3.0001: 4, 2.9: 3, 0: 0} {
		if got := whole(x); got != want {
			t.Errorf("whole(%v) = %v, want %v", x, got, want)
		}
	}
}

// TestRejected: each number that decides nothing is there with its reason.
func TestRejected(t *testing.T) {
	s := newPlain()
	for i := range s.Plan.Targets { // the k-core pair shares with its generator
		if x := &s.Plan.Targets[i]; x.Workers == 2 {
			x.GeneratorCPUs = []int{1, 2}
		}
	}
	for i := range s.Runs {
		switch r := &s.Runs[i]; {
		case r.Step.Target == "node-1" && r.Step.Scenario == "get-c50": // idle, beside a generator that is not
			r.ServerCPU.User, r.Load.CPU.User = r.ServerCPU.User/2, 2*r.Load.Window
		case i == 7:
			r.Outcome, r.Reason = record.Void, "steal: 3 % (limit 0.5 %)"
		}
	}
	noisy(s, "get-open", func(r *record.Run, f float64) { cpuTimes(r, 3*f) })
	d, err := Make(s, findings.Evaluate(s), inputs())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []record.Rejected{
		{What: "run " + s.Runs[7].Step.Key(), Why: "void: steal: 3 % (limit 0.5 %)"},
		{What: "rate of node-1/get-c50", Number: "requests/s", Why: "generator-bound"},
		{What: "rates and latencies of go-2", Number: "get-c50", Why: "shared"},
		{What: "rates and latencies of node-cluster-2", Number: "get-open 7500/s", Why: "shared"},
		{What: "CPU per request of go-1 against node-1 in get-open", Number: " x", Why: "INCONCLUSIVE: "},
		{What: "rate of go-1 against node-1 in get-c50", Why: "INVALID: "},
		{What: "latencies of get-c50", Why: "closed loop"},
		{What: "maxima of get-open", Number: "go-1 1.9", Why: "never compared"},
	} {
		found := 0
		for _, r := range d.Rejected {
			if r.What == want.What && strings.Contains(r.Number, want.Number) && strings.Contains(r.Why, want.Why) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d of %+v in %+v", found, want, d.Rejected)
		}
	}
	if text := strings.Join(d.Warnings, "\n"); !strings.Contains(text, "runs were discarded") || !strings.Contains(text, "the generator was the limit") {
		t.Errorf("warnings %q", d.Warnings)
	}
	for _, c := range d.CapacityTimes {
		if c.Target == "go-1" || c.Target == "go-2" {
			t.Errorf("a capacity time of a rate that the server did not limit: %+v", c)
		}
	}
}

// TestMissing: each input that has to be there is asked for by its name.
func TestMissing(t *testing.T) {
	if gaps := missing(inputs()); len(gaps) != 0 {
		t.Fatalf("nothing is missing, and %+v is asked for", gaps)
	}
	for want, change := range map[string]func(*record.DecisionInputs){
		"binds":                      func(in *record.DecisionInputs) { in.Binds = "" },
		"replicas":                   func(in *record.DecisionInputs) { in.Replicas = nil },
		"vcpus_per_replica":          func(in *record.DecisionInputs) { in.VCPUs = nil },
		"node_processes_per_replica": func(in *record.DecisionInputs) { in.NodeProcesses = nil },
		"peak_rate_per_sec":          func(in *record.DecisionInputs) { in.PeakRate = nil },
		"own_cpu_ms":                 func(in *record.DecisionInputs) { in.OwnCPU = nil },
		"own_memory_mib":             func(in *record.DecisionInputs) { in.OwnMemory = nil },
		"min_replicas":               func(in *record.DecisionInputs) { in.MinReplicas = nil },
		"price_per_vcpu_month":       func(in *record.DecisionInputs) { in.PricePerVCPU = nil },
		"price_per_gib_month":        func(in *record.DecisionInputs) { in.PricePerGiB = nil },
		"effort_days":                func(in *record.DecisionInputs) { in.EffortDays = nil },
		"cost_per_effort_day":        func(in *record.DecisionInputs) { in.CostPerDay = nil },
		"horizon_months":             func(in *record.DecisionInputs) { in.HorizonMonths = nil },
		"slo_p99_ms":                 func(in *record.DecisionInputs) { in.Binds = "latency" },
		"own_io_ms":                  func(in *record.DecisionInputs) { in.SLO = of(5.0) },
	} {
		if gaps := missing(with(change)); len(gaps) != 1 || gaps[0].Input != want {
			t.Errorf("%s: %+v", want, gaps)
		}
	}
}

// TestPart takes what it names and leaves the rest as in the whole.
func TestPart(t *testing.T) {
	whole := inputs()
	p := record.DecisionPart{Name: "a", Replicas: of(5), MinReplicas: of(2), PeakRate: of(7.0), OwnCPU: of(0.0), OwnIO: of(1.0), OwnMemory: of(3.0), EffortDays: of(4.0)}
	want := whole
	want.Replicas, want.MinReplicas, want.PeakRate, want.OwnCPU, want.OwnIO, want.OwnMemory, want.EffortDays = p.Replicas, p.MinReplicas, p.PeakRate, p.OwnCPU, p.OwnIO, p.OwnMemory, p.EffortDays
	if got := part(whole, p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := part(whole, record.DecisionPart{Name: "b"}); !reflect.DeepEqual(got, whole) {
		t.Errorf("got %+v", got)
	}
}
