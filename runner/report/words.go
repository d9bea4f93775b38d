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

// CapacityLimit says what the two rates behind a capacity time were limited by.
func CapacityLimit(e *findings.Evaluation, c findings.CapacityTime) string {
	for _, target := range []string{c.Target, c.Base} {
		if cell, ok := e.Cell(target, c.Scenario); !ok || !cell.ServerBound() {
			return "not the server alone: upper bounds"
		}
	}
	return "the server"
}

// Mark is what stands across a page that is not evidence; "" if it may be.
func Mark(s *record.Session, e findings.Evaluation) string { return mark(s, e) }

// GravestFirst orders findings as reports print them.
func GravestFirst(all []record.Finding) []record.Finding { return gravestFirst(all) }
