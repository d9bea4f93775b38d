package stats

import "math"

// Power is the chance (0..1) with which a planned number of blocks must find what
// it is said to find.
const Power = 0.80

// blocksMax ends the search for a number of blocks; nobody runs more.
const blocksMax = 500

// rankPower holds, for the exact signed-rank test and 5 blocks upwards, the shift
// found at 5 % two-sided and the margin inside which the 90 % interval lies when
// nothing differs, each with probability 0.80, in deviations of one paired
// log-ratio under normal noise.
//
// R, 100 000 draws a row, W the sorted Walsh averages of rnorm(n), M = n(n+1)/2,
// k = max(1, qsignrank(.025, n)), j = max(1, qsignrank(.05, n)):
//
//	quantile(-W[k], .8); quantile(pmax(-W[j], W[M+1-j]), .8)
//
// Tables made for the t test (1.43 at 6 blocks, 1.66 at 5, 3.10 at 3) promise what
// this test does not keep: its smallest p is 0.0625 at 5 blocks, so nothing is ever
// found there, and at 6 all six blocks must agree, which takes 1.80.
var rankPower = []struct{ detect, equal float64 }{
	{math.Inf(1), 2.015},                                                           // 5
	{1.799, 1.458}, {1.333, 1.363}, {1.251, 1.245}, {1.151, 1.101}, {1.021, 1.066}, // 6..10
	{0.988, 1.010}, {0.933, 0.938}, {0.868, 0.893}, {0.829, 0.863}, {0.799, 0.821}, // 11..15
	{0.780, 0.795}, {0.754, 0.760}, {0.721, 0.739}, {0.696, 0.721}, {0.678, 0.699}, // 16..20
	{0.666, 0.683}, {0.648, 0.662}, {0.629, 0.649}, {0.611, 0.636}, {0.600, 0.623}, // 21..25
	{0.586, 0.605}, {0.574, 0.598}, {0.565, 0.582}, {0.555, 0.574}, {0.541, 0.563}, // 26..30
}

const rankPowerFrom = 5 // blocks of the first row

// MinimumDetectable returns the smallest ratio, > 1, that this many blocks find
// with probability 0.80 as one test of a family, when the paired log-ratios have
// this deviation. Its inverse is found as well. False below 6 blocks, where
// nothing can be found. The margin comes on top: a BETTER also needs an estimate
// beyond it.
func MinimumDetectable(deviation float64, blocks, family int) (ratio float64, ok bool) {
	m := detectable(blocks, family)
	return math.Exp(m * deviation), !math.IsInf(m, 1)
}

// SmallestMargin returns the smallest relative margin, > 0, within which this many
// blocks confirm with probability 0.80 that two equal servers are equivalent.
// False below 5 blocks.
func SmallestMargin(deviation float64, blocks int) (margin float64, ok bool) {
	m := confirmable(blocks)
	return math.Expm1(m * deviation), !math.IsInf(m, 1)
}

// BlocksToDetect returns the blocks from which a ratio (> 1, or its inverse) is
// found with probability 0.80 as one test of a family; false beyond 500.
func BlocksToDetect(deviation, ratio float64, family int) (blocks int, ok bool) {
	return blocksFor(math.Abs(math.Log(ratio)), deviation, func(n int) float64 { return detectable(n, family) })
}

// BlocksToConfirm returns the blocks from which equality is confirmed within the
// margin with probability 0.80; false beyond 500.
func BlocksToConfirm(deviation, margin float64) (blocks int, ok bool) {
	return blocksFor(math.Log1p(margin), deviation, confirmable)
}

// blocksFor returns the smallest number of blocks at which multiplier times the
// deviation is at most the distance.
func blocksFor(distance, deviation float64, multiplier func(blocks int) float64) (int, bool) {
	if !(distance > 0) || !(deviation >= 0) {
		return 0, false
	}
	for n := 1; n <= blocksMax; n++ {
		if m := multiplier(n); !math.IsInf(m, 1) && m*deviation <= distance {
			return n, true
		}
	}
	return 0, false
}

// detectable returns the multiplier of one test in a family: what a t test at
// alpha/family needs, by Guenther's approximation (1981, The American Statistician
// 35:243), and no less than the single signed-rank test, which must reject as well.
// Simulated over families of 2 to 16 and 7 to 14 blocks, StepDown then finds a lone
// effect among nulls in 0.75 to 0.82. Six blocks have only 32 distinct flips, of
// which no other may reach the observed one; that costs a quarter more.
func detectable(blocks, family int) float64 {
	single := rankMultiplier(blocks, 6, Alpha/2, 1-Power, func(i int) float64 { return rankPower[i].detect })
	if family <= 1 || math.IsInf(single, 1) {
		return single
	}
	z := -normalQuantile(Alpha / 2 / float64(family))
	room := float64(blocks) - z*z/2
	if room <= 0 {
		return math.Inf(1)
	}
	m := max(single, (z+normalQuantile(Power))/math.Sqrt(room))
	if blocks == 6 {
		m *= 1.25
	}
	return m
}

// confirmable returns the multiplier of the equivalence margin. Both one-sided
// tests must reject, so each may fail in half of the missing power.
func confirmable(blocks int) float64 {
	return rankMultiplier(blocks, 5, Alpha, (1-Power)/2, func(i int) float64 { return rankPower[i].equal })
}

// rankMultiplier reads the table, and beyond it takes Guenther's form with the
// asymptotic efficiency 3/pi of the signed-rank test, which meets the table at 30
// blocks within 1 %.
func rankMultiplier(blocks, least int, alpha, beta float64, table func(int) float64) float64 {
	if blocks < least {
		return math.Inf(1)
	}
	if i := blocks - rankPowerFrom; i < len(rankPower) {
		return table(i)
	}
	z := -normalQuantile(alpha)
	return (z - normalQuantile(beta)) * math.Sqrt(math.Pi/3) / math.Sqrt(float64(blocks)-z*z/2)
}
