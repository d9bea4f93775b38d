package contract

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// FuzzOptions say which random requests to send: numbers First to First+N-1 of
// the seed. Request i of a seed is always the same.
type FuzzOptions struct {
	Seed  uint64
	First uint64
	N     uint64
}

// FuzzResult is the outcome of a fuzz run.
type FuzzResult struct {
	Seed        uint64         `json:"seed"`
	Cases       uint64         `json:"cases"`    // sent to every server
	Demanded    map[int]uint64 `json:"demanded"` // cases by the status that the contract demands; 0 is a refusal
	Elapsed     time.Duration  `json:"elapsed_ns"`
	Differences []Difference   `json:"differences"`
}

// String lists the differences; it is empty when there are none.
func (r FuzzResult) String() string { return Result{Differences: r.Differences}.String() }

const (
	fuzzWorkers = 16 // each with a connection to every server
	// maxDifferences ends a run that only repeats itself.
	maxDifferences = 10
)

// Fuzz sends random requests to all servers at once, over connections that are
// kept, holds every answer against the model of the contract and the servers
// against each other. It ends early after maxDifferences. The error is for a run
// that could not be made.
func Fuzz(ctx context.Context, servers []Server, o FuzzOptions) (FuzzResult, error) {
	begun := time.Now()
	f := &fuzz{servers: servers, options: o, demanded: map[int]uint64{}}
	before := identities(ctx, servers)
	var wg sync.WaitGroup
	for range fuzzWorkers {
		wg.Go(func() { f.work(ctx) })
	}
	wg.Wait()
	slices.SortFunc(f.differences, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	result := FuzzResult{Seed: o.Seed, Cases: f.sent, Demanded: f.demanded, Elapsed: time.Since(begun)}
	for _, d := range f.differences {
		result.Differences = append(result.Differences, d.Difference)
	}
	result.Differences = append(result.Differences, others(ctx, servers, before)...)
	return result, ctx.Err()
}

// fuzz is one run, shared by its workers.
type fuzz struct {
	servers []Server
	options FuzzOptions
	next    atomic.Uint64

	mu          sync.Mutex
	sent        uint64
	demanded    map[int]uint64
	differences []numbered
}

type numbered struct {
	number uint64
	Difference
}

// work sends cases until there are no more.
func (f *fuzz) work(ctx context.Context) {
	p := &panel{servers: f.servers, conns: make([]*conn, len(f.servers))}
	defer p.hangUp()
	sent, demanded := uint64(0), map[int]uint64{}
	for ctx.Err() == nil && !f.full() {
		i := f.next.Add(1) - 1
		if i >= f.options.N {
			break
		}
		number := f.options.First + i
		s := sampleAt(f.options.Seed, number)
		sent++
		demanded[s.want.status]++
		if d, differs := compare(f.servers, p.ask(ctx, s), s.allow); differs && ctx.Err() == nil {
			f.report(ctx, number, s, d)
			p.hangUp()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent += sent
	for status, n := range demanded {
		f.demanded[status] += n
	}
}

func (f *fuzz) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.differences) >= maxDifferences
}

// report files a difference, after it has seen whether the case does it again
// on fresh connections.
func (f *fuzz) report(ctx context.Context, number uint64, s sample, d Difference) {
	alone := &panel{servers: f.servers, conns: make([]*conn, len(f.servers))}
	defer alone.hangUp()
	d.Case = fmt.Sprintf("seed %d, case %d", f.options.Seed, number)
	if _, again := compare(f.servers, alone.ask(ctx, s), s.allow); !again {
		d.Case += " (not again on fresh connections: an earlier request on the connection may be the cause)"
	}
	d.Sent, d.Want = capped(strings.Join(s.pieces, "")), s.want.String()
	if s.allow == parser {
		d.Want += ", or a refusal"
	}
	d.Repeat = fmt.Sprintf("gonogo check --fuzz 1 --seed %d --case %d", f.options.Seed, number)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.differences = append(f.differences, numbered{number, d})
}

// panel is one kept connection to every server.
type panel struct {
	servers []Server
	conns   []*conn // nil where there is none at the moment
}

func (p *panel) hangUp() {
	for i := range p.conns {
		p.drop(i)
	}
}

func (p *panel) drop(i int) {
	if p.conns[i] != nil {
		p.conns[i].net.Close()
		p.conns[i] = nil
	}
}

// ask sends a sample to all servers, which work on it at the same time, and
// then reads their answers one after the other.
func (p *panel) ask(ctx context.Context, s sample) []outcome {
	outcomes := make([]outcome, len(p.servers))
	deadline := time.Now().Add(patience)
	for i, server := range p.servers {
		if p.conns[i] == nil {
			c, err := dial(ctx, server.Address)
			if err != nil {
				outcomes[i].wrong = fmt.Errorf("connect: %w", err)
				continue
			}
			c.chunked = server.Chunked
			p.conns[i] = c
		}
		p.conns[i].net.SetDeadline(deadline)
	}
	for _, piece := range s.pieces {
		for _, c := range p.conns {
			if c != nil {
				c.net.Write([]byte(piece)) // a server that refuses early does not read all; its answer tells
			}
		}
	}
	for i, c := range p.conns {
		if c == nil {
			continue
		}
		keep := false
		outcomes[i], keep = s.read(c)
		if !keep {
			p.drop(i)
		}
	}
	return outcomes
}

// read reads a server's answer and reports whether its connection goes on.
func (s sample) read(c *conn) (outcome, bool) {
	got, err := c.read(s.bodiless)
	if err != nil {
		got.raw = bytes.Clone(got.raw)
		return outcome{got, err}, false
	}
	keep := !got.closes()
	wrong := s.judge(&got)
	if wrong == nil && s.follow && got.status == 201 && keep {
		got.raw, got.body = bytes.Clone(got.raw), bytes.Clone(got.body) // the next reply takes their place
		wrong = isStored(c, &got)
	}
	// A refusal may have a body even where HEAD was asked: the parser that gives
	// it did not get as far as the method.
	if extra := c.buf[c.off:]; len(extra) > 0 && wrong == nil && s.allow != parser {
		wrong = fmt.Errorf("%d bytes after the end of the answer: %s", len(extra), capped(string(extra)))
	}
	return outcome{got, wrong}, keep && wrong == nil
}

func (s sample) judge(got *reply) error {
	if got.continues > 0 {
		return errors.New("100 Continue, which was not asked for")
	}
	if s.want.status == 0 {
		return refusal(got)
	}
	wrong := s.want.check(got, s.allow, s.bodiless)
	if wrong != nil && s.allow == parser && refusal(got) == nil {
		return nil
	}
	return wrong
}
