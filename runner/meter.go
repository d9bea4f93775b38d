package main

import (
	"bufio"
	"context"
	"encoding/json"

	"gonogo/runner/host"
	"gonogo/runner/record"
)

// meterCmd is hidden: a session starts it as a process of its own beside a run. It
// prints a record.MeterEvent when it watches, and another with what it saw after a
// line or the end of its input, so it also ends with the session that started it.
type meterCmd struct {
	CPUs []int `name:"cpus" required:"" help:"CPUs to watch."`
}

// Run meters until it is told to stop. A signal ends it too, and it still tells.
func (c *meterCmd) Run(ctx context.Context, s streams) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = bufio.NewReader(s.in).ReadString('\n')
		stop()
	}()
	out := json.NewEncoder(s.out)
	var printed error
	hiccups, err := host.Meter(ctx, c.CPUs, func() { printed = out.Encode(record.MeterEvent{Event: "ready"}) })
	if err != nil {
		return err
	}
	if printed != nil {
		return printed
	}
	return out.Encode(record.MeterEvent{Event: "result", Result: hiccups})
}
