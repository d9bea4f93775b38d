package stats

import "math"

// Levels are the variance components of a metric that is measured in slices of
// fresh processes (Kalibera & Jones, ISMM 2013).
type Levels struct {
	Processes int
	Slices    float64 // per process; the harmonic mean if they differ
	Mean      float64 // of the process means
	Within    float64 // variance between slices of one process, T1^2 = S1^2
	Between   float64 // variance between processes, T2^2 = S2^2 - S1^2/slices; 0 if that is negative
	ofMeans   float64 // S2^2: variance of the process means
}

// VarianceComponents estimates the levels; it needs two processes of two slices.
func VarianceComponents(processes [][]float64) (Levels, bool) {
	if len(processes) < 2 {
		return Levels{}, false
	}
	means := make([]float64, len(processes))
	within, inverse := 0.0, 0.0
	for i, slices := range processes {
		s, ok := SampleDeviation(slices)
		if !ok {
			return Levels{}, false
		}
		means[i], _ = Mean(slices)
		within += s * s
		inverse += 1 / float64(len(slices))
	}
	n := float64(len(processes))
	deviation, _ := SampleDeviation(means)
	l := Levels{Processes: len(processes), Slices: n / inverse, Within: within / n, ofMeans: deviation * deviation}
	l.Mean, _ = Mean(means)
	l.Between = max(0, l.ofMeans-l.Within/l.Slices)
	return l, true
}

// OptimalSlices returns how many slices a process should be measured for when a
// fresh process costs processCost (start and warm-up) and a slice sliceCost, in
// the same unit: ceil(sqrt(processCost/sliceCost * Within/Between)). More slices
// than that waste time that should buy processes. False if processes do not differ,
// when slices are all that counts.
func (l Levels) OptimalSlices(processCost, sliceCost float64) (int, bool) {
	if l.Between == 0 || !(processCost > 0) || !(sliceCost > 0) {
		return 0, false
	}
	return max(1, int(math.Ceil(math.Sqrt(processCost/sliceCost*l.Within/l.Between)))), true
}

// Interval returns the Student interval of the mean from the process means alone:
// the number of slices does not enter, because slices of one process are not
// independent evidence.
func (l Levels) Interval(confidence float64) Estimate {
	h := studentQuantile(1-confidence, float64(l.Processes-1)) * math.Sqrt(l.ofMeans/float64(l.Processes))
	return Estimate{
		Value: l.Mean, Lo: l.Mean - h, Hi: l.Mean + h, Confidence: confidence, Reached: true, Needed: 2,
	}
}
