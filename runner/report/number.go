package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/findings"
)

// Divisors from the base unit of a metric to the unit that is printed.
const (
	millis = 1e6     // ns in a ms
	micros = 1e3     // ns in a µs
	mebi   = 1 << 20 // bytes in a MiB
	kilo   = 1e3     // requests per second in a k req/s
	unit   = 1
	percnt = 0.01 // of a ratio
)

const (
	noData  = "no data" // the cell has no run that counts
	unknown = "n/a"     // it has, but this number is not known
)

// column is one thing that is said of every cell of a grid.
type column struct {
	heading
	of    func(*findings.Cell) cell
	label bool // said also of a cell without a run that counts
}

// measured is a column of a metric; a cell that does not know it says so.
func measured(h heading, m findings.Metric, text func(*findings.Cell, findings.Summary) string) column {
	return column{heading: h, of: func(c *findings.Cell) cell {
		s, ok := c.Summary[m]
		if !ok {
			return cell{text: unknown}
		}
		return cell{text: text(c, s)}
	}}
}

func median(name, in string, m findings.Metric, divisor float64) column {
	return measured(heading{name: name, unit: in}, m, func(_ *findings.Cell, s findings.Summary) string { return digits(s.Median / divisor) })
}

// span is the range beside a median. One run has none.
func span(m findings.Metric, divisor float64) column {
	return measured(heading{name: "min..max", text: true}, m, func(_ *findings.Cell, s findings.Summary) string {
		if s.N < 2 {
			return ""
		}
		return digits(s.Min/divisor) + ".." + digits(s.Max/divisor)
	})
}

// both is median and range in one column.
func both(name, in string, m findings.Metric, divisor float64) column {
	return measured(heading{name: name, unit: in}, m, func(_ *findings.Cell, s findings.Summary) string { return times(s, divisor) })
}

// times prints "1.93 (1.88..2.01)", without a range where there is one value.
func times(s findings.Summary, divisor float64) string {
	text := digits(s.Median / divisor)
	if s.N > 1 {
		text += " (" + digits(s.Min/divisor) + ".." + digits(s.Max/divisor) + ")"
	}
	return text
}

// latency prints a time of a cell in ms. Requests that timed out are in the
// histograms at the timeout, so a percentile there is known from below only
// (method G10). Of an even number of runs the median is the mean of the two in
// the middle: it too is a lower bound as soon as the upper of the two is one.
func (v view) latency(c *findings.Cell, ns float64) string {
	limit := float64(v.s.Plan.RequestTimeout)
	if limit > 0 && c.Counts.TimedOut > 0 && ns >= limit {
		return atLeast(ns)
	}
	return v.ms(ns / millis)
}

func (v view) typicalLatency(c *findings.Cell, m findings.Metric, s findings.Summary) string {
	limit := float64(v.s.Plan.RequestTimeout)
	xs := slices.Sorted(slices.Values(c.Values(m)))
	if limit > 0 && c.Counts.TimedOut > 0 && len(xs) > 0 && xs[len(xs)/2] >= limit {
		return atLeast(s.Median)
	}
	return v.ms(s.Median / millis)
}

func atLeast(ns float64) string {
	return ">= " + strconv.FormatFloat(round3(ns/float64(time.Second)), 'f', -1, 64) + " s"
}

func (v view) medianLatency(name string, m findings.Metric) column {
	return measured(heading{name: name, unit: "ms"}, m, func(c *findings.Cell, s findings.Summary) string { return v.typicalLatency(c, m, s) })
}

func (v view) spanOf(c *findings.Cell, s findings.Summary) string {
	if s.N < 2 {
		return ""
	}
	lo, hi := v.latency(c, s.Min), v.latency(c, s.Max)
	if lo == hi && strings.HasPrefix(lo, ">") {
		return lo
	}
	return lo + ".." + hi
}

func (v view) spanLatency(m findings.Metric) column {
	return measured(heading{name: "min..max", text: true}, m, v.spanOf)
}

func (v view) bothLatency(name string, m findings.Metric) column {
	return measured(heading{name: name, unit: "ms"}, m, func(c *findings.Cell, s findings.Summary) string {
		text := v.typicalLatency(c, m, s)
		if r := v.spanOf(c, s); r != "" {
			text += " (" + r + ")"
		}
		return text
	})
}

// digits prints three significant digits, and every digit before the point.
func digits(v float64) string {
	v = round3(v)
	if size := math.Abs(v); size >= 1e15 || size < 1e-6 && size > 0 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	decimals := 0
	for x := math.Abs(v); x > 0 && x < 100 && decimals < 6; x *= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// brief leaves two digits to what is between 0.1 and 1, for a page that has no
// room for more: a hundredth of a millisecond is less than latencies differ by
// from process to process.
func brief(v float64) string {
	if v >= 0.1 && v < 1 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return digits(v)
}

// round3 rounds what is below 100 to three digits; the rest keeps its integer, so
// that a rate of 39877 does not print as 39900.
func round3(v float64) float64 {
	if math.Abs(v) >= 100 {
		return math.Round(v)
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// count prints "1 run", "6 runs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
