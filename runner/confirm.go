package main

import (
	"context"
	"fmt"
	"slices"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// execute runs the plan, and then what has to be confirmed of what it saw.
func execute(ctx context.Context, cfg session.Config, dir string, probes []record.Probe, progress *progress) error {
	run := session.Execute
	switch cfg.Plan.Kind {
	case record.Capacity:
		run = session.SearchCapacity
	case record.MemoryFloor:
		run = session.SearchFloors
	}
	if err := run(ctx, cfg, probes); err != nil {
		return err
	}
	steps, err := toConfirm(dir, cfg.Plan)
	if err != nil || len(steps) == 0 {
		return err
	}
	progress.say(fmt.Sprintf("a maximum that matters is not understood: %d more runs, in which the runtimes tell of their pauses", len(steps)))
	return session.Confirm(ctx, cfg, probes, steps)
}

// toConfirm asks findings, of what is on disk, which confirmation steps are to run.
func toConfirm(dir string, p *record.Plan) ([]record.Step, error) {
	if len(p.Confirm) == 0 {
		return nil, nil
	}
	so, err := archive.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("look for maxima to confirm: %w", err)
	}
	// Of what the session itself saw: an interruption among the confirmations must not
	// change which there are.
	so.Runs = slices.DeleteFunc(so.Runs, func(r record.Run) bool { return p.Confirms(r.Step) })
	return findings.Confirm(so), nil
}
