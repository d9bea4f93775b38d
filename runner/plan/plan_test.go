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

func TestEveryBlockHoldsAStepOnce(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	block, position := 1, 0
	for i, s := range p.Steps {
		if s.Block == block+1 {
			block, position = s.Block, 0
		}
		if s.Index != i || s.Block != block || s.Position != position {
			t.Fatalf("step %d says index %d, block %d, position %d", i, s.Index, s.Block, s.Position)
		}
		if seen[s.Key()] {
			t.Errorf("%s occurs twice", s.Key())
		}
		seen[s.Key()] = true
		position++
	}
	if block != p.Blocks {
		t.Errorf("%d blocks, want %d", block, p.Blocks)
	}
}

// By hand, of 16 blocks: 7/8 are 14, half are 8, 3/8 are 6. All members of a pair run
// in the same blocks.
func TestRounds(t *testing.T) {
	p, err := New(Options{CPUs: twoCPUs, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if p.Blocks != 16 {
		t.Fatalf("the default has %d blocks, want 16", p.Blocks)
	}
	for _, c := range []struct {
		scenario, one string
		want, shared  int
	}{
		{getMany, "go-1", 14, 6}, {getFew, "go-1", 14, 6}, {getOpen, "go-1", 8, 8},
		{memoryOpen, "go-1", 8, 8}, {postFew, "go-1", 6, 6}, {postMany, "go-1", 6, 6},
	} {
		for _, x := range p.Targets {
			want := c.want
			if x.Shared() {
				want = c.shared
			}
			if sc, _ := p.Scenario(c.scenario); !sc.Has(x.Name) {
				want = 0
			}
			if got := p.Rounds(x.Name, c.scenario); got != want {
				t.Errorf("%s runs %s in %d blocks, want %d", x.Name, c.scenario, got, want)
			}
		}
	}
	in := map[string]bool{}
	for _, st := range p.Steps {
		in[st.Key()] = true
	}
	for _, st := range p.Steps {
		x, _ := p.Target(st.Target)
		other := st
		other.Target = x.Base
		if sc, _ := p.Scenario(st.Scenario); x.Base != "" && sc.Has(x.Base) && !in[other.Key()] {
			t.Errorf("%s has no partner in its block", st.Key())
		}
	}
	if Fewest(p) != 8 {
		t.Errorf("the least primary test has %d rounds, want 8", Fewest(p))
	}
}

// A share is kept over any number of blocks, within the one round that its phase
// decides, and one block holds everything.
func TestShares(t *testing.T) {
	for _, sh := range []share{{1, 0}, {0.875, 0}, {0.875, 0.125}, {0.5, 0.5}, {0.5, 0}, {0.375, 0.625}, {0.375, 0.125}} {
		for blocks := 2; blocks <= maxBlocks; blocks++ {
			n := 0
			for b := 1; b <= blocks; b++ {
				if sh.in(b, blocks) {
					n++
				}
			}
			if want := float64(blocks) * sh.of; n != sh.rounds(blocks) || float64(n) <= want-1 || float64(n) >= want+1 {
				t.Errorf("%v: %d of %d blocks, and says %d", sh, n, blocks, sh.rounds(blocks))
			}
		}
		if !sh.in(1, 1) || sh.rounds(1) != 1 {
			t.Errorf("%v is not in the only block", sh)
		}
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
	var first, third []string // both hold the same cells but for POST
	for _, st := range p.Steps {
		if st.Scenario != getMany {
			continue
		}
		switch st.Block {
		case 1, 3, 5, 7, 9:
			first = append(first, st.Target)
		case 2, 4, 6, 8, 10:
			third = append(third, st.Target)
		}
	}
	if slices.Equal(first, third) {
		t.Error("every second block repeats the order of the one before")
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
	// Some 210 fair draws: four standard deviations are 4 x sqrt(210)/2 = 29.
	n := 0
	for _, sc := range p.Scenarios {
		n += p.Rounds("go-1", sc.Name)
	}
	if n < 180 || first < n/2-29 || first > n/2+29 {
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
		{0, false, 16, 16, false},
		{30 * time.Minute, false, 36, 44, false},
		{2 * time.Hour, false, 60, 60, true},
		{50 * time.Hour, false, 60, 60, true},
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
		if p.Expected > p.Budget && p.Blocks > 1 || p.Expected < p.Budget*9/10 && p.Blocks > 1 && p.Scenarios[0].Window < longestWindow {
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
