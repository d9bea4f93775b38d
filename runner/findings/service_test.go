package findings

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// services makes targets of a session foreign, and some of them remote.
func services(s *record.Session, remote ...string) {
	s.Plan.Service = &record.Service{Folder: "/srv", IDs: 1}
	for i := range s.Plan.Targets {
		t := &s.Plan.Targets[i]
		t.Argv, t.Foreign = []string{"./" + t.Name}, &record.Foreign{URL: "http://192.0.2.1:80"}
		for _, name := range remote {
			if t.Name == name {
				t.Argv = nil
			}
		}
	}
}

// TestVerdictsNeedFreshProcesses: the same numbers carry a verdict if the targets were
// started here, and none if one of them ran already.
func TestVerdictsNeedFreshProcesses(t *testing.T) {
	for want, remote := range map[string]string{"BETTER": "", "INVALID go-1": "go-1", "INVALID node-1": "node-1"} {
		s, e := synthetic(rateQuestion, map[string]arms{"x": {noisy(120), shifted(100), noisy(100)}})
		services(s, remote)
		v := judge(s, e)
		word, name, _ := strings.Cut(want, " ")
		if v[0].Word != word || name != "" && !strings.Contains(v[0].Why, name+" ran already: "+FreshRule) {
			t.Errorf("%s: got %s: %s", want, v[0].Word, v[0].Why)
		}
		if all := notFresh(s, e); (len(all) == 1) != (remote != "") || remote != "" && !strings.HasPrefix(all[0].Text, remote+": not a fresh process") {
			t.Errorf("%s: found %+v", want, all)
		}
	}
}

func TestUnknownOfServices(t *testing.T) {
	s, _ := synthetic(rateQuestion, nil)
	if text := Unknown(&s.Plan); text != "" || foreign(s, nil) != nil {
		t.Errorf("of our own: %q", text)
	}
	services(s, "node-1")
	text := Unknown(&s.Plan)
	if !strings.HasPrefix(text, "of go-1, node-1, which do not tell: runtime settings,") || !strings.HasSuffix(text, "; of node-1, not started here, also: memory, CPU time, CPUs, time to ready") {
		t.Errorf("said %q", text)
	}
	if all := foreign(s, nil); len(all) != 1 || !strings.Contains(all[0].Text, text) {
		t.Errorf("found %+v", all)
	}
}

// TestSLO: the median of the processes against a limit just above and just at it.
func TestSLO(t *testing.T) {
	s, _ := synthetic(rateQuestion, nil)
	services(s)
	at := 20 * time.Millisecond
	cell := func(summary map[Metric]Summary) *Evaluation {
		return &Evaluation{Cells: []Cell{{Target: "go-1", Scenario: "mix-open", Kind: record.Open, Summary: summary},
			{Target: "twin", Scenario: "mix-open", Kind: record.Open}, {Target: "go-1", Scenario: "mix-c50", Kind: record.Closed}}}
	}
	known := map[Metric]Summary{P99: {Median: float64(at)}}
	if all := slo(s, cell(known)); all != nil {
		t.Errorf("without a limit: %+v", all)
	}
	for _, c := range []struct {
		limit   time.Duration
		summary map[Metric]Summary
		code    string
	}{{at + 1, known, "slo-met"}, {at, known, "slo-missed"}, {at, nil, "slo-unknown"}} {
		s.Plan.Service.SLO = &record.SLO{Quantile: 0.99, Limit: c.limit}
		all := slo(s, cell(c.summary))
		if len(all) != 1 || all[0].Code != c.code || (all[0].Severity == record.Note) != (c.code == "slo-met") {
			t.Errorf("%s: found %+v", c.code, all)
		}
	}
}
