// Package decision answers the question of a session: should this service be
// rewritten in Go? It is pure: a session, its evaluation and the user's inputs in,
// a record.Decision out; the same three give the same decision.
//
// Three rules carry it. Verdicts are the only evidence: what was not asked before
// the first run, or came out INCONCLUSIVE or INVALID, proves nothing. Every number
// takes its interval along, and a GO has to hold at the end of it that saves least.
// And what nobody measured or said is never assumed: it is named, and the answer
// is NOT PROVEN.
package decision

import (
	"fmt"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Refused says why nothing may be decided on a session.
type Refused struct{ Reasons []string }

func (r *Refused) Error() string { return strings.Join(r.Reasons, "; ") }

// Make decides, with what Beside read of other sessions. The error is a *Refused if the session is no evidence, else it
// says which inputs cannot be.
func Make(s *record.Session, e findings.Evaluation, in record.DecisionInputs, beside ...record.Beside) (*record.Decision, error) {
	if err := Check(in); err != nil {
		return nil, fmt.Errorf("read inputs: %w", err)
	}
	if reasons := refusals(s, &e); len(reasons) > 0 {
		return nil, &Refused{reasons}
	}
	m := &matter{s: s, e: &e, rules: s.Plan.Decision, beside: beside}
	d := &record.Decision{
		SchemaVersion: record.SchemaVersion, Session: s.ID, PlanSHA256: planSum(s),
		Question: question(s), Rules: s.Plan.Decision, Primary: s.Plan.Primary, Inputs: in, Beside: beside,
		Verdicts: e.Verdicts, Rejected: rejected(s, &e), Expiry: expiry(s),
	}
	if m.rules != nil {
		d.Levels, d.Clustering, d.CapacityTimes, d.Gains = m.levels(), m.clustering(), m.capacityTimes(), m.gains(in)
	}
	d.NotMeasured = m.notMeasured(in)
	for _, f := range e.Findings {
		if f.Severity == record.Warn {
			d.Warnings = append(d.Warnings, f.Text)
		}
	}
	m.answer(d, in)
	return d, nil
}

// matter is what all parts of a decision are taken from.
type matter struct {
	s     *record.Session
	e     *findings.Evaluation
	rules *record.DecisionRules

	beside []record.Beside
}

func question(s *record.Session) string {
	if s.Plan.Service != nil {
		return s.Plan.Question()
	}
	if d := s.Plan.Decision; d != nil {
		var pairs []string
		for _, p := range d.Pairs {
			pairs = append(pairs, p.Base+" by "+p.Target)
		}
		return "Should this Node.js service be rewritten in Go: " + strings.Join(pairs, ", ") + "?"
	}
	return "Should this Node.js service be rewritten in Go?"
}

// answer fills in Answer, Why, Missing, If, Whole and Parts.
func (m *matter) answer(d *record.Decision, in record.DecisionInputs) {
	if m.rules == nil {
		d.Answer, d.Why = record.NotProven, []string{"the plan of this session fixed no rule for a decision before its first run; a rule chosen after the numbers are seen proves nothing"}
		return
	}
	if d.Missing = missing(in); len(d.Missing) > 0 {
		d.Answer, d.Why = m.withoutInputs(d.Missing)
		d.If = m.conditions(in)
		return
	}
	whole := m.assess("", in)
	d.Whole, d.Answer, d.Why = &whole, whole.Answer, whole.Why
	var worth []string
	for _, p := range in.Parts {
		a := m.assess(p.Name, part(in, p))
		d.Parts = append(d.Parts, a)
		if a.Answer == record.Go {
			worth = append(worth, p.Name)
		}
	}
	// A cluster is tried before anything is rewritten, also before a part is.
	if len(worth) > 0 && (whole.Answer == record.NoGo || whole.Answer == record.NotProven) {
		d.Answer = record.GoForPart
		d.Why = append([]string{fmt.Sprintf("rewriting %s pays by the rule, rewriting the whole service does not, or is not proven to", strings.Join(worth, ", "))}, whole.Why...)
	}
}

// withoutInputs answers from verdicts alone. They can say no: what is better in
// nothing is better for nobody. They cannot say yes.
func (m *matter) withoutInputs(gaps []record.Missing) (record.Answer, []string) {
	for _, v := range m.e.Verdicts {
		if w := stats.Word(v.Word); w != stats.Equivalent && w != stats.Worse {
			return record.NotProven, []string{fmt.Sprintf("%s missing without which the measured differences have no worth: %s", map[bool]string{true: "1 input is", false: fmt.Sprint(len(gaps), " inputs are")}[len(gaps) == 1], names(gaps))}
		}
	}
	if len(m.e.Verdicts) == 0 {
		return record.NotProven, []string{"the session gives no verdict"}
	}
	return record.NoGo, []string{"nothing that was measured is better with Go, whatever binds and whatever it costs"}
}

func names(gaps []record.Missing) string {
	var all []string
	for _, g := range gaps {
		all = append(all, g.Input)
	}
	return strings.Join(all, ", ")
}
