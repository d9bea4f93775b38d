package stats

import "math"

// looks are the numbers of blocks at which a session may stop early.
var looks = [...]int{6, 10, 15, 20}

// Look reports whether a session may look at its results after that many blocks.
func Look(blocks int) bool {
	for _, n := range looks {
		if n == blocks {
			return true
		}
	}
	return false
}

// Precise reports whether an effect is known well enough to stop: half the width of
// its 95 % interval is at most half the margin. It looks at the width only, never
// at the sign or at p, so that a session cannot stop because it likes what it sees.
// "Until p < .05" does, and finds a difference between equal servers in 11 to 13 %.
//
// Looking at the width alone is not free either: the session stops where the noise
// happens to look small. Over four looks, equal servers and noise that is worst for
// it (4 to 5 % at a margin of 5 %), p < .05 comes in 6.6 %, and EQUIVALENT at the
// very margin in 5.9 % (10 000 simulations). BETTER or WORSE, which also asks for an
// estimate beyond the margin, stays at 0.1 %.
func Precise(e Effect, margin float64) bool {
	return e.Log.Reached && e.Log.Hi-e.Log.Lo <= math.Log1p(margin)
}

// PocockAlpha returns the level for each of n looks, 1 to 5, that keeps all of them
// together at 5 %, for a session that must stop on significance (Pocock 1977,
// Biometrika 64:191).
func PocockAlpha(n int) (alpha float64, ok bool) {
	table := [...]float64{0.05, 0.0294, 0.0221, 0.0182, 0.0158}
	if n < 1 || n > len(table) {
		return 0, false
	}
	return table[n-1], true
}
