package calibration

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

func TestShare(t *testing.T) {
	// R: binom.test(50, 1000) 0.0374..0.0654; binom.test(20, 1000) 0.0123..0.0307;
	// binom.test(100, 1000) 0.0821..0.1203; binom.test(0, 60) 0..0.0596
	for _, c := range []struct {
		hits, trials int
		least, most  float64
		want         Held
	}{
		{20, 1000, 0, 0.05, Yes},
		{50, 1000, 0, 0.05, Unclear},
		{100, 1000, 0, 0.05, No},
		{0, 60, 0, 0.05, Unclear}, // too few to tell
		{900, 1000, 0.80, 1, Yes},
		{800, 1000, 0.80, 1, Unclear},
		{700, 1000, 0.80, 1, No},
	} {
		if got := share(c.hits, c.trials).within(c.least, c.most); got.Held != c.want {
			t.Errorf("%d of %d in %v..%v: %+v, want %s", c.hits, c.trials, c.least, c.most, got, c.want)
		}
	}
}

func TestNoiseIsReadFromTheTwins(t *testing.T) {
	d := standardPlan(t)
	p, err := NoisePlan(d, 3)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range p.Targets {
		names = append(names, target.Name)
	}
	if want := []string{"go-1", "go-1-twin", "node-1", "node-1-twin"}; !slices.Equal(names, want) || len(p.Steps) != 4*d.Blocks {
		t.Fatalf("targets %q in %d steps, want %q", names, len(p.Steps), want)
	}
	// 3 % between processes and 0.2 % drift a run. A target has every second run, so
	// its own drift is 0.4 %; with 32 runs the deviation is known to about a quarter.
	r := rand.New(rand.NewPCG(8, 0))
	s := fake(p, Equal, func(run int) float64 { return 0.002*float64(run) + 0.03*r.NormFloat64() })
	sources, err := Sources(s, findings.Evaluate(s), d)
	if err != nil || len(sources) != 4 {
		t.Fatalf("%d sources, %v; want 2 targets x 2 metrics", len(sources), err)
	}
	for _, source := range sources {
		if source.Runs != 2*d.Blocks || math.Abs(source.Process-0.03) > 0.02 || source.Pairs == nil || source.Detectable == nil {
			t.Errorf("%+v", source)
		}
	}
	if rate, cpu := sources[0], sources[1]; math.Abs(rate.Process-cpu.Process) > 0.001 || math.Abs(rate.Drift+cpu.Drift) > 0.001 {
		t.Errorf("the CPU is busy all the time, so CPU per request must mirror the rate: %+v, %+v", rate, cpu)
	}
	for i := range s.Runs {
		if s.Runs[i].Step.Block > 3 {
			s.Runs[i].Outcome, s.Runs[i].Reason = "void", "disturbed"
		}
	}
	if _, err := Sources(s, findings.Evaluate(s), d); err == nil || !strings.Contains(err.Error(), "6 undisturbed runs, need 8") {
		t.Errorf("three blocks left: %v", err)
	}
	s.Plan.Targets = s.Plan.Targets[:1]
	if _, err := Sources(s, findings.Evaluate(s), d); err == nil {
		t.Error("a session without twins told its noise")
	}
}

func TestLoudest(t *testing.T) {
	got := Loudest([]Source{
		{Target: "a", Metric: "m", Process: 0.02}, {Target: "a", Metric: "n", Process: 0.05},
		{Target: "b", Metric: "m", Process: 0.04}, {Target: "b", Metric: "n", Process: 0.01},
	})
	if len(got) != 2 || got[0].Target != "b" || got[1].Target != "a" {
		t.Errorf("%+v", got)
	}
}

// On a quiet machine everything is found; on a loud one the report says that it is
// not, and what would do.
func TestSimulate(t *testing.T) {
	still := Source{Target: "a", Scenario: "s", Metric: "m", Margin: 0.05, Process: 0.005}
	loud := Source{Target: "b", Scenario: "s", Metric: "n", Margin: 0.05, Process: 0.05}
	wide := Source{Target: "c", Scenario: "s", Metric: "o", Margin: 0.10, Process: 0.005}
	d := &record.Plan{Blocks: 8, Primary: make([]record.Primary, 2)} // two tests in all blocks
	r := Result{Blocks: 8, Family: 2, Noise: []Source{still, loud, wide}}
	var err error
	if r.Simulated, err = Simulate(t.Context(), r.Noise, d, []int{6, 8, 12}, 50, 9); err != nil || len(r.Simulated) != 3*3 {
		t.Fatalf("%d rows, %v", len(r.Simulated), err)
	}
	again, _ := Simulate(t.Context(), r.Noise, d, []int{6, 8, 12}, 50, 9)
	if !reflect.DeepEqual(r.Simulated, again) {
		t.Error("the same seed gave other rows")
	}
	at := func(target string, blocks int) Row {
		for _, row := range r.Simulated {
			if row.Target == target && row.Blocks == blocks {
				return row
			}
		}
		t.Fatalf("no row of %s with %d blocks", target, blocks)
		return Row{}
	}
	// A sound twin voids 1 % of sessions: all of 200 but 2, and 3.5 deviations of 1.4.
	if row := at("a", 8); row.Found.Held != Yes || row.Found.Hits < 193 || row.Found.Trials != 200 || !row.Default {
		t.Errorf("quiet: %+v", row.Found)
	}
	// A pair deviates by 7 %; 8 blocks find 1.25 to 1.6 deviations and more: 9 to 11 %
	// in 80 %, and 10 % is less than the worst of that. 12 blocks find 7 %.
	if row := at("b", 6); row.Found.Ratio > 0.6 || row.Found.Held != "" {
		t.Errorf("loud, 6 blocks: %+v", row.Found)
	}
	if at("b", 12).Found.Ratio <= at("b", 6).Found.Ratio {
		t.Error("more blocks found less")
	}
	if row := at("c", 8); row.Found != nil {
		t.Errorf("an effect inside the margin was asked for: %+v", row.Found)
	}
	if advice := r.Advice(); len(advice) != 1 || !strings.Contains(advice[0], "n with the noise of b: 8 pairs") || !strings.Contains(advice[0], "blocks would") {
		t.Errorf("%q", advice)
	}
	if got := Blocks(8); !slices.Equal(got, []int{6, 8, 10, 14, 20}) {
		t.Errorf("blocks %v", got)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Simulate(stopped, r.Noise, d, Blocks(8), 1_000_000, 9); err == nil {
		t.Error("a signal did not end the simulation")
	}
}

func TestTablesSayWhatWasMissed(t *testing.T) {
	r := Result{Blocks: 8, Family: 7, Noise: []Source{{Target: "a", Metric: "m"}}, Known: []Known{Count(Equal, nil)},
		Simulated: []Row{{Target: "a", Metric: "m", Blocks: 8, Different: share(200, 1000).within(0, falseMax)}}}
	for name, write := range map[string]func(*strings.Builder) error{
		"text":     func(b *strings.Builder) error { return Table(b, &r) },
		"markdown": func(b *strings.Builder) error { return Markdown(b, &r) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"20.0 % (17.6 to 22.6) NO", "equal servers called BETTER or WORSE in 20 % (at most 5 %)", "0 of 0 sessions right"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
}
