package recount

import (
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
)

// Every number of a sweep is worked out again, and each that is altered is seen.
func TestASweepIsRecounted(t *testing.T) {
	s := example.Scale()
	e := findings.Evaluate(s)
	if wrong := Evaluation(s, &e); len(wrong) > 0 {
		t.Fatalf("%v", wrong)
	}
	for _, c := range []struct {
		want  string
		alter func(a *findings.ScaleArm)
	}{
		{"rate_per_sec median", func(a *findings.ScaleArm) { a.Rows[3].Rate.Value *= 1.001 }},
		{"rate_per_sec interval to", func(a *findings.ScaleArm) { a.Rows[3].Rate.Hi *= 1.001 }},
		{"load_end_pss_bytes median", func(a *findings.ScaleArm) { a.Rows[0].PSS.Value++ }},
		{"server_cpu_ns_per_request", func(a *findings.ScaleArm) { a.Rows[2].CPU = nil }},
		{"memory of one more", func(a *findings.ScaleArm) { a.Each.Bytes.Value *= 1.0001 }},
		{"blocks of the line", func(a *findings.ScaleArm) { a.Each.Blocks++ }},
		{"residual of the law", func(a *findings.ScaleArm) { a.Law.Residual *= 0.9 }},
		{"law of least squares", func(a *findings.ScaleArm) { a.Law.Coherence.Value *= 1.01 }},
		{"law of least squares", func(a *findings.ScaleArm) { a.Law.Rate.Value *= 1.01 }},
	} {
		e := findings.Evaluate(s)
		c.alter(&e.Scale.Arms[1]) // node-1, which has a law
		wrong := Evaluation(s, &e)
		found := false
		for _, w := range wrong {
			found = found || strings.Contains(w.What, c.want)
		}
		if !found {
			t.Errorf("altered %s: found %v", c.want, wrong)
		}
	}
	e.Scale = nil
	if wrong := Evaluation(s, &e); len(wrong) != 1 {
		t.Errorf("without its sweep: %v", wrong)
	}
}
