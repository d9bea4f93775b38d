package session

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// capacityPlan searches in short trials: a third of a second of arithmetic at the rates
// of a stub. Arrivals are equal, so that the truth needs no theory of queues.
func capacityPlan(connections int, targets ...record.Target) *record.Plan {
	search := record.Scenario{Name: "capacity", Kind: record.Capacity, Requests: getUser, Connections: connections, Arrivals: "constant",
		Warmup: 50 * time.Millisecond, Window: 600 * time.Millisecond}
	over := search
	over.Name, over.Kind, over.Window = "overload", record.Open, time.Second
	over.Overload = &record.OverloadWork{RateOfCapacity: 1.2, HealthEvery: 50 * time.Millisecond, RecoveryRate: 0.5,
		RecoveryStep: 800 * time.Millisecond, RecoveryMax: 5 * time.Second}
	p := planOf([]record.Scenario{search, over}, targets...)
	p.Kind = record.Capacity
	rules := plan.CapacityRules(0.95, 20*time.Millisecond)
	rules.RequestsMin, rules.StartRatio, rules.StepFactor, rules.Bracket = 100, 0.9, 1.2, 0.05
	rules.Low, rules.High = record.Votes{Need: 1, Of: 2}, record.Votes{Need: 1, Of: 1}
	p.Rules.Capacity, p.Rules.ErrorRatioMax = &rules, 1
	return p
}

func searched(t *testing.T, p *record.Plan, closed float64) (o outcome, s *capacity.Search) {
	t.Helper()
	c := config(t, p, &o, nil)
	c.LogName = func(st record.Step, _ int) string { return strings.ReplaceAll(st.Key(), "/", ".") + ".log" }
	c.LogPath = func(st record.Step, n int) string { return filepath.Join(c.Root, c.LogName(st, n)) }
	o.err = SearchCapacity(t.Context(), c, []record.Probe{{Target: p.Targets[0].Name, CapacityPerSec: closed}})
	if o.err != nil {
		t.Fatal(o.err)
	}
	var trials []capacity.Trial
	pids := map[int]bool{}
	for i, r := range o.runs {
		t.Logf("%s at %.0f/s: %s %s", r.Step.Key(), r.OfferedPerSec, r.Outcome, r.Reason)
		if r.Step.Trial > 0 {
			trials = append(trials, capacity.Judge(*p.Rules.Capacity, capacity.Look(*p.Rules.Capacity, r, true)))
			t.Logf("  %+v", trials[len(trials)-1])
			if r.Step.Trial != i+1 || len(r.PIDs) != 1 || pids[r.PIDs[0]] {
				t.Fatalf("trial %d of processes %v: want number %d and a fresh process", r.Step.Trial, r.PIDs, i+1)
			}
			pids[r.PIDs[0]] = true
		}
	}
	s, err := capacity.Replay(*p.Rules.Capacity, closed, trials)
	if err != nil {
		t.Fatal(err)
	}
	return o, s
}

// inRealTime is for what takes real time on a machine that others use as well: one of
// three attempts has to be right. A program that is wrong is so in all of them.
func inRealTime(t *testing.T, try func() (wrong string)) {
	t.Helper()
	for attempt := 1; attempt <= 3; attempt++ {
		wrong := try()
		if wrong == "" {
			return
		}
		t.Logf("attempt %d: %s", attempt, wrong)
	}
	t.Fatal("wrong in three attempts")
}

// One place and 2 ms for each request are 500/s, whatever the machine.
func TestCapacityOfAServerOfKnownTruth(t *testing.T) {
	var a capacity.Answer
	var over *record.Run
	inRealTime(t, func() string {
		o, s := searched(t, capacityPlan(150, target("stub", "-serial", "-delay", "2ms")), 500)
		a = s.Answer()
		rate, ok := a.Middle()
		if !ok || !a.Confirmed || math.Abs(rate/500-1) > 0.05 || a.Hi/a.Lo-1 > 0.11 {
			return fmt.Sprintf("answer %+v, want a confirmed bracket around 500/s", a)
		}
		over = o.runs[len(o.runs)-1]
		if over.Overload == nil || over.Load == nil {
			t.Fatalf("the last run is %s, without an overload", over.Step.Key())
		}
		if goodput := float64(over.Load.Counts.InWindow) / over.Load.Window.Seconds(); math.Abs(goodput/500-1) > 0.05 {
			return fmt.Sprintf("goodput under overload %.0f/s, want 500", goodput)
		}
		return ""
	})
	if len(a.Bound) == 0 || slices.Contains(a.Bound, capacity.Errors) {
		t.Errorf("bound by %v, want the rate or the latency", a.Bound)
	}
	w := over.Overload
	if len(w.Health) < 5 || w.HealthAsked != len(w.Health) {
		t.Errorf("%d of %d questions of /healthz were answered, want all of 5 or more", len(w.Health), w.HealthAsked)
	}
	// What was offered above 500/s for 1 s is still to be served when the load ends.
	backlog := time.Duration(float64(time.Second) * (over.OfferedPerSec/500 - 1))
	n := len(w.Recovery)
	if n == 0 || !w.Recovery[n-1].Passed || w.Recovery[n-1].At < backlog*9/10 {
		t.Errorf("recovery %+v, want one that passes, not before %v", w.Recovery, backlog)
	}
}

// Wrong answers are no capacity, however fast they come; and a process that dies makes
// a trial fail, and does not end the session.
func TestTrialsThatFail(t *testing.T) {
	for _, c := range []struct {
		flag, value string
		want        capacity.Limit
	}{{"-broken", "40", capacity.Errors}, {"-exit-after", "300ms", capacity.Broke}} {
		p := capacityPlan(20, target("stub", c.flag, c.value))
		p.Rules.Capacity.TrialsMax = 2
		o, s := searched(t, p, 400)
		a := s.Answer()
		if a.End != capacity.OutOfTrials || a.Lo != 0 || a.Hi != 360 || !slices.Contains(a.Bound, c.want) {
			t.Errorf("%s: answer %+v, want 360/s to fail for %s", c.flag, a, c.want)
		}
		if n := len(o.runs); n != 2 {
			t.Errorf("%s: %d runs, want the two trials and no overload of an unknown capacity", c.flag, n)
		}
	}
}
