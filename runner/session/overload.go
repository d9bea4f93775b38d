package session

import (
	"context"
	"io"
	"net/http"
	"time"

	"gonogo/runner/capacity"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// watchOverload measures a target under more load than it can take: the load as in
// any window, the answers of /healthz meanwhile, and how soon it is itself again.
func (s *step) watchOverload(ctx context.Context, p *sut.Process) error {
	w := s.scenario.Overload
	found := s.scenario.RatePerSec / w.RateOfCapacity
	s.run.Overload = &record.OverloadWatch{CapacityPerSec: found}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	health := make(chan healthSeen, 1)
	go func() {
		// The question is not asked before the window: the warm-up is as overloaded.
		health <- askHealth(asking, p.Address(), s.scenario.Warmup, s.scenario.Window, w.HealthEvery, s.Plan.RequestTimeout)
	}()
	if err := s.watchWindow(ctx, p); err != nil {
		return err
	}
	stop()
	seen := <-health
	s.run.Overload.HealthAsked, s.run.Overload.Health = seen.asked, seen.answered
	return s.recover(ctx, p, found)
}

type healthSeen struct {
	asked    int
	answered []record.Nanos
}

// askHealth asks /healthz on one connection of its own, at most so often, while the
// load is due. Each question waits for its answer, so a slow answer leaves fewer.
func askHealth(ctx context.Context, address string, after, during, every, timeout time.Duration) (seen healthSeen) {
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
	defer client.CloseIdleConnections()
	end := time.Now().Add(after + during)
	next := time.NewTimer(after)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return seen
		case <-next.C:
		}
		begin := time.Now()
		if begin.After(end) {
			return seen
		}
		ok := asks(client, "http://"+address+"/healthz")
		if ctx.Err() != nil && !ok {
			return seen
		}
		seen.asked++
		if took := time.Since(begin); ok {
			seen.answered = append(seen.answered, took)
		}
		next.Reset(max(0, every-time.Since(begin)))
	}
}

func asks(client *http.Client, url string) bool {
	r, err := client.Get(url)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil && r.StatusCode == http.StatusOK
}

// recover loads the target at a rate that it met before, a short step after the other,
// until one passes. Time counts from the end of the window: what still waits then is
// a part of what has to be recovered from.
func (s *step) recover(ctx context.Context, p *sut.Process, found float64) error {
	w, rules := s.scenario.Overload, *s.Plan.Rules.Capacity
	ended := s.run.Load.Start.Add(s.run.Load.Window)
	rules.RequestsMin = 0 // a step is short
	spec := s.spec(p.Address())
	spec.RatePerSec, spec.Warmup, spec.Window, spec.Handshake, spec.Intervals = found*w.RecoveryRate, 0, w.RecoveryStep, false, false
	for time.Since(ended) < w.RecoveryMax {
		at := time.Since(ended)
		g, err := startGenerator(s.guard, s.Generator, spec, s.target.GeneratorCPUs)
		if err != nil {
			return err
		}
		e, err := g.await(ctx, p, "result")
		g.kill()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		step := record.RecoveryStep{At: at, RatePerSec: spec.RatePerSec}
		if gone := p.Alive(); gone != nil {
			return gone
		}
		if err != nil { // the load did not come to its end: not recovered yet
			step.Limits = []string{string(capacity.Broke)}
		} else {
			t := capacity.Judge(rules, capacity.OfLoad(rules, spec.RatePerSec, e.Result))
			step.Passed = t.Passed
			for _, l := range t.Limits {
				step.Limits = append(step.Limits, string(l))
			}
			if t.Latency > 0 {
				step.Latency = &t.Latency
			}
		}
		s.run.Overload.Recovery = append(s.run.Overload.Recovery, step)
		if step.Passed {
			return nil
		}
	}
	return nil
}
