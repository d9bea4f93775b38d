package main

import (
	"context"
	"fmt"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// execute runs the plan, and then what has to be confirmed of what it saw.
func execute(ctx context.Context, cfg session.Config, dir string, probes []record.Probe, progress *progress) error {
	if err := session.Execute(ctx, cfg, probes); err != nil {
		return err
	}
	if len(cfg.Plan.Confirm) == 0 {
		return nil
	}
	so, err := archive.Load(dir)
	if err != nil {
		return fmt.Errorf("look for maxima to confirm: %w", err)
	}
	steps := findings.Confirm(so)
	if len(steps) == 0 {
		return nil
	}
	progress.say(fmt.Sprintf("a maximum stands alone where it matters: %d more runs will tell whether it recurs", len(steps)))
	return session.Confirm(ctx, cfg, probes, steps)
}
