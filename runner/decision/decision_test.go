package decision

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

var update = flag.Bool("update", false, "rewrite golden files")

func of[T any](x T) *T { return &x }

// inputs are of a service of 67 replicas with one vCPU each, which CPU binds: at
// 500 000 requests/s with 20 µs of own work a request takes 80 µs with Node,
// 40 cores, at 60 % of a core 66.7 replicas; and 40 µs with Go, 33.3 replicas.
func inputs() record.DecisionInputs {
	return record.DecisionInputs{
		Replicas: of(67), Binds: "cpu", MinReplicas: of(3), VCPUs: of(1), NodeProcesses: of(1),
		PricePerVCPU: of(30.0), PricePerGiB: of(4.0), Currency: "EUR", PeakRate: of(500_000.0), OwnCPU: of(0.02), OwnMemory: of(50.0),
		EffortDays: of(20.0), CostPerDay: of(600.0), HorizonMonths: of(24.0),
	}
}

func with(change func(*record.DecisionInputs)) record.DecisionInputs {
	in := inputs()
	change(&in)
	return in
}

func decide(t *testing.T, f *fixture, in record.DecisionInputs) *record.Decision {
	t.Helper()
	s, e := f.get()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	d, err := Make(s, e, in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// goldens are one session and one set of inputs for each answer, each with its
// nearest neighbours: what differs in one thing and must be answered otherwise.
type golden struct {
	name    string
	session *fixture
	in      record.DecisionInputs
	want    record.Answer
	why     string // part of the first reason
}

func newPlain() *record.Session { return session(standard()) }

var plain = &fixture{make: newPlain}

func edited(change func(map[string]truth)) *fixture {
	return &fixture{make: func() *record.Session {
		all := standard()
		change(all)
		return session(all)
	}}
}

func changed(change func(*record.Session)) *fixture {
	return &fixture{make: func() *record.Session {
		s := newPlain()
		change(s)
		return s
	}}
}

// heavy is a service whose own work is most of its CPU time: 2 ms.
func heavy(in *record.DecisionInputs) {
	in.OwnCPU, in.PeakRate = of(2.0), of(19_500.0) // 2.06 ms x 19 500 / 0.6 = 66.95
}

// twoCPUs is one Node process on two vCPUs.
func twoCPUs(in *record.DecisionInputs) { in.VCPUs = of(2) }

var goldens = []golden{
	{"go", plain, inputs(), record.Go, "even at the end of the interval that saves least"},
	{"go-for-a-part", plain, with(func(in *record.DecisionInputs) {
		heavy(in)
		in.Parts = []record.DecisionPart{
			{Name: "lookup", Replicas: of(34), PeakRate: of(250_000.0), OwnCPU: of(0.02), EffortDays: of(5.0)},
			{Name: "render", Replicas: of(33), PeakRate: of(9_500.0), EffortDays: of(10.0)},
		}
	}), record.GoForPart, "rewriting lookup pays by the rule"},
	{"cluster-first", plain, with(func(in *record.DecisionInputs) { heavy(in); twoCPUs(in) }), record.ClusterFirst, "a cluster of 2 saves"},
	{"no-go", plain, with(heavy), record.NoGo, "it does not pay even at the end of the interval that saves most"},
	{"not-proven", changed(func(s *record.Session) { noisy(s, "get-open", func(r *record.Run, f float64) { cpuTimes(r, 3*f) }) }), inputs(), record.NotProven, "cpu binds, and CPU per request of go-1 against node-1 is INCONCLUSIVE"},
	{"no-inputs", plain, record.DecisionInputs{}, record.NotProven, "13 inputs are missing"},
}

// neighbours are a step away from the goldens.
var neighbours = []golden{
	{"GO needs 24 months and gets 11", plain, with(func(in *record.DecisionInputs) { in.HorizonMonths = of(11.0) }), record.NoGo, "does not pay even"},
	{"the interval reaches over the rule", plain, with(func(in *record.DecisionInputs) {
		// Go needs 40.4 µs x 490 000 / 0.6 = 32.99 replicas, and at the far end of its interval a 34th: 1014 or 984 a month, where 1000 would do
		in.OwnCPU, in.PeakRate, in.HorizonMonths = of(0.0204), of(490_000.0), of(12.0)
	}), record.NotProven, "the interval reaches from what pays to what does not"},
	{"GO needs BETTER, and Go is the same", edited(func(m map[string]truth) { m["go-1"] = truth{60, 84, 4, 15_000} }), inputs(), record.NoGo, "is EQUIVALENT"},
	{"or worse", edited(func(m map[string]truth) { m["go-1"] = truth{90, 32, 2, 15_000} }), inputs(), record.NoGo, "is WORSE"},
	{"GO on the same cores with two vCPUs, for it beats a cluster too", plain, with(func(in *record.DecisionInputs) { in.VCPUs, in.NodeProcesses, in.Replicas = of(2), of(2), of(34) }), record.Go, "against today"},
	{"GO beyond a cluster", plain, with(twoCPUs), record.Go, "against cluster"},
	{"no cluster where the one vCPU is in use", plain, with(heavy), record.NoGo, "against today"},
	{"a cluster that takes twice the CPU saves nothing", edited(func(m map[string]truth) { m["node-cluster-2"] = truth{4060, 190, 4, 500} }), with(func(in *record.DecisionInputs) { heavy(in); twoCPUs(in) }), record.NoGo, "against today"},
	{"CPU proves nothing where memory binds and costs nothing", plain, with(func(in *record.DecisionInputs) { in.Binds, in.PricePerGiB = "memory", of(0.0) }), record.NoGo, "does not pay even"},
	{"memory binds", plain, with(memoryBinds), record.Go, "against today"},
	{"memory binds, and the user's own data is most of it", plain, with(func(in *record.DecisionInputs) { memoryBinds(in); in.OwnMemory = of(2000.0) }), record.NoGo, "against today"},
	{"availability keeps the replicas", plain, with(func(in *record.DecisionInputs) { in.Binds = "availability" }), record.NoGo, "against today"},
	{"latency binds and the SLO is missed without Go", plain, with(latency(6.0)), record.Go, "the SLO 6 ms: met"},
	{"latency binds and the SLO is met today", plain, with(latency(8.0)), record.NoGo, "its SLO is met without a rewrite"},
	{"latency binds and Go misses the SLO", plain, with(latency(4.0)), record.NoGo, "missed"},
	{"own I/O dilutes latency", plain, with(func(in *record.DecisionInputs) { latency(6.0)(in); in.OwnIO = of(5.0) }), record.NoGo, "missed"},
	{"latency binds and a cluster meets the SLO", edited(func(m map[string]truth) { m["node-cluster-2"] = truth{60, 190, 2.5, 29_000} }), with(func(in *record.DecisionInputs) { latency(6.0)(in); twoCPUs(in) }), record.ClusterFirst, "a cluster meets the SLO"},
	{"latency of a slower rate proves nothing", plain, with(func(in *record.DecisionInputs) {
		latency(6.0)(in)
		in.Replicas = of(67)
		in.CPUTarget = of(1.0)
		in.PeakRate = of(600_000.0)
	}), record.NotProven, "a replica would take"},
	{"an SLO that Go misses", plain, with(func(in *record.DecisionInputs) { memoryBinds(in); in.SLO, in.OwnIO = of(1.0), of(0.0) }), record.NoGo, "missed"},
	{"an SLO that Go meets", plain, with(func(in *record.DecisionInputs) { memoryBinds(in); in.SLO, in.OwnIO = of(3.0), of(0.0) }), record.Go, "against today"},
	{"an SLO at twice the rate that was measured", plain, with(func(in *record.DecisionInputs) { in.SLO, in.OwnIO = of(3.0), of(0.0) }), record.NotProven, "a replica would take 14706"},
	{"inputs that contradict each other", plain, with(func(in *record.DecisionInputs) { in.Replicas = of(66) }), record.NotProven, "contradict"},
	{"four vCPUs were not measured", plain, with(func(in *record.DecisionInputs) { in.VCPUs = of(4) }), record.NotProven, "not extrapolated"},
	{"four workers were not measured", plain, with(func(in *record.DecisionInputs) { in.NodeProcesses = of(4) }), record.NotProven, "was not measured"},
	{"one input missing", plain, with(func(in *record.DecisionInputs) { in.PricePerGiB = nil }), record.NotProven, "price_per_gib_month"},
	{"nothing is better, whatever the inputs", edited(func(m map[string]truth) { m["go-1"], m["go-2"] = m["node-1"], m["node-cluster-2"] }), record.DecisionInputs{}, record.NoGo, "nothing that was measured is better"},
	{"no rule before the first run", changed(func(s *record.Session) { s.Plan.Decision = nil }), inputs(), record.NotProven, "fixed no rule"},
	{"no verdict, no GO", changed(func(s *record.Session) { s.Plan.Primary = nil }), inputs(), record.NotProven, "was not asked"},
	{"a machine that failed a gate", changed(func(s *record.Session) { s.Host.Grade = "D" }), inputs(), record.NotProven, "is INVALID"},
	{"an SLO that some processes meet", plain, with(func(in *record.DecisionInputs) { memoryBinds(in); in.SLO, in.OwnIO = of(2.02), of(0.0) }), record.NotProven, "met by some processes"},
	{"a tail beside its generator proves nothing", changed(func(s *record.Session) {
		for i := range s.Plan.Targets {
			s.Plan.Targets[i].GeneratorCPUs = []int{0, 1}
		}
	}), with(func(in *record.DecisionInputs) { memoryBinds(in); in.SLO, in.OwnIO = of(3.0), of(0.0) }), record.NotProven, "beside its generator"},
	{"more processes than vCPUs", plain, with(func(in *record.DecisionInputs) { in.NodeProcesses = of(2) }), record.NotProven, "2 Node processes on 1 vCPUs"},
	{"a cluster that saves less than matters", plain, with(func(in *record.DecisionInputs) {
		heavy(in)
		twoCPUs(in)
		in.MinReplicas, in.OwnMemory = of(64), of(0.0)
	}), record.NoGo, "against today"},
	{"a cluster that nobody can tell from one process", changed(func(s *record.Session) {
		for i := range s.Runs {
			if r := &s.Runs[i]; r.Step.Target == "node-cluster-2" && r.Step.Scenario == "get-open" {
				cpuTimes(r, []float64{0.15, 1.9}[r.Step.Block%2]*(1+0.01*float64(r.Step.Block)))
			}
		}
	}), with(twoCPUs), record.NotProven, "whether Go has to beat today's Node or a cluster is not proven"},
	{"a part that pays does not go before a cluster", plain, with(func(in *record.DecisionInputs) {
		heavy(in)
		twoCPUs(in)
		in.Parts = []record.DecisionPart{{Name: "lookup", Replicas: of(34), PeakRate: of(250_000.0), OwnCPU: of(0.02), EffortDays: of(5.0)}}
	}), record.ClusterFirst, "a cluster of 2 saves"},
	{"no inputs and no verdicts", changed(func(s *record.Session) { s.Plan.Primary = nil }), record.DecisionInputs{}, record.NotProven, "gives no verdict"},
	{"a part does not pay either", plain, with(func(in *record.DecisionInputs) {
		heavy(in)
		in.Parts = []record.DecisionPart{{Name: "render", Replicas: of(33), PeakRate: of(9_500.0), EffortDays: of(10.0)}}
	}), record.NoGo, "does not pay even"},
}

// memoryBinds is a service that holds nothing of its own and pays for memory alone.
func memoryBinds(in *record.DecisionInputs) {
	in.Binds, in.PricePerVCPU, in.PricePerGiB, in.OwnMemory = "memory", of(0.0), of(400.0), of(0.0)
}

func latency(slo float64) func(*record.DecisionInputs) {
	return func(in *record.DecisionInputs) {
		in.Binds, in.SLO, in.OwnIO = "latency", of(slo), of(2.98)
		in.OwnCPU, in.PeakRate, in.Replicas = of(0.02), of(200_000.0), of(67) // 2985/s each, of 5000 that were offered
	}
}

// TestAnswers: each answer for its own reason, and not one step beside it.
func TestAnswers(t *testing.T) {
	for _, c := range append(goldens[:len(goldens):len(goldens)], neighbours...) {
		t.Run(c.name, func(t *testing.T) {
			d := decide(t, c.session, c.in)
			if d.Answer != c.want || len(d.Why) == 0 || !strings.Contains(d.Why[0], c.why) {
				t.Errorf("got %s because %s\nwant %s because %q", d.Answer, strings.Join(d.Why, "\n  "), c.want, c.why)
			}
			if d.Answer == record.Go && d.Whole.Saving != nil && c.in.Binds != "latency" && d.Whole.Saving.Lo <= 0 {
				t.Errorf("GO with a saving of %+v", *d.Whole.Saving)
			}
		})
	}
}

// TestGoldens: the record as a reader gets it, and that its JSON says the same.
func TestGoldens(t *testing.T) {
	for _, c := range goldens {
		d := decide(t, c.session, c.in)
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var read record.Decision
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		var page, again bytes.Buffer
		if err := errors.Join(report.Decision(&page, d), report.Decision(&again, &read)); err != nil {
			t.Fatal(err)
		}
		if page.String() != again.String() {
			t.Errorf("%s: the page of the JSON differs:\n%s", c.name, again.String())
		}
		name := filepath.Join("testdata", c.name+".md")
		if *update {
			if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(page.Bytes(), want) {
			t.Errorf("%s differs (%v): go test ./runner/decision -update\n%s", name, err, page.String())
		}
	}
}

// TestSchema: every decision is what docs/schema/decision.json says, and its inputs
// are what inputs.json says, also where lists are empty.
func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("../../docs/schema/decision.json")
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := c.Compile("../../docs/schema/inputs.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(name string, s *jsonschema.Schema, x any) {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range append(goldens[:len(goldens):len(goldens)], neighbours...) {
		d := decide(t, c.session, c.in)
		valid(c.name, schema, d)
		valid(c.name, inputs, d.Inputs)
	}
}

// TestRefusals: each fault is named, and all of them at once.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*record.Session)
		want   []string
	}{
		{"smoke", func(s *record.Session) { s.Plan.Quick = true }, []string{"it is a smoke run"}},
		{"cut short", func(s *record.Session) { s.Finished = time.Time{} }, []string{"it is invalid: the session was cut short"}},
		{"no version", func(s *record.Session) {
			for i := range s.Runs {
				if s.Runs[i].Step.Target == "node-1" {
					s.Runs[i].Settings = nil
				}
			}
		}, []string{"the runtime version of node-1 is not known"}},
		{"two versions", func(s *record.Session) { s.Runs[1].Settings = &record.Settings{Runtime: "node", Version: "v22.1.0"} }, []string{"node-1 ran as more than one version: [node v22.1.0 node v20.20.2]"}},
		{"no CPU model", func(s *record.Session) { s.Host.CPUModel = "" }, []string{"the CPU model is not known"}},
		{"no order", func(s *record.Session) { s.Plan.Steps[3].Index = 0 }, []string{"it is invalid", "the steps of the plan are not numbered"}},
		{"no start", func(s *record.Session) { s.Runs[5].Started = time.Time{} }, []string{"does not say when it began"}},
		{"another order", func(s *record.Session) { s.Runs[5].Started = s.Runs[20].Started }, []string{"against the order of the plan"}},
		{"no status", func(s *record.Session) { s.Runs[5].Outcome = "" }, []string{"it is invalid", "has no status"}},
		{"another plan", func(s *record.Session) { s.Runs[5].PlanSHA256 = "x" }, []string{"was made under another plan"}},
		{"two faults", func(s *record.Session) { s.Plan.Quick, s.Host.CPUModel = true, "" }, []string{"it is a smoke run", "the CPU model is not known"}},
		{"nothing", func(s *record.Session) { *s = record.Session{} }, []string{"it is invalid", "the CPU model", "no order"}},
	} {
		s := newPlain()
		for i := range s.Runs {
			s.Runs[i].Load.Response = nil // no reason needs it, and to read it takes most of the time
		}
		c.change(s)
		_, err := Make(s, findings.Evaluate(s), inputs())
		refused, ok := err.(*Refused)
		if !ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(refused.Reasons) != len(c.want) {
			t.Errorf("%s: %q", c.name, refused.Reasons)
		}
		for _, w := range c.want {
			if !strings.Contains(refused.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.name, refused.Reasons, w)
			}
		}
	}
}

// TestInputsThatCannotBe are named by their names in the file.
func TestInputsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*record.DecisionInputs){
		"replicas":                    func(in *record.DecisionInputs) { in.Replicas = of(0) },
		"binds":                       func(in *record.DecisionInputs) { in.Binds = "disk" },
		"price_per_gib_month":         func(in *record.DecisionInputs) { in.PricePerGiB = of(-1.0) },
		"peak_rate_per_sec":           func(in *record.DecisionInputs) { in.PeakRate = of(0.0) },
		"cpu_target_ratio":            func(in *record.DecisionInputs) { in.CPUTarget = of(60.0) },
		"horizon_months":              func(in *record.DecisionInputs) { in.HorizonMonths = of(1e13) },
		"parts are 101":               func(in *record.DecisionInputs) { in.Parts = make([]record.DecisionPart, 101) },
		"part 1":                      func(in *record.DecisionInputs) { in.Parts = []record.DecisionPart{{}} },
		`part "a": peak_rate_per_sec`: func(in *record.DecisionInputs) { in.Parts = []record.DecisionPart{{Name: "a", PeakRate: of(-1.0)}} },
	} {
		s, e := plain.get()
		if _, err := Make(s, e, with(change)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
