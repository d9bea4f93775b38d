package report

import (
	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// What every form of the report says in the same words, for package page.

// Fact is a named line about a session.
type Fact struct{ Name, Text string }

// Head tells of the session, the machine and the plan.
func Head(s *record.Session) []Fact {
	var facts []Fact
	for _, f := range head(s) {
		facts = append(facts, Fact{f.name, f.text})
	}
	return facts
}

// Mark is what stands across a page that is not evidence; "" if it may be.
func Mark(s *record.Session, e findings.Evaluation) string { return mark(s, e) }

// GravestFirst orders findings as reports print them.
func GravestFirst(all []record.Finding) []record.Finding { return gravestFirst(all) }
