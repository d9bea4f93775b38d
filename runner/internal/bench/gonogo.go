package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"gonogo/runner/internal/null"
	"gonogo/runner/record"
)

// spec asks for user 500 again and again; every reply is compared to the byte.
func spec(address, engine string, connections int, window time.Duration) record.LoadSpec {
	return record.LoadSpec{
		Address: address, Host: address, Kind: record.Closed, Engine: engine, Connections: connections,
		Requests: []record.Request{{Method: "GET", Path: "/users/500", WantStatus: 200, WantBody: null.Body}},
		Window:   window, Timeout: 5 * time.Second,
	}
}

// generate runs our generator and returns its result and the CPU time of its
// whole life.
func (b *bench) generate(s record.LoadSpec) (*record.LoadResult, time.Duration, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, 0, err
	}
	cmd := b.command(generatorCPU, b.gonogo, "load", "--spec", "-")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(text, '\n')), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("run gonogo load: %w", err)
	}
	var e record.LoadEvent
	if err := json.Unmarshal(out, &e); err != nil || e.Result == nil {
		return nil, 0, fmt.Errorf("read gonogo load: %s %v", e.Error, err)
	}
	return e.Result, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
