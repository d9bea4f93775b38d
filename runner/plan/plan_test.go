package plan

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

var twoCPUs = CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}

func TestEveryBlockHoldsEveryStepOnce(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	cells := len(p.Targets) * len(p.Scenarios)
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
	n := len(p.Targets) * len(p.Scenarios)
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
		{0, false, 6, 8, false}, // the default: at least 6 blocks in 12 minutes
		{30 * time.Minute, false, 14, 20, false},
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

func TestSelect(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Targets: []string{"go-2", "go-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Targets) != 2 || p.Targets[0].Name != "go-1" || p.Targets[0].Base != "" {
		t.Errorf("got %+v", p.Targets)
	}
	var unknown *UnknownTarget
	if _, err := New(Options{CPUs: twoCPUs, Targets: []string{"rust-1"}}); !errors.As(err, &unknown) || len(unknown.Valid) != 4 {
		t.Errorf("got %v", err)
	}
}
