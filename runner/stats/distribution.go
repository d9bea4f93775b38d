package stats

import "math"

// normalBelow returns P(Z <= z) for the standard normal distribution.
func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// normalQuantile returns z with P(Z <= z) = p.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// studentAbove returns P(|T| >= |t|) for Student's t with df degrees of freedom,
// which need not be whole.
func studentAbove(t, df float64) float64 {
	return incompleteBeta(df/2, 0.5, df/(df+t*t))
}

// studentQuantile returns the t that |T| exceeds with probability tail (two-sided).
func studentQuantile(tail, df float64) float64 {
	lo, hi := 0.0, 1.0
	for studentAbove(hi, df) > tail {
		hi *= 2
	}
	for range 80 {
		mid := (lo + hi) / 2
		if studentAbove(mid, df) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// Rate is a share of trials with its exact interval.
type Rate struct {
	Hits, Trials int
	Share        float64 // Hits/Trials, 0..1
	Lo, Hi       float64 // Clopper-Pearson, 95 %
}

// NewRate returns the share hits/trials with its exact 95 % interval. Clopper and
// Pearson's interval covers at least 95 % at every n; the usual p +- 1.96
// sqrt(p(1-p)/n) is empty at 0 hits, the very case a false-alarm rate is about.
func NewRate(hits, trials int) Rate {
	r := Rate{Hits: hits, Trials: trials, Hi: 1}
	if trials <= 0 {
		return r
	}
	k, n := float64(hits), float64(trials)
	r.Share = k / n
	if hits > 0 {
		r.Lo = betaQuantile(0.025, k, n-k+1)
	}
	if hits < trials {
		r.Hi = betaQuantile(0.975, k+1, n-k)
	}
	return r
}

func betaQuantile(p, a, b float64) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if incompleteBeta(a, b, mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// incompleteBeta returns the regularised incomplete beta function I_x(a, b) by
// its continued fraction (DLMF 8.17.22), on the side where that converges fast.
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(a, b, x) / a
}

// betaFraction evaluates the fraction with Lentz's method.
func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m <= 300; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonzero(1+even*d)
		c = nonzero(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonzero(1+odd*d)
		c = nonzero(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	return h
}
