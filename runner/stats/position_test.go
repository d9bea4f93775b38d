package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// placed returns a session of blocks x 4 arms in shuffled order: arms differ by up to
// a factor 3, blocks by 10 %, runs by 2 %; the first place gains the given share.
func placed(r *rand.Rand, blocks int, first float64) []Placed {
	var values []Placed
	arms := []string{"go-1", "node-1", "go-k", "node-cluster-k"}
	for b := range blocks {
		block := math.Exp(0.1 * r.NormFloat64())
		for position, arm := range r.Perm(4) {
			v := block * float64(1000*(arm+1)) * math.Exp(0.02*r.NormFloat64())
			if position == 0 {
				v *= 1 + first
			}
			values = append(values, Placed{b + 1, position, arms[arm], v})
		}
	}
	return values
}

func TestPositionSlope(t *testing.T) {
	// An exact case: 2 % a place in every block, no noise. ln 1.02 = 0.0198.
	var exact []Placed
	for b, order := range [][]string{{"a", "b", "c"}, {"b", "c", "a"}, {"c", "a", "b"}} {
		for position, arm := range order {
			exact = append(exact, Placed{b, position, arm, math.Pow(1.02, float64(position))})
		}
	}
	e, ok := PositionSlope(exact, 1)
	if !ok {
		t.Fatal("no slope")
	}
	near(t, "slope", e.Slope, math.Log(1.02), 1e-12)
	if _, ok := PositionSlope([]Placed{{1, 0, "a", 1}, {2, 0, "a", 2}}, 1); ok {
		t.Error("blocks of one have a position effect")
	}
	if _, ok := PositionSlope(nil, 1); ok {
		t.Error("nothing has a position effect")
	}
}

func TestPositionEffectIsSeen(t *testing.T) {
	// Judged as a report does: |slope| > 1 % a place and p < .01. 10 % at the first of
	// four places over 10 blocks is a slope of -3 %; none is none. False alarms need
	// both, so stay well below 1 %: of 300 at most 2 % + three standard errors.
	r := rand.New(rand.NewPCG(23, 0))
	warned := func(sims int, first float64) float64 {
		n := 0.0
		for i := range sims {
			e, _ := PositionSlope(placed(r, 10, first), uint64(i))
			n += is(math.Abs(e.Slope) > 0.01 && e.P < 0.01) / float64(sims)
		}
		return n
	}
	if share := warned(300, 0); share > 0.02 {
		t.Errorf("%.3f warnings without an effect", share)
	}
	if share := warned(50, 0.10); share < 0.95 {
		t.Errorf("an effect of 10 %% is seen in %.3f", share)
	}
}
