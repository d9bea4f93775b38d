package main

import (
	"context"
	"errors"
	"os"

	"gonogo/runner/load"
)

// loadCmd is the generator alone. A session starts it as a process of its own
// and speaks with it over its standard input and output.
type loadCmd struct {
	Spec string `placeholder:"FILE" required:"" help:"Carry out a load specification (JSON); - reads it from standard input."`
}

func (c *loadCmd) Run(ctx context.Context, s streams) error {
	in := s.in
	if c.Spec != "-" {
		f, err := os.Open(c.Spec)
		if err != nil {
			return fail(exitUsage, "", "read load specification: %w", err)
		}
		defer f.Close()
		in = f
	}
	err := load.Serve(ctx, in, s.out)
	if errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, "", "%w", err)
	}
	return err
}
