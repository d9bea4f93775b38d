package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDistributions(t *testing.T) {
	// R: 2*pt(-2.5,7); 2*pt(-1.2,3.7); qt(.975,9); qt(.975,2); pbeta(c(.1,.5,.9),2.5,7); qnorm(.975)
	near(t, "P(|t7| >= 2.5)", studentAbove(2.5, 7), 0.0409922186, 1e-10)
	near(t, "P(|t3.7| >= 1.2)", studentAbove(1.2, 3.7), 0.3012923782, 1e-10)
	near(t, "t quantile, 9", studentQuantile(0.05, 9), 2.2621571628, 1e-9)
	near(t, "t quantile, 2", studentQuantile(0.05, 2), 4.3026527297, 1e-9)
	near(t, "I.1(2.5,7)", incompleteBeta(2.5, 7, 0.1), 0.1018803, 1e-7)
	near(t, "I.5(2.5,7)", incompleteBeta(2.5, 7, 0.5), 0.9411088, 1e-7)
	near(t, "I.9(2.5,7)", incompleteBeta(2.5, 7, 0.9), 0.9999984, 1e-7)
	near(t, "z.975", normalQuantile(0.975), 1.9599639845, 1e-9)
	near(t, "P(Z <= 1.96)", normalBelow(1.9599639845), 0.975, 1e-10)
}

func TestRate(t *testing.T) {
	// R: for (k in c(0,3,50,100)) binom.test(k,100)$conf.int
	for _, c := range []struct {
		hits   int
		lo, hi float64
	}{{0, 0, 0.03621669}, {3, 0.006229972, 0.085176053}, {50, 0.3983211, 0.6016789}, {100, 0.9637833, 1}} {
		r := NewRate(c.hits, 100)
		near(t, "lo", r.Lo, c.lo, 1e-7)
		near(t, "hi", r.Hi, c.hi, 1e-7)
		near(t, "share", r.Share, float64(c.hits)/100, 0)
	}
	if none := NewRate(0, 0); none.Lo != 0 || none.Hi != 1 {
		t.Errorf("no trials say %+v, want nothing known: 0..1", none)
	}
}

func TestRateCoversWhereTheNormalIntervalDoesNot(t *testing.T) {
	// 100 trials at a true rate of 2 %: the normal interval covers it 86.6 % of the
	// time (R: k <- 0:100; p <- k/100; h <- 1.96*sqrt(p*(1-p)/100)
	// sum(dbinom(k,100,.02)[p-h<=.02 & .02<=p+h])), empty as it is at 0 hits. 2000 simulations: standard error 0.008.
	const sims, n, truth = 2000, 100, 0.02
	r := rand.New(rand.NewPCG(3, 0))
	exact, normal := 0, 0
	for range sims {
		hits := 0
		for range n {
			if r.Float64() < truth {
				hits++
			}
		}
		if rate := NewRate(hits, n); rate.Lo <= truth && truth <= rate.Hi {
			exact++
		}
		p := float64(hits) / n
		if h := 1.96 * math.Sqrt(p*(1-p)/n); p-h <= truth && truth <= p+h {
			normal++
		}
	}
	if share := float64(exact) / sims; share < 0.95-0.015 {
		t.Errorf("Clopper-Pearson covers %.3f, want at least 0.95", share)
	}
	if share := float64(normal) / sims; share > 0.90 {
		t.Errorf("the normal interval covers %.3f; the test has no power", share)
	}
}
