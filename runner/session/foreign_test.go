package session

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// remotePlan is of servers that run already, under one closed loop.
func remotePlan(urls ...string) *record.Plan {
	requests := []record.Request{{Method: "GET", Path: "/items/{id}", WantStatus: 200, WantBody: `{"id":{id}}`}}
	var targets []record.Target
	for i, url := range urls {
		targets = append(targets, record.Target{Name: string(rune('a' + i)), Argv: []string{}, Foreign: &record.Foreign{URL: url, Ready: "/", ReadyWithin: time.Minute}})
	}
	p := planOf([]record.Scenario{{Name: "mix-c4", Kind: record.Closed, Requests: requests, Connections: 4, Warmup: 20 * time.Millisecond, Window: 100 * time.Millisecond}}, targets...)
	p.Service = &record.Service{Folder: "/", Requests: requests, IDs: 9}
	return p
}

// items is a service that answers with the id in this form. It has nine.
func items(t *testing.T, form string) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/items/")
		if len(id) > 1 {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(strings.ReplaceAll(form, "ID", id)))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestRemoteRun: a server that nobody here started is loaded, and what cannot be seen
// of it is absent from the record, not 0.
func TestRemoteRun(t *testing.T) {
	url := items(t, `{"id":ID}`)
	o := execute(t, t.Context(), remotePlan(url), nil)
	if o.err != nil || len(o.runs) != 1 {
		t.Fatalf("%d runs, %v", len(o.runs), o.err)
	}
	r := o.runs[0]
	if r.Outcome == record.Failed || r.Load.Counts.OK == 0 { // a busy machine may void a window of 100 ms
		t.Fatalf("%s: %s", r.Outcome, r.Reason)
	}
	if r.Settings != nil || r.Served != nil || r.PerWorker != nil || r.ServerCPU != nil || r.ServerCPUOver != nil || r.Memory != nil || r.FirstAnswer != nil || r.Ready != 0 || len(r.PIDs) > 0 || r.CPUsAllowed != nil {
		t.Errorf("what is not known is recorded: %+v", r)
	}
	for _, c := range r.Checks {
		if c.Name == "requests the server counted" {
			t.Errorf("the server counted: %+v", c)
		}
	}
	if resp, err := http.Get(url); err != nil {
		t.Errorf("it was stopped: %v", err)
	} else {
		resp.Body.Close()
	}
}

// TestGated: what others do voids a run, unless it is a smoke run or the server is one
// of the others.
func TestGated(t *testing.T) {
	here, there := remotePlan("http://127.0.0.1:80"), remotePlan("http://192.0.2.1:80")
	ours := planOf(nil, target("stub"))
	quick := planOf(nil, target("stub"))
	quick.Quick = true
	for want, plans := range map[bool][]*record.Plan{true: {ours, there}, false: {here, quick}} {
		for _, p := range plans {
			if s := (&step{Config: Config{Plan: p}, target: p.Targets[0]}); s.gated() != want {
				t.Errorf("%s: gated is %v", p.Targets[0].Name, !want)
			}
		}
	}
}

// TestResetRunsBeforeEachProcess: and a reset that fails is why a run failed.
func TestResetRunsBeforeEachProcess(t *testing.T) {
	url := items(t, `{"id":ID}`)
	p := remotePlan(url)
	mark := filepath.Join(t.TempDir(), "mark")
	p.Targets[0].Foreign.Reset = [][]string{{"mkdir", mark}} // which only works once
	p.Steps = append(p.Steps, record.Step{Index: 1, Block: 2, Target: "a", Scenario: "mix-c4"})
	p.Blocks = 2
	o := execute(t, t.Context(), p, nil)
	if o.err != nil || len(o.runs) != 2 {
		t.Fatalf("%d runs, %v", len(o.runs), o.err)
	}
	runs := o.runs
	if runs[0].Outcome == record.Failed || runs[1].Outcome != record.Failed || !strings.Contains(runs[1].Reason, "ready target a: run [\"mkdir\"") {
		t.Errorf("first %s: %s; second %s: %s", runs[0].Outcome, runs[0].Reason, runs[1].Outcome, runs[1].Reason)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
}

// TestProveServices: what is proved is what the requests of the plan say.
func TestProveServices(t *testing.T) {
	same := items(t, `{"id":ID}`)
	spaced := items(t, `{"id":ID}`)
	other := items(t, `{"id":ID0}`)
	parity, err := Prove(t.Context(), config(t, remotePlan(same, spaced), &outcome{}, nil), t.TempDir())
	if err != nil || len(parity) != 2 || parity[1] != (record.Parity{Target: "b", Cases: 3}) {
		t.Errorf("parity %+v, %v", parity, err)
	}
	_, err = Prove(t.Context(), config(t, remotePlan(same, other), &outcome{}, nil), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "GET /items/4") || !strings.Contains(err.Error(), "wrong: ") {
		t.Errorf("services that differ: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := remotePlan("http://" + l.Addr().String())
	p.Targets[0].Foreign.ReadyWithin = 50 * time.Millisecond
	if _, err = Prove(t.Context(), config(t, p, &outcome{}, nil), t.TempDir()); err == nil || !strings.Contains(err.Error(), "reach a at http://127.0.0.1:") {
		t.Errorf("nobody there: %v", err)
	}
}
