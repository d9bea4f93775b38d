package stats

import (
	"math"
	"math/rand/v2"
)

// Placed is one value and where in the session it was measured.
type Placed struct {
	Block, Position int    // Position is the place within the block
	Arm             string // what was measured
	Value           float64
}

// PositionEffect says whether the place within a block changes the values.
type PositionEffect struct {
	Slope float64 // of the logarithm per position: 0.01 is 1 % a place
	P     float64 // two-sided, by permuting places within blocks
}

const permutations = 999 // smallest p 0.001, a tenth of the level this is judged at

// PositionSlope regresses the logarithm of the values, less the mean of their arm,
// on the position within the block, and compares the slope with those of random
// orders within the blocks. A shuffled design keeps such an effect out of
// the comparison, but it tells of a machine that heats up or a cache that fills.
// False if a value is not positive or no block holds two places.
func PositionSlope(values []Placed, seed uint64) (PositionEffect, bool) {
	residuals, places, blocks, ok := positionResiduals(values)
	if !ok {
		return PositionEffect{}, false
	}
	spread := dot(places, places)
	if spread == 0 {
		return PositionEffect{}, false
	}
	observed := dot(places, residuals)
	r := rand.New(rand.NewPCG(seed, 0))
	extreme := 1
	for range permutations {
		for _, members := range blocks {
			r.Shuffle(len(members), func(i, j int) {
				a, b := members[i], members[j]
				places[a], places[b] = places[b], places[a]
			})
		}
		if math.Abs(dot(places, residuals)) >= math.Abs(observed)*(1-1e-9) {
			extreme++
		}
	}
	return PositionEffect{Slope: observed / spread, P: float64(extreme) / (permutations + 1)}, true
}

// positionResiduals returns the logarithms less the mean of their arm, the places
// less the mean of their block, and the members of each block. Places that sum to
// zero in every block make whatever a block does to all its values cancel.
func positionResiduals(values []Placed) (residuals, places []float64, blocks [][]int, ok bool) {
	arms := map[string]int{}
	blockAt := map[int]int{}
	var armOf [][]int
	for i, v := range values {
		if !(v.Value > 0) || math.IsInf(v.Value, 1) {
			return nil, nil, nil, false
		}
		residuals = append(residuals, math.Log(v.Value))
		places = append(places, float64(v.Position))
		at, seen := blockAt[v.Block]
		if !seen {
			at = len(blocks)
			blockAt[v.Block] = at
			blocks = append(blocks, nil)
		}
		blocks[at] = append(blocks[at], i)
		at, seen = arms[v.Arm]
		if !seen {
			at = len(armOf)
			arms[v.Arm] = at
			armOf = append(armOf, nil)
		}
		armOf[at] = append(armOf[at], i)
	}
	centre(residuals, armOf)
	centre(places, blocks)
	return residuals, places, blocks, len(values) > 0
}

// centre subtracts from each group its mean.
func centre(xs []float64, groups [][]int) {
	for _, members := range groups {
		mean := 0.0
		for _, i := range members {
			mean += xs[i] / float64(len(members))
		}
		for _, i := range members {
			xs[i] -= mean
		}
	}
}
