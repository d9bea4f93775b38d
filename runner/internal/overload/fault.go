package overload

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gonogo/runner/record"
)

// size is how much of everything.
type size struct {
	probe       time.Duration // of the capacity, and of p99 before the faults
	recovery    time.Duration // of one probe after a fault
	twice       time.Duration // of twice the capacity
	hold        time.Duration // of most faults; longer than the servers' limit of 10 s
	unread      time.Duration // of clients that do not read
	connections int           // that are a load
	slow        int           // connections of a fault that is no load
	oversized   int           // bodies
}

var (
	full  = size{probe: 3 * time.Second, recovery: time.Second, twice: time.Minute, hold: 25 * time.Second, unread: 20 * time.Second, connections: 3000, slow: 1000, oversized: 100_000}
	short = size{probe: 300 * time.Millisecond, recovery: 100 * time.Millisecond, twice: 300 * time.Millisecond, hold: 300 * time.Millisecond, unread: 300 * time.Millisecond, connections: 300, slow: 100, oversized: 500}
)

// fault is one way to ask too much of a server.
type fault struct {
	name string
	do   func(context.Context, *subject, *OverloadTrial) error
	// held is how long a connection may live that never sends or takes a whole request;
	// 0: it may live. The servers' limit is 10 s to send, looked after each 0.5 s by
	// Node; the rest is for a loaded machine.
	held time.Duration
	// answers is how many requests got the answer of the fault, and how many must; nil:
	// none is expected.
	answers func(*subject, *OverloadTrial) (got, want uint64)
	excess  bool // more than it can answer is offered, else the fault is none
}

const sendLimit = 13 * time.Second

// faults are done in this order. A client that sends and never reads keeps its
// connection: a time limit on writing would end it, and set a timer more for every
// request of every run, which showed in the rate of both servers.
var faults = []fault{
	{name: "twice the capacity", do: twice, excess: true, answers: func(s *subject, t *OverloadTrial) (got, want uint64) {
		// Far from all that it can do, for the rest of its work may be for requests that
		// have timed out; but it must not come to a stop.
		return uint64(t.AnsweredPerSec), s.least(s.out.CapacityPerSec / 4)
	}},
	{name: "many connections", do: many, answers: func(s *subject, t *OverloadTrial) (got, want uint64) {
		return uint64(t.AnsweredPerSec), s.least(0.8 * t.OfferedPerSec)
	}},
	{name: "slow headers", held: sendLimit, do: held(client{prefix: "GET /users/500 HTTP/1.1\r\nHost: h\r\nX-Slow: ", each: "x"})},
	{name: "slow bodies", held: sendLimit, do: held(client{prefix: "POST /users HTTP/1.1\r\nHost: h\r\nContent-Length: 16000\r\n\r\n", each: " "})},
	{name: "silent connections", held: sendLimit, do: held(client{})},
	{name: "half-closed, never read", held: sendLimit, do: held(client{prefix: "GET /users/500 HTTP/1.1\r\nHost: h\r\n\r\n", finish: true})},
	{name: "replies never read", do: held(client{each: strings.Repeat("GET /users/500 HTTP/1.1\r\nHost: h\r\n\r\n", 500), deaf: true})},
	{name: "oversized bodies", do: oversized, answers: func(s *subject, t *OverloadTrial) (got, want uint64) {
		return t.Answered, uint64(s.size.oversized)
	}},
}

// least is a rate that must be reached; in the short form, whose window one pause
// of the machine can fill, nothing.
func (s *subject) least(rate float64) uint64 {
	if s.Short {
		return 0
	}
	return uint64(rate)
}

// twice offers twice the capacity over 200 connections, whatever the server does.
func twice(ctx context.Context, s *subject, t *OverloadTrial) error {
	return s.loaded(ctx, t, 2, 200, s.size.twice)
}

// many offers half the capacity over very many connections.
func many(ctx context.Context, s *subject, t *OverloadTrial) error {
	return s.loaded(ctx, t, 0.5, s.size.connections, s.size.hold)
}

func (s *subject) loaded(ctx context.Context, t *OverloadTrial, share float64, connections int, window time.Duration) error {
	spec := s.spec(record.Open, connections, window)
	spec.Arrivals, spec.RatePerSec = "constant", share*s.out.CapacityPerSec
	res, err := s.generate(ctx, spec)
	if err != nil {
		return fmt.Errorf("offer %.1f of the capacity: %w", share, err)
	}
	t.Connections, t.OfferedPerSec = res.Connections, spec.RatePerSec
	if res.Window > 0 {
		t.AnsweredPerSec = float64(res.Counts.InWindow) / res.Window.Seconds()
	}
	return nil
}
