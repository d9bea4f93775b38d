package findings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// FreshRule is what a verdict rests on and a server that runs already cannot give: the
// unit of inference is the fresh process (method D1).
const FreshRule = "a verdict needs fresh processes (method D1)"

// notFresh: a server that runs already is one process, however often it is asked. What
// it has gone through before, and what it was built with, is in every run of it.
func notFresh(s *record.Session, _ *Evaluation) []record.Finding {
	names := s.Plan.Remote()
	if len(names) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "not-fresh", Severity: record.Warn, Observed: some(names) + " ran already", Threshold: "a fresh process for each run",
		Text: some(names) + ": not a fresh process in any run, so its runs are repeats and no sample: verdicts on it are withheld",
		Hint: "give the target a command in the plan file, so that it is started here",
	}}
}

// unfresh says why a test of a target that runs already has no verdict.
func unfresh(p *record.Plan, q record.Primary) []string {
	var failed []string
	for _, name := range []string{q.Target, q.Base} {
		if slices.Contains(p.Remote(), name) {
			failed = append(failed, fmt.Sprintf("%s ran already: %s", name, FreshRule))
		}
	}
	return failed
}

// Unknown says what is not known of services that were not written for this kit; ""
// where there are none.
func Unknown(p *record.Plan) string {
	if p.Service == nil {
		return ""
	}
	var names []string
	for _, t := range p.Targets {
		if t.Foreign != nil && !t.Twin {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := "of " + strings.Join(names, ", ") + ", which do not tell: runtime settings, requests served by their own count, balance of workers, size of the store"
	if remote := p.Remote(); len(remote) > 0 {
		text += "; of " + strings.Join(remote, ", ") + ", not started here, also: memory, CPU time, CPUs, time to ready"
	}
	return text
}

// foreign: what our own servers are asked after each run is not known of others.
func foreign(s *record.Session, _ *Evaluation) []record.Finding {
	text := Unknown(&s.Plan)
	if text == "" {
		return nil
	}
	return []record.Finding{{
		Code: "unknown-of-services", Severity: record.Note, Observed: "not told", Threshold: "what the servers of this kit say on /healthz",
		Text: "unknown " + text + "; that both sides counted the same requests is not checked",
	}}
}

// slo holds the typical process of each target against the user's limit, in the open
// loop: a closed one has no arrivals that would wait.
func slo(s *record.Session, e *Evaluation) []record.Finding {
	v := s.Plan.Service
	if v == nil || v.SLO == nil {
		return nil
	}
	var m Metric
	for _, q := range quantiles {
		if q.q == v.SLO.Quantile {
			m = q.metric
		}
	}
	var all []record.Finding
	for _, c := range e.Cells {
		t, _ := s.Plan.Target(c.Target)
		sum, known := c.Summary[m]
		if c.Kind != record.Open || t.Twin {
			continue
		}
		f := record.Finding{Code: "slo-met", Severity: record.Note, Steps: c.steps(), Observed: "unknown", Threshold: fmt.Sprintf("below %v", v.SLO.Limit)}
		name := "p" + limit(100*v.SLO.Quantile)
		switch {
		case !known:
			f.Code, f.Severity, f.Text = "slo-unknown", record.Warn, fmt.Sprintf("%s: %s is not known: too few requests, or no run", c.Name(), name)
		case time.Duration(sum.Median) < v.SLO.Limit:
			f.Observed, f.Text = millis(sum.Median), fmt.Sprintf("%s: the typical process met the limit of %s", c.Name(), name)
		default:
			f.Code, f.Severity, f.Observed = "slo-missed", record.Warn, millis(sum.Median)
			f.Text = fmt.Sprintf("%s: the typical process missed the limit of %s", c.Name(), name)
		}
		all = append(all, f)
	}
	return all
}
