package report

import (
	"math"
	"strconv"
	"strings"

	"gonogo/runner/findings"
)

// Divisors from the base unit of a metric to the unit that is printed.
const (
	millis = 1e6     // ns in a ms
	micros = 1e3     // ns in a µs
	mebi   = 1 << 20 // bytes in a MiB
	unit   = 1
	percnt = 0.01 // of a ratio
)

const (
	noData  = "no data" // the cell has no run that counts
	unknown = "n/a"     // it has, but this number is not known
)

// column is one metric down a grid. All its cells have the same number of
// decimals, so that they can be compared at a glance.
type column struct {
	header  string
	metric  findings.Metric
	divisor float64
	text    func(c *findings.Cell, s findings.Summary, f func(float64) string) string
}

func medianOf(_ *findings.Cell, s findings.Summary, f func(float64) string) string {
	return f(s.Median)
}

func rangeOf(_ *findings.Cell, s findings.Summary, f func(float64) string) string {
	if s.N == 1 {
		return f(s.Median)
	}
	return f(s.Min) + ".." + f(s.Max)
}

func median(header string, m findings.Metric, divisor float64) column {
	return column{header, m, divisor, medianOf}
}

func span(header string, m findings.Metric, divisor float64) column {
	return column{header, m, divisor, rangeOf}
}

// fill gives the column's text for each cell.
func (col column) fill(cells []*findings.Cell) []string {
	smallest, whole := math.Inf(1), col.divisor == unit
	for _, c := range cells {
		s, ok := c.Summary[col.metric]
		if ok && s.Min > 0 {
			smallest = min(smallest, s.Min/col.divisor)
		}
		whole = whole && s.Median == math.Trunc(s.Median)
	}
	places := decimals(smallest)
	if whole { // a count of processes
		places = 0
	}
	format := func(v float64) string { return strconv.FormatFloat(v/col.divisor, 'f', places, 64) }
	texts := make([]string, len(cells))
	for i, c := range cells {
		s, ok := c.Summary[col.metric]
		switch {
		case len(c.Processes) == 0:
			texts[i] = noData
		case !ok:
			texts[i] = unknown
		default:
			texts[i] = col.text(c, s, format)
		}
	}
	return texts
}

// decimals leaves three significant digits to the smallest number of a column;
// three decimals at most, which in milliseconds is microseconds.
func decimals(smallest float64) int {
	switch {
	case math.IsInf(smallest, 1) || smallest >= 100:
		return 0
	case smallest >= 10:
		return 1
	case smallest >= 1:
		return 2
	}
	return 3
}

// times prints a ratio with its range over blocks, if there are several, such as
// "1.93 (1.88..2.01)".
func times(r findings.Summary) string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	if r.Min < 0.1 {
		f = func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	}
	if r.N == 1 {
		return f(r.Median)
	}
	return f(r.Median) + " (" + f(r.Min) + ".." + f(r.Max) + ")"
}

func commas(names []string) string { return strings.Join(names, ", ") }
