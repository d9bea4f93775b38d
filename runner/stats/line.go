package stats

// Line is y = At0 + Slope x.
type Line struct{ Slope, At0 float64 }

// At is the line's value at x.
func (l Line) At(x float64) float64 { return l.At0 + l.Slope*x }

// FitLine fits a line by least squares; it takes two points whose x differ. Where the
// levels span decades this is the estimate to take and not Theil and Sen's (TheilSen):
// that gives the pair of 1 and 10 connections, whose difference is noise, the same vote
// as the pair of 1 and 3000, and six of the 21 pairs of seven decades are such.
func FitLine(xs, ys []float64) (Line, bool) {
	if len(xs) != len(ys) || len(xs) < 2 || !finite(xs) || !finite(ys) {
		return Line{}, false
	}
	mx, _ := Mean(xs)
	my, _ := Mean(ys)
	var xx, xy float64
	for i := range xs {
		xx += (xs[i] - mx) * (xs[i] - mx)
		xy += (xs[i] - mx) * (ys[i] - my)
	}
	if xx == 0 {
		return Line{}, false
	}
	return Line{Slope: xy / xx, At0: my - xy/xx*mx}, true
}
