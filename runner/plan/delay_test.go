package plan

import (
	"slices"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// delays gives DELAY_MS of each target of a sweep, and the plan.
func delays(t *testing.T, levels []float64, fanOut int) (map[string]string, *record.Plan) {
	t.Helper()
	f, err := Delay(levels, fanOut)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewScale(ScaleOptions{Kit: "t", Factor: f, CPUs: CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}, Seed: 1, Repeats: 6})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range p.Targets {
		got[x.Name] = ""
		for _, e := range x.Env {
			if v, ok := strings.CutPrefix(e, "DELAY_MS="); ok {
				got[x.Name] = v
			}
		}
	}
	return got, p
}

func TestDelay(t *testing.T) {
	got, p := delays(t, []float64{0, 1, 20}, 1)
	for name, want := range map[string]string{"go-1-0ms": "", "go-1-1ms": "1", "go-1-20ms": "20", "node-1-0ms": "", "node-1-1ms": "1", "node-1-20ms": "20"} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s has DELAY_MS=%s (%v), want %s", name, v, ok, want)
		}
	}
	if x, _ := p.Target("go-1-20ms"); x.Base != "node-1-20ms" || len(got) != 6 {
		t.Errorf("go-1-20ms is against %q among %d targets", x.Base, len(got))
	}
	for _, pt := range p.Scale.Points {
		if pt.Load != "load" || pt.Open != "open" || pt.Memory != "memory" {
			t.Errorf("point %+v: all levels run the same scenarios", pt)
		}
	}
	load, _ := p.Scenario("load")
	open, _ := p.Scenario("open")
	if load.Kind != record.Closed || load.Connections != 50 || open.Kind != record.Open || open.RatePerSec != 2000 || open.Connections != 200 {
		t.Errorf("load %+v, open %+v", load, open)
	}
	for _, st := range p.Steps {
		if n := p.Rounds(st.Target, st.Scenario); n != 6 {
			t.Fatalf("%s runs in %d blocks", st.Key(), n)
		}
	}
}

func TestDelayOfAFanOut(t *testing.T) {
	got, p := delays(t, []float64{0, 5, 100}, 3)
	for name, want := range map[string]string{"go-1-series-5ms": "5+5+5", "go-1-parallel-5ms": "5/5/5", "node-1-series-100ms": "100+100+100", "node-1-parallel-0ms": ""} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s has DELAY_MS=%s (%v), want %s", name, v, ok, want)
		}
	}
	if x, _ := p.Target("go-1-parallel-5ms"); x.Base != "node-1-parallel-5ms" || len(got) != 12 {
		t.Errorf("go-1-parallel-5ms is against %q among %d targets", x.Base, len(got))
	}
	// Little's law: 2000/s that each wait for 3 x 101 ms are 606 at once.
	if open, _ := p.Scenario("open"); open.Connections < 606*5/4 {
		t.Errorf("%d connections for 606 requests at once", open.Connections)
	}
}

func TestDelaysThatNoServerTakes(t *testing.T) {
	for _, c := range []struct {
		levels []float64
		fanOut int
	}{{[]float64{0, 0.5}, 1}, {[]float64{0, 901}, 1}, {[]float64{0, 301}, 3}, {[]float64{-1, 5}, 1}, {[]float64{0, 5}, 0}, {[]float64{0, 5}, 17}} {
		if f, err := Delay(c.levels, c.fanOut); err == nil {
			t.Errorf("%v x %d gives %+v", c.levels, c.fanOut, f)
		}
	}
	if _, err := Delay([]float64{0, 300}, 3); err != nil {
		t.Error(err)
	}
}

// A factor that is none of waits has no open loop.
func TestConnectionsHaveNoOpenLoop(t *testing.T) {
	p, err := NewScale(ScaleOptions{Kit: "t", Factor: Connections([]float64{1, 2}), Seed: 1, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Scenarios, func(s record.Scenario) bool { return s.Kind == record.Open }) || p.Scale.Points[0].Open != "" {
		t.Errorf("%+v", p.Scale.Points[0])
	}
}
