package stats

import (
	"math/rand/v2"
	"testing"
)

func TestMedianIntervalRanks(t *testing.T) {
	// R: for (n in c(6,8,9,10,12,15,20)) { j <- qbinom(.025, n, .5)
	//      cat(n, j, n+1-j, 1-2*pbinom(j-1, n, .5), "\n") }
	for _, c := range []struct {
		n, lo, hi int
		covers    float64
		reached   bool
	}{
		{n: 1, lo: 1, hi: 1, covers: 0},
		{n: 2, lo: 1, hi: 2, covers: 0.5},                    // 1 - 2/4
		{n: 3, lo: 1, hi: 3, covers: 0.75},                   // 1 - 2/8: three repeats carry no verdict
		{n: 5, lo: 1, hi: 5, covers: 0.9375},                 // 1 - 2/32
		{n: 6, lo: 1, hi: 6, covers: 0.96875, reached: true}, // 1 - 2/64
		{n: 8, lo: 1, hi: 8, covers: 0.9921875, reached: true},
		{n: 9, lo: 2, hi: 8, covers: 0.9609375, reached: true},
		{n: 10, lo: 2, hi: 9, covers: 0.978515625, reached: true},
		{n: 12, lo: 3, hi: 10, covers: 0.9614257812, reached: true},
		{n: 15, lo: 4, hi: 12, covers: 0.9648437500, reached: true},
		{n: 20, lo: 6, hi: 15, covers: 0.9586105347, reached: true},
	} {
		xs := upTo(c.n)
		rand.New(rand.NewPCG(uint64(c.n), 0)).Shuffle(c.n, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
		got, ok := MedianInterval(xs, 0.95)
		if !ok || got.LoRank != c.lo || got.HiRank != c.hi || got.Lo != float64(c.lo) || got.Hi != float64(c.hi) {
			t.Errorf("n=%d: %+v, want ranks %d..%d", c.n, got, c.lo, c.hi)
		}
		near(t, "coverage", got.Confidence, c.covers, 1e-9)
		if got.Reached != c.reached || got.Needed != 6 {
			t.Errorf("n=%d: reached %v, needs %d; want %v, 6", c.n, got.Reached, got.Needed, c.reached)
		}
	}
}

func TestQuantileIntervalRanks(t *testing.T) {
	// R: n <- 10000; qbinom(.025, n, .99); qbinom(.975, n, .99) + 1
	// The p99 of 10 000 requests lies anywhere from their 98.80 % to their 99.20 % point.
	got, ok := QuantileInterval(upTo(10_000), 0.99, 0.95)
	if !ok || got.LoRank != 9880 || got.HiRank != 9920 || !got.Reached {
		t.Errorf("%+v, want ranks 9880..9920", got)
	}
	near(t, "coverage", got.Confidence, 0.9557547, 1e-6)

	few, _ := QuantileInterval(upTo(100), 0.99, 0.95)
	if few.Reached || few.Needed != 368 || few.HiRank != 100 {
		t.Errorf("p99 of 100 values: %+v, want not reached, 368 needed", few)
	}
}

// coverage returns how often the interval for the p90 of n values holds the truth.
func coverage(sims, n int, truth float64, draw func() []float64) float64 {
	hits := 0
	for range sims {
		if iv, ok := QuantileInterval(draw(), 0.9, 0.95); ok && iv.Lo <= truth && truth <= iv.Hi {
			hits++
		}
	}
	return float64(hits) / float64(sims)
}

func TestQuantileIntervalNeedsIndependence(t *testing.T) {
	// p90 of N(0,1) is 1.28155. n = 200: exact coverage is 0.9669 (R: F <- function(k)
	// pbinom(k,200,.9); F(qbinom(.975,200,.9)) - F(qbinom(.025,200,.9)-1)).
	// 2000 simulations: standard error 0.0040, so +-0.012 is three.
	const sims, n, truth = 2000, 200, 1.2815515655
	r := rand.New(rand.NewPCG(2, 0))
	xs := make([]float64, n)
	independent := coverage(sims, n, truth, func() []float64 {
		for i := range xs {
			xs[i] = r.NormFloat64()
		}
		return xs
	})
	near(t, "coverage of independent values", independent, 0.9669, 0.012)

	// Known-bad: the same interval on correlated values, as requests to one process
	// are. First-order autoregression with rho = 0.9 and unit variance.
	correlated := coverage(sims, n, truth, func() []float64 {
		x := r.NormFloat64()
		for i := range xs {
			xs[i] = x
			x = 0.9*x + 0.43588989435*r.NormFloat64() // sqrt(1 - 0.81)
		}
		return xs
	})
	if correlated > 0.75 {
		t.Errorf("coverage of correlated values is %.3f, want clearly below 0.90", correlated)
	}
}
