package main

import (
	"errors"
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// A server frozen for 200 ms at the end of every 2 s, under 5000 requests a
// second: of each period's requests the last tenth waits, the first of them
// longest. 1 % of all requests are due in the first 20 ms of a freeze and wait
// 180 ms or more, so the true p99 is 180 ms; the median never sees the freeze.
const (
	freeze  = 200 * time.Millisecond
	period  = 2 * time.Second
	rate    = 5000
	trueP99 = freeze - period/100

	p99Within = 0.01
	p50Within = 50 * time.Microsecond
)

type seen struct{ p50, p99, lag50, lag99 time.Duration }

// truth prints what the generator reports of such a server, and fails if it
// is not the truth, or if the times from the send show the truth as well: then
// this bench could not fail.
func (b *bench) truth() error {
	calm, _, err := b.watch()
	if err != nil {
		return err
	}
	planned, sent, err := b.watch("--stall-for="+freeze.String(), "--stall-every="+period.String())
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%d/s for %v, server frozen %v in every %v\n\n", rate, truthWindow, freeze, period)
	fmt.Fprintf(b.out, "%-24s%16s%16s\n", "", "p50", "p99")
	for _, row := range []struct {
		name string
		s    seen
	}{{"truth", seen{p50: calm.p50, p99: trueP99}}, {"from the intended time", planned}, {"from the send", sent}} {
		fmt.Fprintf(b.out, "%-24s%16v%16v\n", row.name, row.s.p50, row.s.p99)
	}
	fmt.Fprintf(b.out, "%-24s%16v%16v\n", "own delay, calm server", calm.lag50, calm.lag99)
	off := float64(planned.p99)/float64(trueP99) - 1
	switch {
	case off < -p99Within || off > p99Within:
		err = fmt.Errorf("p99 is %+.2f %% off the truth, want ±%.2g %%", 100*off, 100*p99Within)
	case (planned.p50 - calm.p50).Abs() > p50Within:
		err = fmt.Errorf("p50 is %v off that of a calm server, want %v", planned.p50-calm.p50, p50Within)
	case float64(sent.p99) > float64(trueP99)*(1-p99Within):
		err = errors.New("the times from the send show the truth too: this bench cannot fail")
	}
	return err
}

const truthWindow = 10 * period

// watch loads a server in an open loop and returns the times from the intended
// time and from the send.
func (b *bench) watch(flags ...string) (planned, sent seen, err error) {
	address, stop, err := b.server(flags...)
	if err != nil {
		return seen{}, seen{}, err
	}
	defer stop()
	s := spec(address, "", 50, truthWindow)
	s.Kind, s.RatePerSec, s.Warmup = record.Open, rate, time.Second
	res, _, err := b.generate(s)
	if err != nil {
		return seen{}, seen{}, err
	}
	if planned, err = quantiles(res.Response, res.Pacing); err != nil {
		return seen{}, seen{}, err
	}
	sent, err = quantiles(res.Service, res.Pacing)
	return planned, sent, err
}

func quantiles(latency, pacing *record.Histogram) (seen, error) {
	l, err := histogram.Decode(latency)
	if err != nil {
		return seen{}, err
	}
	p, err := histogram.Decode(pacing)
	if err != nil {
		return seen{}, err
	}
	return seen{l.Quantile(0.5), l.Quantile(0.99), p.Quantile(0.5), p.Quantile(0.99)}, nil
}
