package plan

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

var twoCPUs = CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}

func TestEveryBlockHoldsEveryStepOnce(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	// 5 targets x 4 scenarios that primary tests read, 4 targets x 2 of POST without the twin
	const cells = 5*4 + 4*2
	if len(p.Steps) != cells*p.Blocks {
		t.Fatalf("%d steps, want %d blocks x %d", len(p.Steps), p.Blocks, cells)
	}
	seen := map[string]int{}
	for i, s := range p.Steps {
		if s.Index != i || s.Block != i/cells+1 || s.Position != i%cells {
			t.Fatalf("step %d says index %d, block %d, position %d", i, s.Index, s.Block, s.Position)
		}
		seen[s.Key()]++
	}
	for k, n := range seen {
		if n != 1 {
			t.Errorf("%s occurs %d times", k, n)
		}
	}
	if len(seen) != len(p.Steps) {
		t.Errorf("%d distinct keys of %d steps", len(seen), len(p.Steps))
	}
}

func TestSeedDecidesTheOrder(t *testing.T) {
	at := func(seed uint64) any {
		p, _ := New(Options{CPUs: twoCPUs, Seed: seed})
		return p.Steps
	}
	if !reflect.DeepEqual(at(1), at(1)) {
		t.Error("the same seed gives two orders")
	}
	if reflect.DeepEqual(at(1), at(2)) {
		t.Error("two seeds give one order")
	}
	p, _ := New(Options{CPUs: twoCPUs, Seed: 1})
	n := len(p.Steps) / p.Blocks
	same := true
	for i := range n {
		a, b := p.Steps[i], p.Steps[n+i]
		same = same && a.Target == b.Target && a.Scenario == b.Scenario
	}
	if same {
		t.Error("block 2 repeats the order of block 1")
	}
}

// A base is never more than one scenario's targets away from what it is compared
// with, and takes either place.
func TestPairsRunSideBySide(t *testing.T) {
	p, _ := New(Options{CPUs: twoCPUs, Seed: 3, Budget: 2 * time.Hour})
	at := map[string]int{}
	for _, s := range p.Steps {
		at[s.Key()] = s.Index
	}
	first := 0
	for _, s := range p.Steps {
		if s.Target != "go-1" {
			continue
		}
		s.Target = "node-1"
		base := at[s.Key()]
		s.Target = "go-1"
		gap := at[s.Key()] - base
		if gap >= len(p.Targets) || -gap >= len(p.Targets) {
			t.Errorf("%s runs %d steps from its base", s.Key(), gap)
		}
		if gap < 0 {
			first++
		}
	}
	// 30 blocks x 5 scenarios: 150 fair draws lie within 75 +- 4 x 6.1.
	if n := p.Blocks * len(p.Scenarios); first < n/2-25 || first > n/2+25 {
		t.Errorf("go-1 runs before its base in %d of %d", first, n)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		budget     time.Duration
		quick      bool
		min, max   int // blocks
		longWindow bool
	}{
		{0, false, 8, 10, false}, // below 8 blocks an A/A twin cannot void a session: 2/2^7 > 0.01
		{30 * time.Minute, false, 14, 25, false},
		{10 * time.Hour, false, 30, 30, true},
		{time.Minute, false, 1, 1, false},
		{0, true, 1, 1, false},
	} {
		p, err := New(Options{CPUs: twoCPUs, Budget: c.budget, Quick: c.quick})
		if err != nil {
			t.Fatal(err)
		}
		if p.Blocks < c.min || p.Blocks > c.max {
			t.Errorf("budget %v: %d blocks, want %d to %d", c.budget, p.Blocks, c.min, c.max)
		}
		if p.Expected > p.Budget && p.Blocks > 1 {
			t.Errorf("budget %v: the plan expects %v", p.Budget, p.Expected)
		}
		if c.quick && p.Expected > 2*time.Minute {
			t.Errorf("quick expects %v", p.Expected)
		}
		if long := p.Scenarios[0].Window > fullTimes.window; long != c.longWindow {
			t.Errorf("budget %v: window %v", c.budget, p.Scenarios[0].Window)
		}
	}
}

func TestPairsShareTheirCPUs(t *testing.T) {
	p, _ := New(Options{CPUs: twoCPUs})
	for _, target := range p.Targets {
		if target.Base == "" {
			continue
		}
		base, ok := p.Target(target.Base)
		if !ok {
			t.Fatalf("%s has base %s, which is not in the plan", target.Name, target.Base)
		}
		if !reflect.DeepEqual(base.CPUs, target.CPUs) || base.Workers != target.Workers {
			t.Errorf("%s and %s differ in CPUs or workers", target.Name, base.Name)
		}
	}
	one, _ := p.Target("go-1")
	many, _ := p.Target("go-2")
	if one.Shared() || !many.Shared() {
		t.Error("on two CPUs the one-core pair has a CPU of its own and the k-core pair shares")
	}
}

func names(p *record.Plan) (all []string) {
	for _, t := range p.Targets {
		all = append(all, t.Name)
	}
	return all
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		ask   []string
		quick bool
		want  []string
	}{
		{[]string{"go-2", "go-1"}, false, []string{"go-1", "go-2"}},
		{[]string{"node-1", "go-1"}, false, []string{"go-1", "node-1", "node-1-twin"}}, // a base brings its twin
		{[]string{"node-1", "go-1"}, true, []string{"go-1", "node-1"}},
		{nil, false, []string{"go-1", "node-1", "node-1-twin", "go-2", "node-cluster-2"}},
	} {
		p, err := New(Options{CPUs: twoCPUs, Targets: c.ask, Quick: c.quick})
		if err != nil || !slices.Equal(names(p), c.want) {
			t.Errorf("%v: got %v, %v; want %v", c.ask, names(p), err, c.want)
		}
	}
	p, _ := New(Options{CPUs: twoCPUs, Targets: []string{"go-1"}})
	if p.Targets[0].Base != "" || len(p.Primary) != 0 {
		t.Errorf("go-1 alone has base %q and %d primary tests", p.Targets[0].Base, len(p.Primary))
	}
	var unknown *UnknownTarget
	if _, err := New(Options{CPUs: twoCPUs, Targets: []string{"rust-1"}}); !errors.As(err, &unknown) || len(unknown.Valid) != 4 {
		t.Errorf("got %v", err)
	}
}

// On two CPUs the k-core pair shares its CPUs with the generator: its rate and
// latency are not the server's. On more all five questions are asked of both.
func TestPrimaryFamily(t *testing.T) {
	apart := CPUSets{One: []int{0}, OneGenerator: []int{2}, Many: []int{0, 1}, ManyGenerator: []int{2}, K: 2}
	for _, c := range []struct {
		cpus CPUSets
		want int
	}{{twoCPUs, 5 + 2}, {apart, 5 + 5}} {
		p, _ := New(Options{CPUs: c.cpus})
		if len(p.Primary) != c.want {
			t.Errorf("%d primary tests, want %d: %+v", len(p.Primary), c.want, p.Primary)
		}
		for _, q := range p.Primary {
			target, _ := p.Target(q.Target)
			sc, ok := p.Scenario(q.Scenario)
			if !ok || !sc.Has(q.Target) || !sc.Has(q.Base) || target.Base != q.Base || target.Twin {
				t.Errorf("primary test %+v does not fit the plan", q)
			}
		}
	}
}
