package formats

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Bench writes Go's benchmark format, one line a fresh process, for
// `benchstat -col /target`. The lines of a cell have one name, so that benchstat
// takes them for repeats of one measurement, which they are.
//
// The name ends in the kind of the loop because a name that ends in -1, as go-1
// does, would lose it: readers take it for GOMAXPROCS.
//
// benchstat compares unpaired and knows neither blocks nor the A/A twin. It may
// disagree with the verdicts of the report, which do.
func Bench(w io.Writer, s *record.Session, e findings.Evaluation) error {
	var b bytes.Buffer
	for _, line := range [][2]string{
		{"session", s.ID}, {"goos", s.Host.OS}, {"goarch", s.Host.Arch}, {"cpu", s.Host.CPUModel}, {"go", s.Host.GoVersion},
		{"node", s.Host.NodeVersion}, {"grade", s.Host.Grade}, {"warning", evidence(s, &e)},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], oneLine(line[1]))
		}
	}
	for _, m := range metrics {
		fmt.Fprintf(&b, "Unit %s better=%s\n", m.bench, m.better)
	}
	for _, c := range e.Cells {
		name := fmt.Sprintf("BenchmarkServe/target=%s/scenario=%s/loop=%s", inName(c.Target), inName(c.Scenario), c.Kind)
		for _, p := range c.Processes {
			benchLine(&b, name, &c, p)
		}
	}
	return flush(w, &b)
}

// benchLine writes what the cell shows: a percentile that only its faster processes
// have samples for would flatter, so the summary has none and the lines neither.
func benchLine(b *bytes.Buffer, name string, c *findings.Cell, p findings.Process) {
	values := ""
	for _, m := range metrics {
		_, whole := c.Summary[m.of]
		if v, ok := p.Values[m.of]; ok && whole && m.shown(c.Kind) {
			values += " " + exact(v) + " " + m.bench
		}
	}
	if values == "" {
		return // a line without a value is no benchmark
	}
	fmt.Fprintf(b, "%s %d%s\n", name, max(1, p.Samples), values)
}

// inName keeps a name whole inside a benchmark's name, whose parts are divided by
// slashes and which ends at a blank.
func inName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}

// oneLine keeps text from beginning a line of its own.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }), " ")
}
