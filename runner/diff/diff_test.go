package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/record"
)

func TestValues(t *testing.T) {
	type v struct {
		N    uint64            `json:"n"`
		List []string          `json:"list,omitempty"`
		Map  map[string]string `json:"map,omitempty"`
	}
	for _, c := range []struct {
		a, b v
		want string
	}{
		{v{N: 1}, v{N: 1}, "[]"},
		{v{N: 9007199254740992}, v{N: 9007199254740993}, "[n: 9007199254740992, 9007199254740993]"}, // one float64
		{v{List: []string{"x"}}, v{List: []string{"x", "y"}}, `[list[1]: absent, "y"]`},
		{v{Map: map[string]string{"a": "1"}}, v{Map: map[string]string{"b": "1"}}, `[map.a: "1", absent map.b: absent, "1"]`},
		{v{List: []string{"x"}}, v{}, `[list: ["x"], absent]`},
	} {
		d, err := Values(c.a, c.b)
		if got := fmt.Sprint(d); err != nil || got != c.want {
			t.Errorf("%s (%v), want %s", got, err, c.want)
		}
	}
}

// TestTwoMachinesAreSeen: every fact that tells machines apart does; what an update
// of the software changes does not.
func TestTwoMachinesAreSeen(t *testing.T) {
	base := func() record.Host {
		return record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUModel: "Example CPU", CPUs: []int{0, 1, 2, 3}, PhysicalCores: 2, MemoryBytes: 8 << 30,
			Hypervisor: "kvm", Governor: "performance", Facts: map[string]string{"machine_id": "aa", "thp": "madvise"}}
	}
	for name, c := range map[string]struct {
		change func(h *record.Host)
		other  string // what shows it, or ""
	}{
		"nothing":         {func(*record.Host) {}, ""},
		"same model":      {func(h *record.Host) { h.Facts["machine_id"] = "bb" }, "machine_id"},
		"processor":       {func(h *record.Host) { h.CPUModel = "Other CPU" }, "cpu_model"},
		"processor gone":  {func(h *record.Host) { h.CPUModel = "" }, "cpu_model"},
		"system":          {func(h *record.Host) { h.OS = "darwin" }, "os"},
		"architecture":    {func(h *record.Host) { h.Arch = "arm64" }, "arch"},
		"fewer CPUs":      {func(h *record.Host) { h.CPUs = []int{0, 1} }, "cpus"},
		"other CPUs":      {func(h *record.Host) { h.CPUs = []int{4, 5, 6, 7} }, "cpus"},
		"cores":           {func(h *record.Host) { h.PhysicalCores = 4 }, "physical_cores"},
		"hypervisor":      {func(h *record.Host) { h.Hypervisor = "" }, "hypervisor"},
		"container":       {func(h *record.Host) { h.Facts["container"] = "docker" }, "container"},
		"twice the RAM":   {func(h *record.Host) { h.MemoryBytes *= 2 }, "memory_bytes"},
		"RAM of a kernel": {func(h *record.Host) { h.MemoryBytes -= 32 << 20 }, ""}, // 0.4 %
		"kernel":          {func(h *record.Host) { h.Kernel = "6.2.0" }, ""},
		"governor":        {func(h *record.Host) { h.Governor = "powersave" }, ""},
		"no id":           {func(h *record.Host) { delete(h.Facts, "machine_id") }, ""},
	} {
		a, b := base(), base()
		c.change(&b)
		for _, pair := range [][2]record.Host{{a, b}, {b, a}} {
			other, settings := Machines(pair[0], pair[1])
			if c.other == "" && len(other) > 0 || c.other != "" && (len(other) != 1 || other[0].Path != c.other) {
				t.Errorf("%s: %v, want %q", name, other, c.other)
			}
			if (name == "governor") != (len(settings) == 1) {
				t.Errorf("%s: settings %v", name, settings)
			}
		}
	}
	if other, _ := Machines(record.Host{}, record.Host{}); len(other) == 0 {
		t.Error("two machines of which nothing is known pass for one")
	}
}

// session has one scenario of 6 blocks, in which go-1 serves 20 000, 19 600 .. 18 000
// a second. go-2, which serves as many, is made the A/A twin of go-1.
func session(t *testing.T, twin bool) *record.Session {
	t.Helper()
	s, err := archive.Load("../report/testdata/sessions/standard/benchmark.json")
	if err != nil {
		t.Fatal(err)
	}
	s.Plan.Scenarios = s.Plan.Scenarios[:1]
	keep := func(st record.Step) bool { return st.Scenario == "get-c50" }
	s.Plan.Steps = slices.DeleteFunc(s.Plan.Steps, func(st record.Step) bool { return !keep(st) })
	s.Runs = slices.DeleteFunc(s.Runs, func(r record.Run) bool { return !keep(r.Step) })
	s.Plan.Targets[2].Twin, s.Plan.Targets[2].Base = twin, "go-1"
	return s
}

// scale multiplies the rate of a target.
func scale(s *record.Session, target string, by float64) *record.Session {
	for i := range s.Runs {
		if c := &s.Runs[i].Load.Counts; s.Runs[i].Step.Target == target {
			c.InWindow = uint64(math.Round(float64(c.InWindow) * by))
		}
	}
	return s
}

func compared(t *testing.T, a, b *record.Session) Result {
	t.Helper()
	r, err := Sessions(a, b)
	if err != nil {
		t.Fatal(err)
	}
	ea, eb := findings.Evaluate(a), findings.Evaluate(b)
	if err := r.Compare(a, b, &ea, &eb); err != nil {
		t.Fatal(err)
	}
	return r
}

func rate(t *testing.T, r Result, target string) Effect {
	t.Helper()
	for _, e := range r.Effects {
		if e.Target == target && e.Metric == findings.Rate {
			return e
		}
	}
	t.Fatalf("no rate of %s in %+v", target, r)
	return Effect{}
}

// TestEffectsByHand: B serves 80 % of A in every run. All of B lie below all of A, so
// the exact rank-sum p is 2 / C(12,6) = 2/924, and the smallest of 8 (4 targets x 2
// metrics) becomes 16/924 = 0.0173. The median of all log-ratios is ln 0.8, for those
// of two runs cancel with those of the two the other way round.
func TestEffectsByHand(t *testing.T) {
	r := compared(t, session(t, true), scale(session(t, true), "go-1", 0.8))
	e := rate(t, r, "go-1")
	if math.Abs(e.Ratio-0.8) > 1e-9 || math.Abs(e.P-2.0/924) > 1e-12 || math.Abs(e.Adjusted-16.0/924) > 1e-12 || e.RunsA != 6 || e.A != 19_000 || e.B != 15_200 {
		t.Errorf("%+v", e)
	}
	// In A the twin is go-1 to the request, so its floor is 0; in B go-1 has lost
	// 20 % and its twin has not: 1/0.8 - 1.
	if e.FloorA == nil || *e.FloorA > 1e-9 || e.FloorB == nil || math.Abs(*e.FloorB-0.25) > 1e-6 {
		t.Errorf("floors %v and %v", e.FloorA, e.FloorB)
	}
	if len(r.Effects) != 8 || len(r.Skipped) != 0 || !r.SameMachine() {
		t.Errorf("%d effects, skipped %v, machine %v", len(r.Effects), r.Skipped, r.Machine)
	}
}

// TestWords: each word for its reason.
func TestWords(t *testing.T) {
	both := func(s *record.Session, by float64) *record.Session { return scale(scale(s, "go-1", by), "go-2", by) }
	for name, c := range map[string]struct {
		a, b *record.Session
		want Word
	}{
		"slower, and the twin too": {session(t, true), both(session(t, true), 0.8), Lower},
		"faster, and the twin too": {session(t, true), both(session(t, true), 1.25), Higher},
		"equal":                    {session(t, true), session(t, true), Unshown},
		"the twin strayed as far":  {session(t, true), scale(session(t, true), "go-1", 0.8), Noise}, // ln 1.25 = -ln 0.8
		"the other's twin strayed": {scale(session(t, true), "go-2", 1.3), both(session(t, true), 0.8), Noise},
		"no twin":                  {session(t, false), both(session(t, false), 0.8), NoTwin},
		"one has no twin":          {session(t, true), both(session(t, false), 0.8), NoTwin},
		"one run against six":      {session(t, true), shortened(both(session(t, true), 0.8), 1), TooFew},
	} {
		if e := rate(t, compared(t, c.a, c.b), "go-1"); e.Word != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, e.Word, c.want, e)
		}
	}
}

// shortened keeps the first blocks.
func shortened(s *record.Session, blocks int) *record.Session {
	s.Plan.Steps = slices.DeleteFunc(s.Plan.Steps, func(st record.Step) bool { return st.Block > blocks })
	s.Runs = slices.DeleteFunc(s.Runs, func(r record.Run) bool { return r.Step.Block > blocks })
	return s
}

// TestOtherWorkIsNotCompared: a scenario that was changed, or a rate that was
// offered, and what one session lacks.
func TestOtherWorkIsNotCompared(t *testing.T) {
	a, b := session(t, true), session(t, true)
	b.Plan.Scenarios[0].Connections = 100
	r := compared(t, a, b)
	if len(r.Effects) != 0 || len(r.Skipped) != 4 || !strings.Contains(r.Skipped[0].Why, "connections: 50, 100") || len(r.Plan) != 1 {
		t.Errorf("%+v", r)
	}
	b = session(t, true)
	b.Plan.Scenarios[0].Targets = []string{"go-1", "node-1", "go-2", "node-cluster-2"} // who else runs it is no other work
	if r := compared(t, a, b); len(r.Effects) != 8 {
		t.Errorf("%+v", r)
	}
	b.Plan.Scenarios[0].Targets = nil
	for _, s := range []*record.Session{a, b} {
		s.Plan.Scenarios[0].Kind = record.Open
	}
	for i := range a.Runs {
		a.Runs[i].OfferedPerSec, b.Runs[i].OfferedPerSec = 10_000, 10_600
	}
	if r := compared(t, a, b); len(r.Effects) != 0 || !strings.Contains(fmt.Sprint(r.Skipped), "10000/s were offered in A and 10600/s in B") {
		t.Errorf("%+v", r)
	}
	b.Plan.Scenarios[0].Name = "get-c60"
	if r := compared(t, a, b); !strings.Contains(fmt.Sprint(r.Skipped), "B does not have it") {
		t.Errorf("%+v", r)
	}
}

// TestWhatDiffers: each in its section, and the shuffled order in none.
func TestWhatDiffers(t *testing.T) {
	a, b := session(t, true), session(t, true)
	b.Plan.Seed, b.Plan.Steps = 8, nil
	b.Plan.Kit, b.Host.NodeVersion, b.Contract[0].ReplyBytesGET = "0.2.0", "v22.0.0", 999
	b.Plan.Rules.ErrorRatioMax = 0.5
	r, err := Sessions(a, b)
	if err != nil {
		t.Fatal(err)
	}
	paths := func(all []Difference) (p []string) {
		for _, d := range all {
			p = append(p, d.Path)
		}
		return p
	}
	for what, got := range map[string][2][]string{
		"plan":     {paths(r.Plan), {"rules.error_ratio_max"}},
		"contract": {paths(r.Contract), {"go-1.reply_bytes_get"}},
		"versions": {paths(r.Versions), {"kit", "node_version"}},
		"machine":  {paths(r.Machine), nil},
	} {
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%s: %v, want %v", what, got[0], got[1])
		}
	}
}
