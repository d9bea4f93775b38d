package findings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// millis prints nanoseconds with three significant digits, in milliseconds.
func millis(ns float64) string {
	return digits(ns/float64(time.Millisecond)) + " ms"
}

// digits prints three significant digits, and all digits of what is larger.
func digits(v float64) string {
	if v >= 100 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	decimals := 0
	for x := v; x < 100; x *= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// limit prints a threshold as it was written.
func limit(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// count prints "1 run", "6 runs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// some names the first few of many.
func some(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
