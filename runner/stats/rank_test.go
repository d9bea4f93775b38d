package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// near fails unless got is within tol of want, an absolute distance.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.10g, want %.10g within %g", what, got, want, tol)
	}
}

// upTo returns 1, 2, ... n, in which a value is its own rank.
func upTo(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i + 1)
	}
	return xs
}

func TestNearestRankOfOneToN(t *testing.T) {
	// By hand: rank = ceil(q n), at least 1. Columns are q = 0, .25, .5, .9, .95, .99, 1.
	qs := []float64{0, 0.25, 0.5, 0.9, 0.95, 0.99, 1}
	for n, want := range map[int][]float64{
		1:  {1, 1, 1, 1, 1, 1, 1},
		2:  {1, 1, 1, 2, 2, 2, 2},
		3:  {1, 1, 2, 3, 3, 3, 3},
		4:  {1, 1, 2, 4, 4, 4, 4},
		5:  {1, 2, 3, 5, 5, 5, 5},
		6:  {1, 2, 3, 6, 6, 6, 6},
		7:  {1, 2, 4, 7, 7, 7, 7},
		8:  {1, 2, 4, 8, 8, 8, 8},
		9:  {1, 3, 5, 9, 9, 9, 9},
		10: {1, 3, 5, 9, 10, 10, 10},
		11: {1, 3, 6, 10, 11, 11, 11},
		12: {1, 3, 6, 11, 12, 12, 12},
		13: {1, 4, 7, 12, 13, 13, 13},
		14: {1, 4, 7, 13, 14, 14, 14},
		15: {1, 4, 8, 14, 15, 15, 15},
		16: {1, 4, 8, 15, 16, 16, 16},
		17: {1, 5, 9, 16, 17, 17, 17},
		18: {1, 5, 9, 17, 18, 18, 18},
		19: {1, 5, 10, 18, 19, 19, 19},
		20: {1, 5, 10, 18, 19, 20, 20},
	} {
		for i, q := range qs {
			if got, ok := NearestRank(upTo(n), q); !ok || got != want[i] {
				t.Errorf("n=%d q=%g: %g, %v; want %g", n, q, got, ok, want[i])
			}
		}
	}
}

func TestNearestRankIsExactForDecimals(t *testing.T) {
	// Rank i of 100 answers q = i/100 for every i. The plain ceil(q*n) does not:
	// 0.07*100 rounds to 7.000000000000001, and it takes the 8th.
	wrong := 0
	for i := 1; i <= 100; i++ {
		q := float64(i) / 100
		if got, _ := NearestRank(upTo(100), q); got != float64(i) {
			t.Errorf("q=%g of 1..100: %g, want %d", q, got, i)
		}
		if int(math.Ceil(q*100)) != i {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("ceil(q*n) was right everywhere; the test has no power")
	}
}

func TestNearestRankUnsorted(t *testing.T) {
	// R: quantile(c(3,1,4,1,5,9,2,6,5,3,5), c(0,.1,.25,.5,.75,.9,.99,1), type=1)
	xs := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
	given := slices.Clone(xs)
	for q, want := range map[float64]float64{0: 1, 0.1: 1, 0.25: 2, 0.5: 4, 0.75: 5, 0.9: 6, 0.99: 9, 1: 9} {
		if got, ok := NearestRank(xs, q); !ok || got != want {
			t.Errorf("q=%g: %g, want %g", q, got, want)
		}
	}
	if !slices.Equal(xs, given) {
		t.Errorf("the caller's slice became %v", xs)
	}
}

func TestNearestRankOfExponential(t *testing.T) {
	// p99 of an exponential is ln(100) = 4.605 times its mean; at n = 1e6 its
	// standard error is sqrt(.01*.99/1e6)/.01 = 0.010, that is 0.22 %.
	r := rand.New(rand.NewPCG(1, 0))
	xs := make([]float64, 1_000_000)
	for i := range xs {
		xs[i] = r.ExpFloat64()
	}
	got, _ := NearestRank(xs, 0.99)
	near(t, "p99", got, math.Log(100), 0.01*math.Log(100))
}

func TestAveragedQuantilesAreNotTheFleetQuantile(t *testing.T) {
	// Two processes of 1000 requests each: one with p99 = 1, the other 100. Half of
	// all requests are slow, so the fleet's p99 is 100; the mean of the two p99s,
	// 50.5, is a latency that nobody saw.
	fast, slow := slices.Repeat([]float64{1}, 1000), slices.Repeat([]float64{100}, 1000)
	a, _ := NearestRank(fast, 0.99)
	b, _ := NearestRank(slow, 0.99)
	fleet, _ := NearestRank(slices.Concat(fast, slow), 0.99)
	if fleet != 100 {
		t.Errorf("p99 of the merged requests is %g, want 100", fleet)
	}
	if averaged := (a + b) / 2; averaged == fleet {
		t.Errorf("the averaged p99 %g agrees; the test has no power", averaged)
	}
}

func TestSamplesNeeded(t *testing.T) {
	// ceil(ln .025 / ln q), by hand: p50 5.32, p90 35.01, p95 71.92, p99 367.04, ...
	for q, want := range map[float64]int{0.5: 6, 0.9: 36, 0.95: 72, 0.99: 368, 0.999: 3688, 0.9999: 36887, 0.01: 368} {
		n, ok := SamplesNeeded(q, 0.95)
		if !ok || n != want {
			t.Errorf("q=%g: %d, want %d", q, n, want)
		}
		// That number is enough and one less is not.
		if _, _, covered := quantileRanks(n, q, 0.025); covered < 0.95 {
			t.Errorf("q=%g: %d values cover only %g", q, n, covered)
		}
	}
	for _, q := range []float64{0, 1, -1, math.NaN()} {
		if _, ok := SamplesNeeded(q, 0.95); ok {
			t.Errorf("q=%g: there is no such number", q)
		}
	}
}

func TestSummaries(t *testing.T) {
	xs := []float64{9, 2, 4, 4, 5, 4, 7, 5}
	given := slices.Clone(xs)
	m, _ := Median(xs)
	near(t, "median", m, 4.5, 0)
	mean, _ := Mean(xs)
	near(t, "mean", mean, 5, 0)
	s, _ := SampleDeviation(xs) // R: sd(c(2,4,4,4,5,5,7,9)); the population form is exactly 2
	near(t, "deviation", s, 2.138089935299, 1e-11)
	lo, hi, _ := MinMax(xs)
	if lo != 2 || hi != 9 {
		t.Errorf("span %g..%g, want 2..9", lo, hi)
	}
	if !slices.Equal(xs, given) {
		t.Errorf("the caller's slice became %v", xs)
	}
}

func TestNoAnswerFromNothing(t *testing.T) {
	for name, xs := range map[string][]float64{"nil": nil, "NaN": {1, math.NaN(), 2}, "Inf": {1, math.Inf(1)}} {
		if _, ok := Median(xs); ok {
			t.Errorf("%s: median is known", name)
		}
		if _, ok := Mean(xs); ok {
			t.Errorf("%s: mean is known", name)
		}
		if _, ok := SampleDeviation(xs); ok {
			t.Errorf("%s: deviation is known", name)
		}
		if _, _, ok := MinMax(xs); ok {
			t.Errorf("%s: span is known", name)
		}
		if _, ok := NearestRank(xs, 0.5); ok {
			t.Errorf("%s: quantile is known", name)
		}
		if _, ok := MedianInterval(xs, 0.95); ok {
			t.Errorf("%s: interval is known", name)
		}
	}
	if _, ok := SampleDeviation([]float64{1}); ok {
		t.Error("one value has a deviation")
	}
	if _, ok := NearestRank([]float64{1}, 99); ok {
		t.Error("q = 99 was taken for a quantile; a quantile is 0..1")
	}
}

func TestNearestRankProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 60).Draw(t, "xs")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		a, _ := NearestRank(xs, p)
		b, _ := NearestRank(xs, q)
		if a > b {
			t.Fatalf("quantile %g is %g, quantile %g is %g", p, a, q, b)
		}
		if !slices.Contains(xs, b) {
			t.Fatalf("%g is not one of the values", b)
		}
		below, atMost := 0, 0
		for _, x := range xs {
			if x < b {
				below++
			}
			if x <= b {
				atMost++
			}
		}
		if n := float64(len(xs)); float64(atMost)/n < q || (below > 0 && float64(below)/n >= q) {
			t.Fatalf("%g is not the smallest value with a share %g at or below", b, q)
		}
	})
}
