package plan

import (
	"testing"
	"time"

	"gonogo/runner/record"
)

// The plan of compare, for targets of its own: a part of the question, without a decision.
func TestPostgres(t *testing.T) {
	sets := CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}
	store := record.Store{Version: "postgres 15", Connections: 10}
	p := NewPostgres(Options{Kit: "t", CPUs: sets, Seed: 1, Budget: 12 * time.Minute}, PostgresTargets(sets), store)
	if !p.Part || p.Decision != nil || p.Store == nil || p.Store.Version != store.Version || p.Kind != "" {
		t.Errorf("part %v, decision %v, store %v, kind %q", p.Part, p.Decision, p.Store, p.Kind)
	}
	want := []struct {
		name, base string
		twin       bool
	}{{"go-postgres", "node-postgres", false}, {"node-postgres", "", false}, {"node-postgres-twin", "node-postgres", true}}
	for i, w := range want {
		if x := p.Targets[i]; x.Name != w.name || x.Base != w.base || x.Twin != w.twin || x.Workers != 1 {
			t.Errorf("target %d is %+v, want %+v", i, x, w)
		}
	}
	plain, err := New(Options{Kit: "t", CPUs: sets, Targets: []string{"go-1", "node-1"}, Seed: 1, Budget: 12 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != len(plain.Steps) || p.Blocks != plain.Blocks || len(p.Primary) != len(plain.Primary) || Fewest(p) < MinRounds {
		t.Errorf("%d steps in %d blocks, %d questions; of go-1 and node-1 %d, %d, %d", len(p.Steps), p.Blocks, len(p.Primary), len(plain.Steps), plain.Blocks, len(plain.Primary))
	}
	quick := NewPostgres(Options{Kit: "t", CPUs: sets, Seed: 1, Quick: true}, PostgresTargets(sets), store)
	if len(quick.Targets) != 2 || quick.Blocks != 1 {
		t.Errorf("quick: %d targets in %d blocks", len(quick.Targets), quick.Blocks)
	}
}
