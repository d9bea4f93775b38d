// Package formats writes a session for other tools: benchstat, HdrHistogram's
// plotter and log readers, readers of hyperfine's JSON, the GitHub action
// benchmark, CI servers that read JUnit, and Prometheus.
//
// It stands apart from package report, whose pages are read by people and share
// their words and their rounding. Here every format has rules of its own, set by
// its readers, and numbers keep all digits. All writers are pure: the bytes depend
// on the session alone.
//
// What is unknown is left out, never 0. None of these formats can carry all that
// speaks against a number, so each names the session, and a session that is no
// evidence is marked in those that have a place for it.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Writer writes a session in one format.
type Writer = func(io.Writer, *record.Session, findings.Evaluation) error

// All are the writers by name.
var All = map[string]Writer{
	"bench": Bench, "hlog": Log, "hgrm": Distribution, "hyperfine": Hyperfine, "github": GitHub, "junit": JUnit, "prometheus": Prometheus,
}

// metric is how a number of the evaluation is written for others.
type metric struct {
	of      findings.Metric
	better  string // higher or lower
	bench   string // unit in Go's benchmark format; ns and B are scaled by its readers
	github  string // name in the GitHub action's JSON; "" where more is better
	unit    string // there
	prom    string // name in Prometheus: base units, seconds and not nanoseconds
	divisor float64
	help    string
}

var metrics = []metric{
	{findings.Rate, "higher", "req/s", "", "", "gonogo_rate_requests_per_second", 1, "Right answers that arrived in the window, per second."},
	{findings.P50, "lower", "p50-ns", "", "", "gonogo_latency_p50_seconds", 1e9, "Median latency of a process."},
	{findings.P99, "lower", "p99-ns", "p99", "ns", "gonogo_latency_p99_seconds", 1e9, "99th percentile of latency of a process."},
	{findings.P999, "lower", "p99.9-ns", "", "", "gonogo_latency_p999_seconds", 1e9, "99.9th percentile of latency of a process."},
	{findings.ServerCPU, "lower", "cpu-ns/req", "CPU per request", "ns", "gonogo_server_cpu_seconds_per_request", 1e9, "CPU time of the server's process tree per right answer."},
	{findings.IdlePSS, "lower", "idle-B", "", "", "gonogo_memory_idle_pss_bytes", 1, "Proportional set size of the tree before load."},
	{findings.LoadPSS, "lower", "load-B", "memory under load", "bytes", "gonogo_memory_load_pss_bytes", 1, "Proportional set size of the tree under load, median of the readings."},
	{findings.RestPSS, "lower", "rest-B", "", "", "gonogo_memory_rest_pss_bytes", 1, "Proportional set size of the tree after load."},
}

// shown reports whether a cell of this kind publishes the metric: rates and CPU
// under the memory sampler are no measurement.
func (m metric) shown(kind record.Kind) bool {
	memory := slices.Contains([]findings.Metric{findings.IdlePSS, findings.LoadPSS, findings.RestPSS}, m.of)
	return memory == (kind == record.Memory)
}

// exact prints a number with all its digits and no exponent.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// evidence says why a session's numbers are not to be concluded from; "" if they may be.
func evidence(s *record.Session, e *findings.Evaluation) string {
	switch {
	case s.Plan.Quick && !s.Complete():
		return "smoke run, and incomplete: not evidence"
	case s.Plan.Quick:
		return "smoke run: not evidence"
	case !s.Complete():
		return "incomplete session: no conclusion can be drawn"
	case e.Invalid():
		var why []string
		for _, f := range e.Findings {
			if f.Severity == record.Voids {
				why = append(why, f.Text)
			}
		}
		return "void session: no conclusion can be drawn: " + strings.Join(why, "; ")
	}
	return ""
}

// legible is a text in which a terminal finds nothing to obey. Each format escapes
// what its own readers would take for an end or a beginning.
func legible(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if record.Obeyed(r) && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, b)
}

// flush writes what was built, so that a failed write is one error and no half file
// passes for a whole one.
func flush(w io.Writer, b *bytes.Buffer) error {
	if _, err := w.Write(legible(b.Bytes())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
