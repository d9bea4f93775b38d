package plan

import (
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

func TestNewCapacity(t *testing.T) {
	p, err := NewCapacity(CapacityOptions{Seed: 3, Repeats: 3, Quantile: 0.95, SLO: 20 * time.Millisecond, CPUs: CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range p.Targets {
		names = append(names, x.Name)
	}
	if p.Kind != record.Capacity || p.Probe == nil || !p.Part || !slices.Equal(names, []string{"go-1", "node-1"}) || len(p.Steps) != 12 || len(p.Primary) != 0 || p.Decision != nil {
		t.Fatalf("kind %s, targets %v, %d steps", p.Kind, names, len(p.Steps))
	}
	// 2 targets x (25 trials of 5.35 s + 20 s, 1 s, 0.35 s and 4 s to recover) x 3, and what comes before.
	if want := 3*2*(25*5350+25350)*time.Millisecond + prelude(p.Targets); p.Expected != want {
		t.Errorf("expected to take %v, want %v", p.Expected, want)
	}
	for i, st := range p.Steps {
		in := i % 4
		if want := map[bool]string{true: searchScenario, false: overloadScenario}[in < 2]; st.Scenario != want || st.Index != i || st.Position != in || st.Block != i/4+1 {
			t.Errorf("step %d is %+v, want %s at place %d of block %d", i, st, want, in, i/4+1)
		}
	}
	if _, err := NewCapacity(CapacityOptions{Targets: []string{"node-1-twin"}, Repeats: 1}); err == nil {
		t.Error("an A/A twin can be searched")
	}
}

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]struct {
		q   float64
		slo time.Duration
	}{"p95<20ms": {0.95, 20 * time.Millisecond}, "p50<1s": {0.5, time.Second}, "p99.9<250us": {0.999, 250 * time.Microsecond}} {
		q, slo, err := ParseSLO(text)
		if err != nil || q < want.q-1e-12 || q > want.q+1e-12 || slo != want.slo {
			t.Errorf("%s: %g, %v, %v", text, q, slo, err)
		}
	}
	for _, text := range []string{"", "95<20ms", "p95", "p95<", "p95<20", "p95<-1ms", "p0<1s", "p100<1s", "pNaN<1s", "p95<20ms or so", "max<1s"} {
		if q, slo, err := ParseSLO(text); err == nil {
			t.Errorf("%q: read as %g, %v", text, q, slo)
		}
	}
}
