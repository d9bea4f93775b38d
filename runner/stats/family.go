package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Holm returns the p-values adjusted so that the chance of any false rejection
// over the whole family stays at the level each is compared with (Holm 1979). It
// needs no independence. The result is in the order given; entries are 0..1.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if ps[a] < ps[b] {
			return -1
		}
		if ps[a] > ps[b] {
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(ps))
	largest := 0.0
	for i, at := range order {
		largest = max(largest, min(1, float64(len(ps)-i)*ps[at]))
		adjusted[at] = largest
	}
	return adjusted
}

// enumerated is the largest number of blocks whose sign flips are all visited;
// beyond it a seeded sample of sampledFlips stands for them.
const (
	enumerated   = 20
	sampledFlips = 1 << 16
)

// StepDown returns family-wise adjusted p-values of paired differences, one row a
// metric, one column a block: Westfall and Young's step-down maximum over all
// joint sign flips of the blocks, exact up to 20 blocks.
//
// It is here because Holm over exact rank tests starves at few blocks: the
// smallest signed-rank p is 2/2^n, so with 6 blocks and 8 metrics the smallest
// Holm value is 8 * 2/64 = 0.25 and no effect, however large, is ever found. Under
// the null the two labels of a block may be swapped, for all metrics of that block
// at once, so the flips give the joint distribution of all 8 statistics and the
// smallest adjusted value is 2/2^n whatever the size of the family.
//
// The statistic is |sum d| / sqrt(sum d^2), which orders flips as Student's t does
// and whose denominator no flip changes. Ranks would not do: one flip in 2^n makes
// all signs of a null metric agree, and its rank statistic then ties with any
// effect.
func StepDown(metrics [][]float64) (adjusted []float64, ok bool) {
	if len(metrics) == 0 {
		return nil, false
	}
	n := len(metrics[0])
	for _, row := range metrics {
		if len(row) != n || !finite(row) {
			return nil, false
		}
	}
	rows, order, observed := standardised(metrics)
	exceeded := make([]int, len(rows))
	visited := 0
	flips(rows, n, func(sums []float64) {
		visited++
		largest := 0.0
		for i := len(rows) - 1; i >= 0; i-- { // the least conspicuous first
			largest = max(largest, math.Abs(sums[i]))
			if largest >= observed[i]*(1-1e-9) {
				exceeded[i]++
			}
		}
	})
	adjusted = make([]float64, len(rows))
	largest := 0.0
	for i, at := range order {
		largest = max(largest, float64(exceeded[i])/float64(visited))
		adjusted[at] = largest
	}
	return adjusted, true
}

// standardised returns the rows scaled to unit length, the most conspicuous first,
// with their original places and statistics.
func standardised(metrics [][]float64) (rows [][]float64, order []int, observed []float64) {
	unit := make([][]float64, len(metrics))
	statistic := make([]float64, len(metrics))
	for i, row := range metrics {
		unit[i] = slices.Clone(row)
		if length := math.Sqrt(dot(row, row)); length > 0 {
			for j := range unit[i] {
				unit[i][j] /= length
			}
		}
		statistic[i] = math.Abs(sum(unit[i]))
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if statistic[a] > statistic[b] {
			return -1
		}
		if statistic[a] < statistic[b] {
			return 1
		}
		return 0
	})
	for _, at := range order {
		rows = append(rows, unit[at])
		observed = append(observed, statistic[at])
	}
	return rows, order, observed
}

// flips visits the sums of the rows under every choice of signs for the columns,
// the unflipped one first. The first sign stays +1, for a choice and its negative
// give the same absolute sums. Consecutive choices differ in one sign (a Gray code),
// so a step costs one addition a row.
func flips(rows [][]float64, n int, visit func(sums []float64)) {
	sums := make([]float64, len(rows))
	for i, row := range rows {
		sums[i] = sum(row)
	}
	visit(sums)
	if n > enumerated {
		sampleFlips(rows, n, visit)
		return
	}
	signs := slices.Repeat([]float64{1}, n)
	for step := uint(1); step < 1<<max(n-1, 0); step++ {
		column := 1 + bits.TrailingZeros(step)
		signs[column] = -signs[column]
		for i, row := range rows {
			sums[i] += 2 * signs[column] * row[column]
		}
		visit(sums)
	}
}

// sampleFlips visits random choices; the seed is fixed, so the same data have the
// same p.
func sampleFlips(rows [][]float64, n int, visit func(sums []float64)) {
	r := rand.New(rand.NewPCG(uint64(n), sampledFlips))
	sums := make([]float64, len(rows))
	signs := make([]float64, n)
	for range sampledFlips - 1 {
		for i := range signs {
			signs[i] = 1 - 2*float64(r.Uint64()&1)
		}
		for i, row := range rows {
			sums[i] = dot(row, signs)
		}
		visit(sums)
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
