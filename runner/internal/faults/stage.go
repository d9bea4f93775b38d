package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/internal/stub"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// stage is a session in the making, with or without its fault.
type stage struct {
	planted bool
	dir     string // for what the fault needs on disk
	plan    *record.Plan

	generator string                                 // role of the generator's process; "" is "generator"
	wall      func() time.Time                       // wall clock; nil: the system's
	underLoad map[int]func(context.Context, victims) // by block: called once its first run is under load
	keep      func(*record.Run)                      // called before a run is archived
	cleanup   []func()
}

// outcome is what a session came to.
type outcome struct {
	failed  error // the session ended before its last step
	session *record.Session
	findings.Evaluation
}

// ids of the stub's store, as plan.IDs; every target starts with so many.
var getUser = []record.Request{{Method: "GET", Path: "/users/{id}", WantStatus: 200,
	WantBody: `{"id":"{id}","name":"User {id}","email":"user{id}@example.com"}`}}

// newStage is a session of one block in which one stub is loaded by a closed loop.
// The gates of the machine are open: a machine that tests is rarely quiet, and what
// is planted is none of theirs.
func newStage(dir string, planted bool, targets ...record.Target) *stage {
	all := record.Limits{Warn: math.MaxFloat64, Fail: math.MaxFloat64}
	p := &record.Plan{SchemaVersion: record.SchemaVersion, Kit: "faults", Blocks: 1, Targets: targets, Rules: plan.DefaultRules(), RequestTimeout: 5 * time.Second,
		Scenarios: []record.Scenario{{Name: "get-c4", Kind: record.Closed, Requests: getUser, Connections: 4, Window: 300 * time.Millisecond}}}
	p.Rules.Machine = record.MachineRules{ForeignCPU: all, ForeignInRun: all, Unaccounted: all, Steal: all, Running: all, CPUPressure: all, MemoryPressure: all, IOPressure: all,
		Swap: all, Thermal: all, QuotaStops: all, Hiccup: all, Canary: all}
	p.Rules.RepeatedGroupsMax = 0 // a fault would come again
	return &stage{planted: planted, dir: dir, plan: p, underLoad: map[int]func(context.Context, victims){}}
}

// target is a stub that takes 2 ms for a request, so that its rate is its own and not
// the machine's, unless flags say otherwise.
func target(name string, flags ...string) record.Target {
	return record.Target{Name: name, Argv: stub.Argv(append([]string{"-delay=2ms"}, flags...)...), Workers: 1}
}

// perform goes the way of `gonogo compare`, but for the proof of the contract, which
// a stub does not keep.
func (s *stage) perform(ctx context.Context) (o outcome) {
	defer func() {
		for _, f := range s.cleanup {
			f()
		}
	}()
	s.plan.Steps = plan.Order(s.plan)
	w, err := archive.Create(s.dir, s.plan, host.Describe(ctx, ""))
	if err != nil {
		o.failed = err
		return o
	}
	cfg, wait, err := s.config(ctx, w)
	if err != nil {
		o.failed = err
		return o
	}
	err = session.Execute(ctx, cfg, nil)
	wait()
	if o.failed = err; err != nil {
		return o
	}
	if o.failed = w.Finish(nil); o.failed != nil {
		return o
	}
	if o.session, o.failed = archive.Load(w.Dir()); o.failed == nil {
		o.Evaluation = findings.Evaluate(o.session)
	}
	return o
}

// config joins the session with what is planted; wait for that after the session.
func (s *stage) config(ctx context.Context, w *archive.Writer) (session.Config, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return session.Config{}, nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return session.Config{}, nil, err
	}
	generator := "generator"
	if s.generator != "" {
		generator = s.generator
	}
	var planting sync.WaitGroup
	logPath := func(st record.Step, attempt int) string { return filepath.Join(w.Dir(), w.LogName(st, attempt)) }
	return session.Config{
		Plan: s.plan, PlanSHA256: w.PlanSHA256(), Root: root, Guard: []string{self, "guard"}, Generator: []string{self, generator}, Wall: s.wall,
		LogPath: logPath, LogName: w.LogName,
		Append: func(r *record.Run) error {
			if s.keep != nil {
				s.keep(r)
			}
			return w.Append(r)
		},
		Observe: func(e session.Event) {
			plant := s.underLoad[e.Step.Block]
			if plant == nil || e.Run != nil || e.Step.Position != 0 {
				return
			}
			planting.Go(func() {
				if v, ok := underLoad(ctx, logPath(e.Step, e.Attempt)); ok {
					plant(ctx, v)
				}
			})
		},
	}, planting.Wait, nil
}

// sound says why a session proves nothing by its silence; nil if it does.
func (o *outcome) sound() error {
	if o.failed != nil {
		return o.failed
	}
	for _, r := range o.session.Runs {
		if r.Outcome != record.Done {
			return fmt.Errorf("%s: %s: %s", r.Step.Key(), r.Outcome, r.Reason)
		}
	}
	return nil
}

// finding is the first of that code, as a word of what was raised.
func (o *outcome) finding(code string) (record.Finding, bool) {
	for _, f := range o.Findings {
		if f.Code == code {
			return f, true
		}
	}
	return record.Finding{}, false
}
