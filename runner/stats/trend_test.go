package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMannKendall(t *testing.T) {
	// R: cor.test(1:10, x, method="kendall")  T = 40 (so S = 2*40 - 45), p = 0.0009463183
	m, ok := MannKendall([]float64{5, 3, 8, 6, 9, 12, 10, 11, 15, 14})
	if !ok || m.S != 35 {
		t.Errorf("%+v, want S = 35", m)
	}
	near(t, "p", m.P, 0.0009463183, 1e-9)
	// Ties, by the textbook formula in R: v <- (n(n-1)(2n+5) - sum(t(t-1)(2t+5)))/18;
	// 2*pnorm(-(S-1)/sqrt(v))  S = 41, v = 202.33, p = 0.004922365
	m, _ = MannKendall([]float64{1, 1, 2, 2, 2, 3, 1, 4, 4, 5, 5, 3})
	if m.S != 41 {
		t.Errorf("%+v, want S = 41", m)
	}
	near(t, "p with ties", m.P, 0.004922365, 1e-8)
	// By hand: of 3! orders one has no inversion, p = 2/6.
	m, _ = MannKendall([]float64{1, 2, 3})
	near(t, "p of three", m.P, 1.0/3, 1e-12)
	m, _ = MannKendall([]float64{7, 7, 7})
	near(t, "p of equal values", m.P, 1, 0)
	if _, ok := MannKendall([]float64{1}); ok {
		t.Error("one value has a trend")
	}
}

func TestMannKendallLongAgreesWithShort(t *testing.T) {
	// The normal form takes over at 61 values; the two must meet there.
	xs := make([]float64, exactTrend)
	r := rand.New(rand.NewPCG(17, 0))
	for i := range xs {
		xs[i] = 0.02*float64(i) + r.NormFloat64()
	}
	exact, _ := MannKendall(xs)
	if exact.P > 0.5 || exact.P < 1e-4 {
		t.Fatalf("p = %g says nothing", exact.P)
	}
	z := float64(abs(exact.S)-1) / math.Sqrt(60*59*125/18.0)
	near(t, "p", 2*normalBelow(-z), exact.P, 0.10*exact.P) // 0.0055 for 0.0052
}

func TestTheilSen(t *testing.T) {
	// R: median over pairs of (x[j]-x[i])/(j-i) of the first series above: 1.25
	slope, ok := TheilSen(upTo(10), []float64{5, 3, 8, 6, 9, 12, 10, 11, 15, 14})
	if !ok {
		t.Fatal("no slope")
	}
	near(t, "slope", slope, 1.25, 1e-12)
	// Known-bad: one wild value of seven turns least squares around (slope -3.29),
	// this one stays at 1. 1..7 with the last value -13: sum (x-4)(y-ymean) = 28 - 3*20 = -32
	// over 28 = -1.14.
	ys := upTo(7)
	ys[6] = -13
	slope, _ = TheilSen(upTo(7), ys)
	near(t, "slope with a wild value", slope, 1, 1e-12)
	mean, _ := Mean(ys)
	squares := 0.0
	for i, y := range ys {
		squares += (float64(i+1) - 4) * (y - mean) / 28
	}
	near(t, "least squares", squares, -32.0/28, 1e-12)
	if _, ok := TheilSen([]float64{1, 1}, []float64{1, 2}); ok {
		t.Error("a vertical line has a slope")
	}
}

func TestHeapGrowth(t *testing.T) {
	// Memory after each of six rests. A sawtooth has no trend; +3 % a cycle has.
	saw, _ := MannKendall([]float64{100, 108, 101, 107, 102, 106})
	grow, _ := MannKendall([]float64{100, 103, 106.1, 109.3, 112.6, 115.9})
	if saw.P < 0.05 || grow.P > 0.05 { // exact: 2/6! = 0.003
		t.Errorf("sawtooth p = %g, growth p = %g", saw.P, grow.P)
	}
}
