// Package session runs a plan: for each step a fresh process, loaded, measured,
// stopped and handed on before the next one starts. It is the only package that
// joins sut, contract, load, memory and host; it knows no statistics.
package session

import (
	"context"
	"fmt"
	"time"

	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Config is what a session needs besides its plan.
type Config struct {
	Plan      *record.Plan
	Root      string   // folder that the targets' commands are relative to
	Guard     []string // command of the process that outlives a killed runner
	Generator []string // command of the load generator, told what to do on stdin

	LogPath func(record.Step) string // where a step's target logs, absolute
	LogName func(record.Step) string // the same, as archived
	Append  func(*record.Run) error  // called after each run, before the next starts
	Observe func(Event)              // told of progress, never inside a timed window
}

// Event is progress: a step that begins (Run is nil) or has ended.
type Event struct {
	Step record.Step
	Run  *record.Run
	// Left is the expected time for all steps that have not ended.
	Left time.Duration
}

// Execute runs every step of the plan in its order. A step that fails is
// recorded with its reason and the next one goes on; the error is for what ends
// the session: a signal (ctx), or a record that could not be kept.
func Execute(ctx context.Context, c Config) error {
	guard, err := sut.StartGuard(c.Guard[0], c.Guard[1:]...)
	if err != nil {
		return err
	}
	defer guard.Close()
	left := time.Duration(0)
	for _, st := range c.Plan.Steps {
		sc, _ := c.Plan.Scenario(st.Scenario)
		left += plan.StepTime(sc)
	}
	for _, st := range c.Plan.Steps {
		sc, ok := c.Plan.Scenario(st.Scenario)
		target, ok2 := c.Plan.Target(st.Target)
		if !ok || !ok2 {
			return fmt.Errorf("run step %s: the plan does not define it", st.Key())
		}
		c.Observe(Event{Step: st, Left: left})
		s := step{Config: c, guard: guard, target: target, scenario: sc,
			run: &record.Run{SchemaVersion: record.SchemaVersion, Step: st, Started: time.Now().UTC()}}
		s.execute(ctx)
		left -= plan.StepTime(sc)
		if err := c.Append(s.run); err != nil {
			return fmt.Errorf("keep run %s: %w", st.Key(), err)
		}
		c.Observe(Event{Step: st, Run: s.run, Left: left})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
