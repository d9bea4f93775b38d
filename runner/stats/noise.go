package stats

import (
	"math"
	"slices"
)

// VoidAlpha is the level at which a difference between a target and its own twin
// voids the session.
const VoidAlpha = 0.01

// Noise is what the A/A twin says: one target under two labels in the same blocks.
type Noise struct {
	Floor float64  // upper 95 % bound of |log-ratio| between twins; no effect below it is believed
	Log90 Estimate // of the twins' log-ratio
	P     float64
	// CanVoid is false when no outcome could reach VoidAlpha: below 8 blocks the
	// smallest p is 2/2^7 = 0.016, and a clean A/A then proves little.
	CanVoid bool
}

// NoiseOf reads the effect of a twin against itself; false below 5 blocks, where
// no bound can be given.
func NoiseOf(twin Effect) (Noise, bool) {
	if !twin.Log90.Reached {
		return Noise{}, false
	}
	return Noise{
		Floor: max(math.Abs(twin.Log90.Lo), math.Abs(twin.Log90.Hi)), Log90: twin.Log90,
		P: twin.P, CanVoid: math.Ldexp(2, -twin.Blocks) < VoidAlpha,
	}, true
}

// TwinsDiffer reports whether any of the A/A effects of a session is different at
// VoidAlpha, adjusted for their number: eight twins tested at 1 % each would void
// one clean session in thirteen.
func TwinsDiffer(twins []Effect) bool {
	for _, p := range Adjust(twins) {
		if p < VoidAlpha {
			return true
		}
	}
	return false
}

// Adjust returns the family-wise adjusted p-values of effects: StepDown where all
// are paired, else Holm. Which one depends on the runs that exist, never on what
// they measured. An effect that could not be measured (the zero Effect) stays in the
// family with p = 1.
func Adjust(effects []Effect) []float64 {
	ps := make([]float64, len(effects))
	var kept []Effect
	var at []int // kept[i] is effects[at[i]]
	paired := true
	for i, e := range effects {
		if e.Blocks == 0 {
			ps[i] = 1
			continue
		}
		ps[i] = e.P
		kept, at = append(kept, e), append(at, i)
		paired = paired && e.Paired
	}
	adjusted := Holm(ps)
	if paired && len(effects) > 1 {
		if joint, ok := StepDown(byBlock(kept)); ok {
			for i, p := range joint {
				adjusted[at[i]] = p
			}
		}
	}
	for i := range adjusted {
		// The test whose interval is printed must reject too, or a report could say
		// BETTER beside an interval that holds 1.
		adjusted[i] = max(adjusted[i], ps[i])
	}
	return adjusted
}

// byBlock lays the log-ratios of effects out over all blocks that any of them has: a
// row an effect, a column a block. Where an effect has no pair its entry is 0, which
// no flip changes: it takes part in no sum and in no norm, while the effects that do
// have the block are flipped together.
func byBlock(effects []Effect) [][]float64 {
	column := map[int]int{}
	var blocks []int
	for _, e := range effects {
		for i := range e.Logs {
			if b := e.block(i); !slices.Contains(blocks, b) {
				blocks = append(blocks, b)
			}
		}
	}
	slices.Sort(blocks)
	for i, b := range blocks {
		column[b] = i
	}
	rows := make([][]float64, len(effects))
	for i, e := range effects {
		rows[i] = make([]float64, len(blocks))
		for j, log := range e.Logs {
			rows[i][column[e.block(j)]] = log
		}
	}
	return rows
}

// block is that of Logs[i].
func (e Effect) block(i int) int {
	if e.In == nil {
		return i + 1
	}
	return e.In[i]
}
