package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gonogo/runner/record"
)

// errAbandoned ends a run whose watcher has gone.
var errAbandoned = errors.New("standard input ended: whoever watched this run has gone")

// Serve reads one record.LoadSpec and a line's end from in, carries it out and prints
// record.LoadEvent lines on out. With Handshake it waits for a line on in at
// both edges of the window, and ends when in does.
//
// The returned error has been told as a "failed" event, unless out is broken.
// ceiling is that of Hooks.
func Serve(ctx context.Context, in io.Reader, out io.Writer, ceiling func(engine string) *float64) error {
	return ServeOwning(ctx, in, out, ceiling, func(string) func() { return func() {} })
}

// ServeOwning is Serve in a process that is for the generator alone: own is told
// the engine before it is made, and what it returns is called after the run.
func ServeOwning(ctx context.Context, in io.Reader, out io.Writer, ceiling func(engine string) *float64, own func(engine string) (back func())) error {
	events := json.NewEncoder(out)
	lines := json.NewDecoder(in)
	var spec record.LoadSpec
	if err := lines.Decode(&spec); err != nil {
		err = fmt.Errorf("read load specification: %w", err)
		return errors.Join(err, events.Encode(record.LoadEvent{Event: "failed", Error: err.Error()}))
	}
	defer own(spec.Engine)()
	hooks := Hooks{Ceiling: ceiling}
	if spec.Handshake {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		hooks.Edge = handshake(ctx, cancel, events, bufio.NewReader(io.MultiReader(lines.Buffered(), in)))
	}
	result, err := RunWatched(ctx, spec, hooks)
	last := record.LoadEvent{Event: "result", Result: result}
	if err != nil {
		last.Event, last.Error = "failed", err.Error()
	}
	return errors.Join(err, events.Encode(last))
}

// handshake returns the edge function that speaks with the watcher.
func handshake(ctx context.Context, gone context.CancelCauseFunc, events *json.Encoder, in *bufio.Reader) func(string) error {
	lines := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			if _, err := in.ReadString('\n'); err != nil {
				gone(errAbandoned)
				return
			}
			if first { // the rest of the specification's own line
				continue
			}
			select {
			case lines <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(event string) error {
		if err := events.Encode(record.LoadEvent{Event: event}); err != nil {
			return fmt.Errorf("print %s: %w", event, err)
		}
		select {
		case <-lines:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
