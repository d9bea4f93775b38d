package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// fault is one row of the table. Several may be cases of one fault: what is in front of
// a colon in their names.
type fault struct {
	name     string
	expected string // the alarm, as it is printed
	short    bool   // cheap enough for the ordinary tests
	set      func(dir string, planted bool) *stage
	alarm    func(*outcome) string // what was raised of it; "" if it was not
}

// table is every fault of a measurement that has to be told.
func table() []fault {
	return slices.Concat(servers, processes, settings, measurement)
}

// choose takes the named faults, or all.
func choose(names []string, short bool) ([]fault, error) {
	var chosen []fault
	for _, name := range names {
		if !slices.ContainsFunc(table(), func(f fault) bool { return faultName(f.name) == name }) {
			return nil, fmt.Errorf("choose faults: there is no %q", name)
		}
	}
	for _, f := range table() {
		if (len(names) == 0 || slices.Contains(names, faultName(f.name))) && (f.short || !short) {
			chosen = append(chosen, f)
		}
	}
	return chosen, nil
}

// with adds flags to the stub's command line if the fault is planted.
func with(planted bool, t record.Target, flags ...string) record.Target {
	if planted {
		t.Argv = slices.Concat(t.Argv, flags)
	}
	return t
}

const stallFor = 600 * time.Millisecond

// servers are faults of what a server does.
var servers = []fault{
	{name: "slow server", expected: "verdict WORSE",
		set: func(dir string, planted bool) *stage {
			slow := with(planted, target("slow"), "-delay=4ms")
			slow.Base = "base"
			s := newStage(dir, planted, target("base"), slow)
			s.plan.Blocks = 6 // the fewest whose exact test can say anything
			s.plan.Primary = []record.Primary{{Metric: "rate_per_sec", Scenario: "get-c4", Target: "slow", Base: "base", HigherIsBetter: true, MarginRatio: 0.05}}
			return s
		},
		alarm: func(o *outcome) string {
			for _, v := range o.Verdicts {
				if v.Word == "WORSE" {
					return fmt.Sprintf("%s, rate %.2f x that of its base", v.Word, *v.Ratio)
				}
			}
			return ""
		}},
	{name: "stall", expected: "artefact-max or undetermined-max in the run that stalled",
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, target("stalls", "-stall-for="+stallFor.String()))
			s.plan.Blocks, s.plan.Scenarios[0].Window = 3, 2*stallFor
			s.underLoad[2] = func(_ context.Context, v victims) {
				if planted {
					v.signal(0, syscall.SIGUSR1)
				}
			}
			return s
		},
		alarm: func(o *outcome) string {
			for _, code := range []string{"artefact-max", "undetermined-max"} {
				f, ok := o.finding(code)
				c, known := o.Cell("stalls", "get-c4")
				if ok && known && slices.Equal(f.Steps, []string{"stalls/get-c4/b02"}) && c.Maximum.Value > float64(stallFor/2) {
					return code + ": " + f.Observed + " in b02"
				}
			}
			return ""
		}},
	{name: "leak", expected: "memory-grows",
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, with(planted, target("leaks", "-delay=0", "-allocate=64"), "-leak=16384"))
			s.plan.Kind = record.Memory
			s.plan.Rules.Memory = &record.MemoryRules{GrowthMin: 0.02, GrowthP: 0.05, GrowthCycles: 6, SamplerCostMax: 0.03}
			s.plan.Scenarios = []record.Scenario{{Name: "memory-cycles", Kind: record.Memory, Requests: getUser, Connections: 4,
				Work: &record.MemoryWork{Requests: 1000, Cycles: 6, Rests: []time.Duration{100 * time.Millisecond}}}}
			return s
		},
		alarm: byFinding("memory-grows", "")},
	{name: "wrong body once in 10 000", expected: "errors",
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, with(planted, target("lies", "-delay=0"), "-wrong-body=10000"))
			s.plan.Scenarios[0].Connections, s.plan.Scenarios[0].Window = 16, 3*time.Second // more than 10 000, also on a slow machine
			return s
		},
		alarm: byFinding("errors", "wrong body")},
	{name: "chatty server", expected: "chatty-server", short: true,
		set: func(dir string, planted bool) *stage {
			return newStage(dir, planted, with(planted, target("talks"), "-stderr-each=80"))
		},
		alarm: byFinding("chatty-server", "")},
	{name: "store not reset", expected: "run failed: the store was not reset", short: true,
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, with(planted, target("keeps"), "-keep-store="+filepath.Join(dir, "store")))
			s.plan.Blocks = 2 // the second run finds what the first stored
			s.plan.Scenarios[0].Requests = []record.Request{{Method: "POST", Path: "/users", Body: `{"name":"A","email":"a@b"}`, WantStatus: 201}}
			return s
		},
		alarm: byReason("the store was not reset")},
}

// processes are faults of a target's processes.
var processes = []fault{
	{name: "dead worker", expected: "run failed: a process is gone", short: true,
		set: func(dir string, planted bool) *stage { return cluster(dir, planted) }, alarm: byReason("is gone")},
	{name: "refork", expected: "run failed: a process is new", short: true,
		set: func(dir string, planted bool) *stage { return cluster(dir, planted, "-refork") }, alarm: byReason("is new")},
	{name: "cluster of which one worker takes all", expected: "imbalanced-workers", short: true,
		set: func(dir string, planted bool) *stage {
			t := with(planted, target("cluster", "-workers=2", "-fair"), "-one-worker")
			t.Workers = 2
			s := newStage(dir, planted, t)
			s.plan.Scenarios[0].Connections = 32 // those of the proof of health shift the turns by one
			return s
		},
		alarm: byFinding("imbalanced-workers", "")},
}

// cluster is a session of two workers of which, if planted, one ends under load.
func cluster(dir string, planted bool, flags ...string) *stage {
	t := target("cluster", append(flags, "-workers=2", "-exit-code=1")...)
	t.Workers = 2
	s := newStage(dir, planted, t)
	s.plan.Scenarios[0].Window = 600 * time.Millisecond
	s.underLoad[1] = func(_ context.Context, v victims) {
		if planted {
			v.signal(1, syscall.SIGUSR2)
		}
	}
	return s
}

// settings are faults of what a target runs with.
var settings = []fault{
	{name: "port stolen", expected: "run failed: another server answers", short: true,
		set: func(dir string, planted bool) *stage {
			thief, err := stub.Listen(stub.Behaviour{})
			if err != nil {
				return newStage(dir, planted) // no target: nothing is raised
			}
			_, port, _ := strings.Cut(thief.Address(), ":")
			s := newStage(dir, planted, with(planted, target("robbed"), "-say-port="+port))
			s.cleanup = append(s.cleanup, func() { thief.Close() })
			return s
		},
		alarm: byReason("is answered by another server")},
	{name: "settings not honoured: workers", expected: "run failed: settings not honoured", short: true,
		set: func(dir string, planted bool) *stage {
			return newStage(dir, planted, with(planted, target("obeys"), "-say-workers=7"))
		},
		alarm: byReason("settings not honoured: workers is 7, want 1")},
	{name: "settings not honoured: GOMAXPROCS", expected: "run failed: settings not honoured",
		set: func(dir string, planted bool) *stage { // the real server; the planted one is given another number than the plan says
			t := record.Target{Name: "go-1", Argv: []string{"bin/server-go"}, Env: []string{"GOMAXPROCS=1"}, Workers: 1}
			if planted {
				t.Env = []string{"GOMAXPROCS=2"}
			}
			return newStage(dir, planted, t)
		},
		alarm: byReason("settings not honoured: GOMAXPROCS is 2, want 1")},
	{name: "settings not honoured: CPUs", expected: "run failed: settings not honoured", short: true,
		set: func(dir string, planted bool) *stage {
			return newStage(dir, planted, pinned(with(planted, target("wanders"), "-any-cpu")))
		},
		alarm: byReason("settings not honoured: it may run on CPUs")},
}

// pinned keeps server and generator apart, where there are two CPUs.
func pinned(t record.Target) record.Target {
	if sets, err := host.Split(); err == nil {
		t.CPUs, t.GeneratorCPUs = sets.One, sets.OneGenerator
	}
	return t
}

// measurement are faults of the measurement itself.
var measurement = []fault{
	{name: "saturated generator", expected: "generator-bound",
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, pinned(target("fast", "-delay=0")))
			s.plan.Scenarios[0].Connections, s.plan.Scenarios[0].Window = 16, time.Second
			if planted {
				s.generator = "burdened"
			}
			return s
		},
		alarm: byFinding("generator-bound", "")},
	{name: "clock step", expected: "check-failed: steps of the wall clock; durations as they were", short: true,
		set: func(dir string, planted bool) *stage {
			// No process can step the clock for itself alone, so it is planted where the
			// session reads it.
			var ahead atomic.Int64
			s := newStage(dir, planted, target("ages"))
			s.wall = func() time.Time { return time.Now().Round(0).Add(time.Duration(ahead.Load())) }
			s.underLoad[1] = func(context.Context, victims) {
				if planted {
					ahead.Store(int64(time.Hour))
				}
			}
			return s
		},
		alarm: func(o *outcome) string {
			f, ok := o.finding("check-failed")
			if !ok || !strings.Contains(f.Text, "steps of the wall clock") {
				return ""
			}
			r := o.session.Runs[0]
			if r.Took > time.Minute || r.Load.Window > time.Minute || *r.ServerCPUOver > time.Minute {
				return ""
			}
			return fmt.Sprintf("check-failed: %s; it took %v", f.Observed, r.Took.Round(time.Millisecond))
		}},
	{name: "sampler left on in a latency run", expected: "archive refuses the run", short: true,
		set: func(dir string, planted bool) *stage {
			s := newStage(dir, planted, target("watched"))
			var sampler forgottenSampler
			s.underLoad[1] = func(ctx context.Context, v victims) {
				if planted {
					sampler.start(ctx, v)
				}
			}
			s.keep = sampler.into
			return s
		},
		alarm: func(o *outcome) string {
			if o.failed != nil && strings.Contains(o.failed.Error(), "a closed run holds a memory sampler") {
				return o.failed.Error()
			}
			return ""
		}},
	{name: "twin that is not a twin", expected: "twin-differs",
		set: func(dir string, planted bool) *stage {
			other, twin := target("other"), with(planted, target("base-twin"), "-delay=3ms")
			other.Base, twin.Base, twin.Twin = "base", "base", true
			s := newStage(dir, planted, target("base"), twin, other)
			s.plan.Blocks = 10 // 8 are the fewest that can void; two may be spoiled
			s.plan.Primary = []record.Primary{{Metric: "rate_per_sec", Scenario: "get-c4", Target: "other", Base: "base", HigherIsBetter: true, MarginRatio: 0.05}}
			return s
		},
		alarm: byFinding("twin-differs", "")},
}

// byFinding is the alarm of a finding whose text holds some words.
func byFinding(code, words string) func(*outcome) string {
	return func(o *outcome) string {
		if f, ok := o.finding(code); ok && strings.Contains(f.Text, words) {
			return code + ": " + f.Observed
		}
		return ""
	}
}

// byReason is the alarm of a run that failed for that reason. Its session has to say
// that the run is missing.
func byReason(words string) func(*outcome) string {
	return func(o *outcome) string {
		for _, d := range o.Discarded {
			if _, told := o.finding("discarded-runs"); told && o.Invalid() && d.Outcome == record.Failed && strings.Contains(d.Reason, words) {
				return "failed: " + d.Reason
			}
		}
		return ""
	}
}
