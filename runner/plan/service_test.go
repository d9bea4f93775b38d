package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

func started(name, base string) record.Target {
	return record.Target{Name: name, Base: base, Argv: []string{"./" + name}, Foreign: &record.Foreign{URL: "http://127.0.0.1:{port}", Ready: "/"}}
}

func running(name, base, url string) record.Target {
	return record.Target{Name: name, Base: base, Argv: []string{}, Foreign: &record.Foreign{URL: url, Ready: "/"}}
}

func serviceOptions(targets ...record.Target) ServiceOptions {
	return ServiceOptions{
		Options: Options{CPUs: CPUSets{One: []int{0}, OneGenerator: []int{2, 3}, Many: []int{0, 1}, ManyGenerator: []int{2, 3}, K: 2}, Seed: 1},
		Service: record.Service{Requests: []record.Request{{Method: "GET", Path: "/"}}}, Targets: targets, Connections: []int{20},
	}
}

// told is what a plan asks, one question a line.
func told(p *record.Plan) (lines []string) {
	for _, q := range p.Primary {
		lines = append(lines, fmt.Sprintf("%s/%s %s %s", q.Target, q.Base, q.Metric, q.Scenario))
	}
	return lines
}

func mustService(t *testing.T, o ServiceOptions) *record.Plan {
	t.Helper()
	p, err := NewService(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func each[T any](list []T, of func(T) string) (all []string) {
	for _, x := range list {
		all = append(all, of(x))
	}
	return all
}

// TestServicePair: the questions, the twin and the cells of a pair are those of the
// built-in one, with the user's requests.
func TestServicePair(t *testing.T) {
	p := mustService(t, serviceOptions(started("new", "old"), started("old", "")))
	if got := each(p.Targets, func(t record.Target) string { return t.Name }); !slices.Equal(got, []string{"new", "old", "old-twin"}) {
		t.Errorf("targets %v", got)
	}
	if twin := p.Targets[2]; !twin.Twin || twin.Base != "old" || !slices.Equal(twin.Argv, []string{"./old"}) {
		t.Errorf("twin %+v", twin)
	}
	want := []string{"new/old rate_per_sec mix-c20", "new/old server_cpu_ns_per_request mix-open", "new/old p99_ns mix-open", "new/old load_pss_bytes mix-memory"}
	if got := told(p); !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	if len(p.Steps) != p.Blocks*3*3 || Fewest(p) != p.Blocks || p.Blocks < MinRounds {
		t.Errorf("%d steps in %d blocks", len(p.Steps), p.Blocks)
	}
	if p.Expected > DefaultBudget || p.Expected < DefaultBudget-time.Minute {
		t.Errorf("takes %v of %v", p.Expected, DefaultBudget)
	}
	if d := p.Decision; d == nil || len(d.Pairs) != 1 || d.Pairs[0] != (record.DecisionPair{Target: "new", Base: "old", Cores: 1}) {
		t.Errorf("decision %+v", d)
	}
	for _, x := range p.Targets {
		if !slices.Equal(x.CPUs, []int{0}) || !slices.Equal(x.GeneratorCPUs, []int{2, 3}) || x.Shared() {
			t.Errorf("%s on %v and %v", x.Name, x.CPUs, x.GeneratorCPUs)
		}
	}
	open, _ := p.Scenario(mixOpen)
	if open.RateOfCapacity != openShare || open.RatePerSec != 0 || open.Connections != 20 || open.Requests[0].Path != "/" {
		t.Errorf("open loop %+v", open)
	}
	if p.Service.IDs != IDs {
		t.Errorf("ids %d", p.Service.IDs)
	}
}

func TestServiceAsTheFileSays(t *testing.T) {
	o := serviceOptions(started("new", "old"), started("old", ""))
	o.Connections, o.RatePerSec, o.Warmup, o.Service.IDs = []int{5, 10}, 300, 3*time.Second, 7
	p := mustService(t, o)
	open, _ := p.Scenario(mixOpen)
	if open.RatePerSec != 300 || open.RateOfCapacity != 0 || open.Warmup != 3*time.Second || open.Connections != 10 || p.Service.IDs != 7 {
		t.Errorf("open loop %+v, ids %d", open, p.Service.IDs)
	}
	if got := told(p); len(got) != 5 || got[0] != "new/old rate_per_sec mix-c5" || got[1] != "new/old rate_per_sec mix-c10" {
		t.Errorf("asked %v", got)
	}
	o.Quick = true
	q := mustService(t, o)
	if len(q.Targets) != 2 || q.Blocks != 1 || len(q.Confirm) != 0 {
		t.Errorf("smoke run of %d targets, %d blocks", len(q.Targets), q.Blocks)
	}
	o.Options.Targets = []string{"new"}
	q = mustService(t, o)
	if len(q.Targets) != 1 || q.Targets[0].Base != "" || !q.Part || len(q.Primary) != 0 || q.Decision != nil {
		t.Errorf("one alone: %+v", q.Targets)
	}
}

// TestServiceQuickIsShort: whether everything works is seen in ten seconds.
func TestServiceQuickIsShort(t *testing.T) {
	o := serviceOptions(started("new", "old"), started("old", ""))
	o.Quick = true
	if p := mustService(t, o); p.Expected > 10*time.Second {
		t.Errorf("takes %v", p.Expected)
	}
}

// TestServiceRemote: of a server that runs already nobody can read memory or CPU time,
// and nothing keeps one on this machine apart from the generator.
func TestServiceRemote(t *testing.T) {
	p := mustService(t, serviceOptions(started("new", "old"), running("old", "", "http://192.0.2.1:80")))
	if got := told(p); !slices.Equal(got, []string{"new/old rate_per_sec mix-c20", "new/old p99_ns mix-open"}) {
		t.Errorf("asked %v", got)
	}
	m, ok := p.Scenario(mixMemory)
	if !ok || !slices.Equal(m.Targets, []string{"new"}) {
		t.Errorf("memory of %v", m.Targets)
	}
	if got := each(p.Targets, func(t record.Target) string { return t.Name }); !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("targets %v: a server that runs already has no twin", got)
	}
	if old := p.Targets[1]; old.Shared() || len(old.CPUs) > 0 {
		t.Errorf("%+v is shared, or on CPUs of ours", old)
	}
	p = mustService(t, serviceOptions(running("new", "old", "http://127.0.0.1:80"), running("old", "", "http://localhost:81")))
	if _, ok := p.Scenario(mixMemory); ok || !p.Targets[0].Shared() || !p.Targets[1].Shared() || len(p.Primary) != 0 {
		t.Errorf("targets %+v, asked %v", p.Targets, p.Primary)
	}
}

func TestServicePlaces(t *testing.T) {
	cpus := func(t record.Target, cpus ...int) record.Target { t.CPUs = cpus; return t }
	workers := func(t record.Target, n int) record.Target { t.Workers = n; return t }
	p := mustService(t, serviceOptions(cpus(started("new", "old"), 1, 2), cpus(started("old", ""), 1, 2)))
	if !slices.Equal(p.Targets[0].GeneratorCPUs, []int{0, 3}) {
		t.Errorf("generator on %v", p.Targets[0].GeneratorCPUs)
	}
	p = mustService(t, serviceOptions(cpus(started("all", ""), 0, 1, 2, 3)))
	if !p.Targets[0].Shared() {
		t.Error("a server on all CPUs is kept apart from its generator")
	}
	p = mustService(t, serviceOptions(workers(started("new", ""), 2)))
	if !slices.Equal(p.Targets[0].CPUs, []int{0, 1}) {
		t.Errorf("two workers on %v", p.Targets[0].CPUs)
	}
	for want, pair := range map[string][2]record.Target{
		"on CPU 9: this process may use [0 1 2 3]": {cpus(started("new", "old"), 9), started("old", "")},
		"that compares cores":                      {workers(started("new", "old"), 2), started("old", "")},
	} {
		if _, err := NewService(serviceOptions(pair[0], pair[1])); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("said %v, want %q", err, want)
		}
	}
}
