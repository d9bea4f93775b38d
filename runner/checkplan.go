package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"gonogo/runner/record"
	"gonogo/runner/session"
)

// checkPlan proves the services of a plan file against each other, as compare does
// before it measures anything.
func (c *checkCmd) checkPlan(ctx context.Context, s streams) error {
	if c.Requests != "" || len(c.URLs) > 0 || c.Fuzz > 0 || c.Ignore != nil {
		return fail(exitUsage, "the plan file names services, requests and what to ignore", "check: --plan excludes --requests, --ignore, --fuzz and URLs")
	}
	p, err := planFlags{Plan: c.Plan, Quick: true}.plan()
	if err != nil {
		return err
	}
	k, err := findKit()
	if err != nil {
		return err
	}
	k = k.of(p)
	if err := prepare(ctx, k, p, false, s); err != nil {
		return err
	}
	if _, err := checkCommands(ctx, k, p); err != nil {
		return err
	}
	logs, err := os.MkdirTemp("", "gonogo-check-")
	if err != nil {
		return fail(exitPreflight, "", "%w", err)
	}
	defer os.RemoveAll(logs)
	parity, err := session.Prove(ctx, session.Config{Plan: p, Root: k.root, Guard: []string{k.exe, "guard"}}, logs)
	if unlike := (*session.Unlike)(nil); errors.As(err, &unlike) {
		return fail(exitWrong, "services that answer differently cannot be compared: mend one, or name members that may differ in ignore", "%w", err)
	}
	if err != nil {
		return fail(exitPreflight, "start it by hand to see more", "%w", err)
	}
	return c.printParity(s, parity)
}

func (c *checkCmd) printParity(s streams, parity []record.Parity) error {
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(parity)
	}
	for _, p := range parity {
		if _, err := fmt.Fprintf(s.out, "%-15s %d requests, answered alike\n", p.Target, p.Cases); err != nil {
			return fmt.Errorf("print result: %w", err)
		}
	}
	return nil
}
