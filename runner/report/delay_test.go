package report_test

import (
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/report"
)

// The page answers from which wait on the two are the same, and does not hide that a
// request's CPU time is not.
func TestAPageOfWaits(t *testing.T) {
	s := example.Delayed()
	e := findings.Evaluate(s)
	for name, write := range map[string]report.Writer{"table": report.Table, "markdown": report.Markdown} {
		var b strings.Builder
		if err := write(&b, s, e); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{"WHERE THE RUNTIME STOPS MATTERING", "go-1 over node-1", "rate (within 5 %) from 1 on", "p99 (within 10 % or 500µs) from 20 on", "CPU per request (within 5 %) at no level"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
}
