package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBimodal(t *testing.T) {
	modes := []float64{130, 101, 99, 131, 100, 129, 98, 128, 132, 102}
	given := slices.Clone(modes)
	m, ok := Bimodal(modes)
	if !ok || !slices.Equal(m.Low, []float64{98, 99, 100, 101, 102}) || !slices.Equal(m.High, []float64{128, 129, 130, 131, 132}) {
		t.Errorf("%+v, %v", m, ok)
	}
	if !slices.Equal(modes, given) {
		t.Error("the caller's slice was changed")
	}
	for name, xs := range map[string][]float64{
		"one outlier is no mode":   {100, 101, 102, 103, 150},
		"5 % apart":                {100, 100.1, 100.2, 105, 105.1, 105.2},
		"spread evenly":            {100, 110, 120, 130, 140, 150},
		"no gap stands out":        {100, 110, 121, 130, 140, 150},
		"three values say nothing": {1, 1, 9},
	} {
		if m, ok := Bimodal(xs); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestBimodalOnNoise(t *testing.T) {
	// Ten of N(100, 3) are never 10 % apart in two groups. Known-bad: the gap alone.
	r := rand.New(rand.NewPCG(24, 0))
	called, gapAlone, found := 0, 0, 0
	for range 500 {
		xs := normals(r, 10, 0)
		mixture := slices.Clone(xs)
		for i := range xs {
			xs[i] = 100 + 3*xs[i]
			mixture[i] = 100 + float64(i%2)*30 + 3*mixture[i]
		}
		if _, ok := Bimodal(xs); ok {
			called++
		}
		if _, ok := Bimodal(mixture); ok {
			found++
		}
		sorted := ascending(xs)
		var gaps []float64
		for i := range 9 {
			gaps = append(gaps, sorted[i+1]-sorted[i])
		}
		if typical, _ := Median(gaps); slices.Max(gaps) > 3*typical {
			gapAlone++
		}
	}
	if called > 5 || found < 475 {
		t.Errorf("bimodal: %d of 500 plain samples, %d of 500 mixtures", called, found)
	}
	if gapAlone < 250 {
		t.Errorf("the gap alone calls %d of 500; the test has no power", gapAlone)
	}
}

func TestShares(t *testing.T) {
	// By hand: (40+10)^2 / (2 * (1600+100)) = 2500/3400.
	for _, c := range []struct {
		xs              []float64
		jain, imbalance float64
	}{
		{[]float64{25, 25}, 1, 1},
		{[]float64{40, 10}, 2500.0 / 3400, 1.6},
		{[]float64{1, 0, 0, 0}, 0.25, 4},
	} {
		j, _ := Jain(c.xs)
		m, _ := Imbalance(c.xs)
		near(t, "Jain", j, c.jain, 1e-12)
		near(t, "imbalance", m, c.imbalance, 1e-12)
	}
	for _, xs := range [][]float64{nil, {0, 0}, {-1, 2}} {
		if _, ok := Jain(xs); ok {
			t.Errorf("Jain of %v is known", xs)
		}
		if _, ok := Imbalance(xs); ok {
			t.Errorf("imbalance of %v is known", xs)
		}
	}
}

func TestDutyRatio(t *testing.T) {
	// A closed queue in virtual time: one server of 1 ms, 5 connections, no think time.
	// Each request waits for the four before it: mean 5 ms, rate 1000/s, ratio 1.
	full, _ := DutyRatio(1000, 0.005, 5)
	near(t, "duty ratio", full, 1, 1e-12)
	// 1 ms of client work after a reply of 5 ms: rate 5/(6 ms).
	thinking, _ := DutyRatio(5/0.006, 0.005, 5)
	near(t, "with a slow client", thinking, 5.0/6, 1e-12)
	// One sample in ten lost: the rate that was counted is 900/s.
	lost, _ := DutyRatio(900, 0.005, 5)
	if thinking >= 0.95 || lost >= 0.95 {
		t.Errorf("%g and %g pass 0.95", thinking, lost)
	}
	// A published row: 1499 requests/s with a p50 of 3.4 ms on 20 connections. p50 in
	// the place of the mean gives 0.25: the law then tells that p50 is not the mean.
	published, _ := DutyRatio(1499, 0.0034, 20)
	near(t, "p50 instead of mean", published, 0.2548, 1e-4)
	if _, ok := DutyRatio(0, 0.005, 5); ok {
		t.Error("a ratio without a rate")
	}
}
