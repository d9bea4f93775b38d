package example

import (
	"testing"

	"gonogo/runner/findings"
)

// TestSession: tests elsewhere rest on it being valid, complete and judged.
func TestSession(t *testing.T) {
	s := Session()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	e := findings.Evaluate(s)
	if !s.Complete() || e.Invalid() || len(e.Verdicts) != len(s.Plan.Primary) {
		t.Fatalf("complete %v, invalid %v, %d verdicts: %+v", s.Complete(), e.Invalid(), len(e.Verdicts), e.Findings)
	}
	for _, v := range e.Verdicts {
		t.Log(v.Word, v.Primary.Target, v.Primary.Metric, v.Why)
	}
}
