package page

import (
	"math"
	"strconv"
	"strings"

	"gonogo/runner/findings"
)

// value is a number on the page, or a text. A number carries what it is, in base
// units, so that a program can hold it against the record: see value.attrs.
type value struct {
	Text     string
	Number   float64
	Target   string
	Scenario string
	Metric   string // "" for a text
	Stat     string // median, min, max, lo, hi, bNN for one block, or the place in a series
	Class    string
}

func text(s string) value { return value{Text: s} }

// name is a text that is not broken at its hyphens.
func name(s string) value { return value{Text: s, Class: "name"} }

// attrs are the data attributes of a number.
func (v value) attrs() []string {
	if v.Metric == "" {
		return nil
	}
	return []string{"data-value", strconv.FormatFloat(v.Number, 'g', -1, 64),
		"data-target", v.Target, "data-scenario", v.Scenario, "data-metric", v.Metric, "data-stat", v.Stat}
}

// Base is the number in base units, with all digits.
func (v value) Base() string { return strconv.FormatFloat(v.Number, 'g', -1, 64) }

// unit is how a metric is printed: divided, and with which name.
type unit struct {
	name    string
	divisor float64
}

var (
	perSecond = unit{"req/s", 1}
	millis    = unit{"ms", 1e6}
	micros    = unit{"µs", 1e3}
	mebi      = unit{"MiB", 1 << 20}
	percent   = unit{"%", 0.01}
)

// of makes a number of a cell.
func of(c *findings.Cell, metric, stat string, v float64, u unit) value {
	return value{Text: digits(v / u.divisor), Number: v, Target: c.Target, Scenario: c.Scenario, Metric: metric, Stat: stat}
}

// digits prints three significant digits, and every digit before the point, in
// groups of three with a narrow blank that does not break.
func digits(v float64) string {
	if v != 0 && math.Abs(v) < 1e-6 || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	if math.Abs(v) >= 99.95 {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	// Rounding may carry into a digit more, so the places are counted after it.
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		r = v
	}
	decimals := 0
	for x := math.Abs(r); x > 0 && x < 100 && decimals < 8; x *= 10 {
		decimals++
	}
	return strconv.FormatFloat(r, 'f', max(0, decimals), 64)
}

const narrow = "\u202f" // NARROW NO-BREAK SPACE

func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + narrow + s[i:]
	}
	return sign + s
}

// tick prints a number of an axis: no digit that the step does not need.
func tick(v float64) string {
	if math.Abs(v) >= 10_000 {
		return strconv.FormatFloat(v/1000, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
