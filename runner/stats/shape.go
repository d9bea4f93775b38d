package stats

import "slices"

// Modes are the two groups that a bimodal set of values falls into, each in
// ascending order.
type Modes struct{ Low, High []float64 }

// Bimodal splits positive values at their largest gap and reports whether the parts
// are two modes: the gap is more than 3 times the median gap, each part has at
// least two values, and the means of the parts differ by more than 10 %. Processes
// that fall into modes (another core type, an uneven spread of connections) have no
// single number; the factor that separates them is what is to be found.
//
// Among few values one gap is usually several times the median gap, so the first
// condition alone would call half of all normal samples bimodal; the last one says
// that the reader would care.
func Bimodal(xs []float64) (Modes, bool) {
	if len(xs) < 4 || !finite(xs) {
		return Modes{}, false
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	gaps := make([]float64, len(sorted)-1)
	split := 0
	for i := range gaps {
		gaps[i] = sorted[i+1] - sorted[i]
		if gaps[i] > gaps[split] {
			split = i
		}
	}
	typical, _ := Median(gaps)
	m := Modes{Low: sorted[:split+1], High: sorted[split+1:]}
	low, _ := Mean(m.Low)
	high, _ := Mean(m.High)
	if gaps[split] <= 3*typical || len(m.Low) < 2 || len(m.High) < 2 || low <= 0 || high/low <= 1.10 {
		return Modes{}, false
	}
	return m, true
}

// Jain returns the fairness index (sum x)^2 / (n sum x^2) of non-negative shares: 1
// when all are equal, 1/n when one has everything; false if nobody has anything.
func Jain(xs []float64) (index float64, ok bool) {
	if !finite(xs) || slices.Min(xs) < 0 || slices.Max(xs) == 0 {
		return 0, false
	}
	s := sum(xs)
	return s * s / (float64(len(xs)) * dot(xs, xs)), true
}

// Imbalance returns the largest share over the mean share, 1 when all are equal;
// false if nobody has anything.
func Imbalance(xs []float64) (ratio float64, ok bool) {
	if !finite(xs) || slices.Min(xs) < 0 || slices.Max(xs) == 0 {
		return 0, false
	}
	return slices.Max(xs) * float64(len(xs)) / sum(xs), true
}

// DutyRatio is Little's law as a check of the generator: rate (per second) times
// mean service time (seconds) over connections, 0..1. In a closed loop every
// connection always waits for a reply, so what is missing to 1 is the generator's
// own time between reply and next request.
func DutyRatio(ratePerSec, meanSeconds float64, connections int) (ratio float64, ok bool) {
	if !finite([]float64{ratePerSec, meanSeconds}) || ratePerSec <= 0 || meanSeconds <= 0 || connections <= 0 {
		return 0, false
	}
	return ratePerSec * meanSeconds / float64(connections), true
}
