package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// depression holds the differences of Hollander & Wolfe (1973), p. 29, example of
// R's wilcox.test: Hamilton depression scale, before minus after.
var depression = []float64{
	1.83 - 0.878, 0.50 - 0.647, 1.62 - 0.598, 2.48 - 2.05, 1.68 - 1.06,
	1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14, 1.30 - 1.29,
}

func TestSignedRankPublished(t *testing.T) {
	// R: wilcox.test(d, conf.int=TRUE)  V = 40, p = 0.03906, (0.010, 0.786), 0.46
	//    wilcox.test(d, alternative="greater")$p.value  0.01953125
	//    wilcox.test(d, conf.int=TRUE, conf.level=.9)$conf.int  (0.175, 0.726)
	given := slices.Clone(depression)
	s, ok := WilcoxonSignedRank(depression)
	if !ok || s.N != 9 || s.Positive != 40 {
		t.Errorf("%+v, want V = 40 of 9", s)
	}
	near(t, "p", s.P, 0.0390625, 1e-12)
	near(t, "p greater", s.PGreater, 0.01953125, 1e-12)
	near(t, "p less", s.PLess, 0.986328125, 1e-12) // R: psignrank(40, 9)
	e, _ := HodgesLehmann(depression, 0.95)
	near(t, "estimate", e.Value, 0.46, 1e-9)
	near(t, "lo", e.Lo, 0.010, 1e-9)
	near(t, "hi", e.Hi, 0.786, 1e-9)
	near(t, "confidence", e.Confidence, 1-2*0.01953125, 1e-12)
	e, _ = HodgesLehmann(depression, 0.90)
	near(t, "lo 90", e.Lo, 0.175, 1e-9)
	near(t, "hi 90", e.Hi, 0.726, 1e-9)
	if !slices.Equal(depression, given) {
		t.Error("the caller's slice was changed")
	}
}

func TestSignedRankTables(t *testing.T) {
	// Critical values, two-sided 5 %: the largest T with 2 P(T+ <= T) <= .05. Wilcoxon
	// & Wilcox (1964), in most textbooks; R: qsignrank(.025, n) - 1, psignrank of it.
	for _, c := range []struct {
		n, critical int
		p           float64
	}{
		{6, 0, 0.015625}, {7, 2, 0.0234375}, {8, 3, 0.01953125}, {9, 5, 0.01953125},
		{10, 8, 0.02441406}, {11, 10, 0.02099609}, {12, 13, 0.02124023},
	} {
		null := signedRankNull(c.n)
		near(t, "P at critical value", sum(null[:c.critical+1]), c.p, 1e-8)
		if next := sum(null[:c.critical+2]); next <= 0.025 {
			t.Errorf("n=%d: %d is significant as well", c.n, c.critical+1)
		}
	}
	// The smallest two-sided p is 2/2^n: nothing can be significant below 6 blocks.
	for n, want := range map[int]float64{3: 0.25, 5: 0.0625, 6: 0.03125, 8: 0.0078125, 10: 0.001953125} {
		s, _ := WilcoxonSignedRank(upTo(n))
		near(t, "smallest p", s.P, want, 1e-15)
	}
}

// enumerate returns the two-sided p by visiting all 2^n sign flips, from the
// definition: mid-ranks of |d|, no shortcut.
func enumerate(d []float64) float64 {
	var abs []float64
	observed := 0.0
	for _, x := range d {
		if x != 0 {
			abs = append(abs, math.Abs(x))
		}
	}
	rank := func(x float64) float64 {
		below, equal := 0, 0
		for _, y := range abs {
			if y < x {
				below++
			}
			if y == x {
				equal++
			}
		}
		return float64(below) + float64(equal+1)/2
	}
	for _, x := range d {
		if x > 0 {
			observed += rank(x)
		}
	}
	low, high := 0, 0
	for mask := range uint(1) << len(abs) {
		s := 0.0
		for m := mask; m != 0; m &= m - 1 {
			s += rank(abs[bits.TrailingZeros(m)])
		}
		if s <= observed {
			low++
		}
		if s >= observed {
			high++
		}
	}
	return min(1, 2*float64(min(low, high))/float64(uint(1)<<len(abs)))
}

func TestSignedRankTiesAreExact(t *testing.T) {
	// Small whole numbers: ties and zeros everywhere. R would fall back to a normal
	// approximation here ("cannot compute exact p-value with ties").
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.IntRange(-4, 4), 1, 10).Draw(t, "d")
		d := make([]float64, len(whole))
		for i, x := range whole {
			d[i] = float64(x)
		}
		s, ok := WilcoxonSignedRank(d)
		if want := enumerate(d); !ok || math.Abs(s.P-want) > 1e-12 {
			t.Fatalf("p = %g, all flips give %g", s.P, want)
		}
	})
}

func TestNormalApproximationIsWrongAtTies(t *testing.T) {
	// Known-bad: the approximation R falls back to. Six equal differences of one
	// sign: exact p = 2/64 = 0.03125. Approximate, with the tie and continuity
	// corrections: z = (21 - 10.5 - 0.5) / sqrt(6*7*13/24 - (216-6)/48) = 2.227 and p = 0.026.
	s, _ := WilcoxonSignedRank(slices.Repeat([]float64{1}, 6))
	near(t, "exact p", s.P, 0.03125, 1e-15)
	z := (21 - 10.5 - 0.5) / math.Sqrt(6*7*13/24.0-(216-6)/48.0)
	if approximate := 2 * normalBelow(-z); math.Abs(approximate-s.P) < 0.1*s.P {
		t.Errorf("approximate p = %g; the test has no power", approximate)
	}
}

func TestHodgesLehmannProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-100, 100), 1, 25).Draw(t, "xs")
		e, _ := HodgesLehmann(xs, 0.95)
		shifted, negated := slices.Clone(xs), slices.Clone(xs)
		for i := range xs {
			shifted[i] += 7
			negated[i] = -negated[i]
		}
		up, _ := HodgesLehmann(shifted, 0.95)
		down, _ := HodgesLehmann(negated, 0.95)
		for _, pair := range [][2]float64{
			{up.Value, e.Value + 7}, {up.Lo, e.Lo + 7}, {up.Hi, e.Hi + 7},
			{down.Value, -e.Value}, {down.Lo, -e.Hi}, {down.Hi, -e.Lo},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Fatalf("not equivariant: %g, want %g", pair[0], pair[1])
			}
		}
		if lo, hi, _ := MinMax(xs); e.Lo < lo || e.Lo > e.Value || e.Value > e.Hi || e.Hi > hi {
			t.Fatalf("%+v out of order or outside %g..%g", e, lo, hi)
		}
		if e.Reached != (len(xs) >= 6) || e.Needed != 6 {
			t.Fatalf("n=%d: reached %v, needed %d", len(xs), e.Reached, e.Needed)
		}
		// Duality: the exact test rejects 0 at 5 % iff the interval leaves it out.
		if s, _ := WilcoxonSignedRank(xs); s.N == len(xs) && distinctSizes(xs) && e.Reached &&
			e.Lo != 0 && e.Hi != 0 && (s.P <= 0.05) != (e.Lo > 0 || e.Hi < 0) {
			t.Fatalf("p = %g but interval %g..%g", s.P, e.Lo, e.Hi)
		}
	})
}

// distinctSizes reports whether no two values have the same distance from 0.
func distinctSizes(xs []float64) bool {
	seen := map[float64]bool{}
	for _, x := range xs {
		if seen[math.Abs(x)] {
			return false
		}
		seen[math.Abs(x)] = true
	}
	return true
}

// noises are the shapes of block-to-block noise that the interval must survive, each
// symmetric as paired log-ratios are, with a deviation of about 5 %.
var noises = map[string]func(*rand.Rand) float64{
	"normal": func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() },
	// Each side of the pair is skewed; their difference is not.
	"difference of lognormals": func(r *rand.Rand) float64 {
		return 0.05 * (math.Exp(0.8*r.NormFloat64()) - math.Exp(0.8*r.NormFloat64()))
	},
	"one in ten is wild": func(r *rand.Rand) float64 {
		if r.Float64() < 0.1 {
			return 0.5 * r.NormFloat64()
		}
		return 0.05 * r.NormFloat64()
	},
}

func TestHodgesLehmannCovers(t *testing.T) {
	// Exact coverage at n = 10 is 1 - 2*0.0244 = 0.951 for any symmetric noise. 2000
	// simulations have a standard error of 0.0048: 0.951 +- 0.0145 is three.
	const sims, n = 2000, 10
	truth := math.Log(1.10)
	for name, noise := range noises {
		r := rand.New(rand.NewPCG(4, 0))
		hits, squares, squaresOfMean := 0, 0.0, 0.0
		d := make([]float64, n)
		for range sims {
			for i := range d {
				d[i] = truth + noise(r)
			}
			e, _ := HodgesLehmann(d, 0.95)
			if e.Lo <= truth && truth <= e.Hi {
				hits++
			}
			m, _ := Mean(d)
			squares += (e.Value - truth) * (e.Value - truth)
			squaresOfMean += (m - truth) * (m - truth)
		}
		near(t, name+": coverage", float64(hits)/sims, 0.951, 0.0145)
		// Known-bad: one wild run in ten spoils the mean, not this estimate.
		if ratio := math.Sqrt(squaresOfMean / squares); name == "one in ten is wild" && ratio < 1.5 {
			t.Errorf("the mean's error is only %.2f times as large; the test has no power", ratio)
		}
	}
}
