package overload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// spec loads GET /users/{id}; every reply is compared to the byte.
func (s *subject) spec(kind record.Kind, connections int, window time.Duration) record.LoadSpec {
	get, _ := plan.Request("get")
	return record.LoadSpec{
		Address: s.p.Address(), Host: s.p.Address(), Kind: kind, Connections: connections, Requests: []record.Request{get},
		IDs: 10_000, Seed: 1, Window: window, Timeout: healthPatience, LaxPacing: true,
	}
}

// half is p99 of the response time in an open loop at half the capacity.
func (s *subject) half(ctx context.Context, window time.Duration) (time.Duration, error) {
	spec := s.spec(record.Open, 50, window)
	spec.Arrivals, spec.RatePerSec = "constant", s.out.CapacityPerSec/2
	res, err := s.generate(ctx, spec)
	if err != nil {
		return 0, err
	}
	h, err := histogram.Decode(res.Response)
	if err != nil {
		return 0, err
	}
	return h.Quantile(0.99), nil
}

// generate runs a generator as a process of its own, on the CPUs that a session
// would give it. A run that broke off gives what it measured until then.
func (s *subject) generate(ctx context.Context, spec record.LoadSpec) (*record.LoadResult, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.Generator[0], s.Generator[1:]...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(text)+"\n"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := sut.Spawn(nil, cmd, s.target.GeneratorCPUs); err != nil {
		return nil, fmt.Errorf("start generator: %w", err)
	}
	done := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer done()
	var e record.LoadEvent
	err = json.NewDecoder(out).Decode(&e)
	reaped := sut.Reap(nil, cmd)
	if e.Result == nil {
		return nil, fmt.Errorf("generate load: %w", errors.Join(errors.New(e.Error), err, reaped))
	}
	return e.Result, nil
}
