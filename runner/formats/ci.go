package formats

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// started is one command of hyperfine's JSON export, in seconds. Its user and
// system times are absent: nothing measures the CPU time of a start.
type started struct {
	Command    string            `json:"command"`
	Mean       float64           `json:"mean"`
	Stddev     *float64          `json:"stddev"` // null for one run, as hyperfine has it
	Median     float64           `json:"median"`
	Min        float64           `json:"min"`
	Max        float64           `json:"max"`
	Times      []float64         `json:"times"`
	Parameters map[string]string `json:"parameters"`
}

// Hyperfine writes the start-up times, from exec to the first right answer of the
// API, in the shape of `hyperfine --export-json`: a command for each target, a time
// for each of its processes that count, whatever scenario it served afterwards.
// Records of before that time was kept have the one to the first right answer of
// /healthz alone, which is earlier; the parameter until says which, and no file has
// both.
func Hyperfine(w io.Writer, s *record.Session, e findings.Evaluation) error {
	metric, until := findings.Ready, "right answer of /healthz"
	for i := range e.Cells {
		if len(e.Cells[i].Values(findings.FirstAnswer)) > 0 {
			metric, until = findings.FirstAnswer, "right answer of the API"
		}
	}
	results := []started{}
	for _, t := range s.Plan.Targets {
		var times []float64
		for _, c := range e.Cells {
			if c.Target != t.Name {
				continue
			}
			for _, ns := range c.Values(metric) {
				times = append(times, ns/float64(time.Second))
			}
		}
		mean, ok := stats.Mean(times)
		if !ok {
			continue
		}
		r := started{Command: t.Name, Mean: mean, Times: times, Parameters: map[string]string{"target": t.Name, "session": s.ID, "until": until}}
		r.Median, _ = stats.Median(times)
		r.Min, r.Max, _ = stats.MinMax(times)
		if sd, ok := stats.SampleDeviation(times); ok {
			r.Stddev = &sd
		}
		results = append(results, r)
	}
	return asJSON(w, struct {
		Results []started `json:"results"`
	}{results})
}

// point is one entry of the GitHub action's custom formats.
type point struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Range string  `json:"range,omitempty"`
	Extra string  `json:"extra,omitempty"`
}

// GitHub writes what github-action-benchmark reads as customSmallerIsBetter:
// medians over processes. A file of its has one direction, so rates, of which more
// is better, stand there as their inverse, the capacity time of closed loops.
func GitHub(w io.Writer, s *record.Session, e findings.Evaluation) error {
	points := []point{}
	for _, c := range e.Cells {
		add := func(name, unit string, sum findings.Summary) {
			extra := fmt.Sprintf("median of %d fresh processes, session %s", sum.N, s.ID)
			if warning := evidence(s, &e); warning != "" {
				extra += ", " + warning
			}
			points = append(points, point{c.Name() + " " + name, unit, sum.Median, exact(sum.Min) + ".." + exact(sum.Max), extra})
		}
		if rate, ok := c.Summary[findings.Rate]; ok && c.Kind == record.Closed && rate.Min > 0 {
			// The inverse of a median of an even number of values is not the median of
			// the inverses, so it is taken anew.
			times := c.Values(findings.Rate)
			for i := range times {
				times[i] = float64(time.Second) / times[i]
			}
			sum := findings.Summary{N: rate.N}
			sum.Median, _ = stats.Median(times)
			sum.Min, sum.Max, _ = stats.MinMax(times)
			add("capacity time", "ns/request", sum)
		}
		for _, m := range metrics {
			if sum, ok := c.Summary[m.of]; ok && m.github != "" && m.shown(c.Kind) {
				add(m.github, m.unit, sum)
			}
		}
	}
	return asJSON(w, points)
}

func asJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	if err := record.WriteJSON(&b, v); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return flush(w, &b)
}

type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"timestamp,attr,omitempty"`
	Cases    []test   `xml:"testcase"`
}

type test struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *outcome `xml:"failure,omitempty"`
	Error   *outcome `xml:"error,omitempty"`
	Skipped *outcome `xml:"skipped,omitempty"`
	Out     string   `xml:"system-out,omitempty"`
}

type outcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
}

// JUnit writes one test for the session, one for each gate of the machine and one
// for each primary question. WORSE and a failed gate are failures; INVALID, and a
// session that is no evidence, are errors; INCONCLUSIVE and a gate that the system
// does not tell of are skipped, for not known is neither passed nor failed.
func JUnit(w io.Writer, s *record.Session, e findings.Evaluation) error {
	u := suite{Name: "gonogo " + s.ID}
	if !s.Started.IsZero() {
		u.Time = s.Started.UTC().Format("2006-01-02T15:04:05")
	}
	whole := test{Class: "session", Name: "is evidence"}
	if why := evidence(s, &e); why != "" {
		whole.Error = &outcome{"NOT EVIDENCE", why}
	}
	u.Cases = append(u.Cases, whole)
	for _, c := range s.Host.Checks {
		t := test{Class: "machine", Name: c.Name, Out: "observed: " + c.Observed + "; limit: " + c.Limit}
		switch {
		case c.Unknown:
			t.Skipped = &outcome{Message: "this system does not tell"}
		case !c.OK:
			t.Failure = &outcome{"gate", "observed " + c.Observed + ", limit " + c.Limit}
		}
		u.Cases = append(u.Cases, t)
	}
	for _, v := range e.Verdicts {
		u.Cases = append(u.Cases, judged(v))
	}
	for _, t := range u.Cases {
		u.Tests++
		for n, o := range map[*int]*outcome{&u.Failures: t.Failure, &u.Errors: t.Error, &u.Skipped: t.Skipped} {
			if o != nil {
				*n++
			}
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(u); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	b.WriteString("\n")
	return flush(w, &b)
}

func judged(v record.Verdict) test {
	q := v.Primary
	t := test{Class: "verdict." + q.Scenario, Name: fmt.Sprintf("%s of %s against %s", q.Metric, q.Target, q.Base), Out: v.Word + ": " + v.Why}
	if v.Ratio != nil {
		t.Out += fmt.Sprintf("; ratio %s", exact(*v.Ratio))
	}
	o := &outcome{v.Word, v.Why}
	switch stats.Word(v.Word) {
	case stats.Worse:
		t.Failure = o
	case stats.Better, stats.Equivalent:
	case stats.Inconclusive:
		t.Skipped = o
	default:
		t.Error = o
	}
	return t
}
