package formats

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Prometheus writes the text format that the node exporter's textfile collector
// reads: the median, smallest and largest process of each cell, in base units. The
// session's id is a label of gonogo_session_info alone, so that a later session
// continues the series.
func Prometheus(w io.Writer, s *record.Session, e findings.Evaluation) error {
	var b bytes.Buffer
	family := func(name, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name) }
	family("gonogo_session_info", "The session that the other values are of.")
	fmt.Fprintf(&b, "gonogo_session_info%s 1\n", labels("session", s.ID, "grade", s.Host.Grade, "go", s.Host.GoVersion, "node", s.Host.NodeVersion))
	family("gonogo_session_evidence", "1 if conclusions may be drawn, 0 for smoke runs, incomplete and void sessions.")
	fmt.Fprintf(&b, "gonogo_session_evidence %d\n", map[bool]int{true: 1}[evidence(s, &e) == ""])
	if !s.Finished.IsZero() {
		family("gonogo_session_finished_timestamp_seconds", "When the session ended.")
		fmt.Fprintf(&b, "gonogo_session_finished_timestamp_seconds %d\n", s.Finished.Unix())
	}
	for _, m := range metrics {
		said := false
		for _, c := range e.Cells {
			sum, ok := c.Summary[m.of]
			if !ok || !m.shown(c.Kind) {
				continue
			}
			if !said {
				family(m.prom, m.help)
				said = true
			}
			for _, v := range []struct {
				stat  string
				value float64
			}{{"median", sum.Median}, {"min", sum.Min}, {"max", sum.Max}} {
				fmt.Fprintf(&b, "%s%s %s\n", m.prom, labels("target", c.Target, "scenario", c.Scenario, "over_processes", v.stat), exact(v.value/m.divisor))
			}
		}
	}
	promVerdicts(&b, family, e.Verdicts)
	return flush(w, &b)
}

func promVerdicts(b *bytes.Buffer, family func(name, help string), all []record.Verdict) {
	if len(all) == 0 {
		return
	}
	family("gonogo_verdict_info", "The verdict on each primary question, as a label.")
	for _, v := range all {
		q := v.Primary
		fmt.Fprintf(b, "gonogo_verdict_info%s 1\n", labels("target", q.Target, "base", q.Base, "scenario", q.Scenario, "metric", q.Metric, "verdict", v.Word))
	}
	said := false
	for _, v := range all {
		if v.Ratio == nil {
			continue
		}
		if !said {
			family("gonogo_verdict_ratio", "Target / base, paired by block.")
			said = true
		}
		q := v.Primary
		fmt.Fprintf(b, "gonogo_verdict_ratio%s %s\n", labels("target", q.Target, "base", q.Base, "scenario", q.Scenario, "metric", q.Metric), exact(*v.Ratio))
	}
}

var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels are pairs of name and value; a value that is unknown is left out.
func labels(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, pairs[i]+`="`+labelValue.Replace(strings.ToValidUTF8(pairs[i+1], "�"))+`"`)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}
