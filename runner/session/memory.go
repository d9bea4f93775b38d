package session

import (
	"context"
	"fmt"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/memory"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// samplePeriod is how often a memory run reads the target under load. A reading
// walks all its mapped pages under a lock of the kernel, so it is never more
// often than this, and never in a run whose latency is used (method R4).
const samplePeriod = time.Second

// watchMemory measures a memory run: idle, under load, at the end of load, after
// a rest. Its latencies are thrown away, for the readings disturb them.
func (s *step) watchMemory(ctx context.Context, p *sut.Process) error {
	pids, m := p.PIDs(), &record.MemoryWatch{Method: memory.Method, RestFor: s.scenario.Rest}
	if err := pause(ctx, p, s.scenario.Idle); err != nil {
		return err
	}
	var err error
	if m.Idle, err = read(pids); err != nil {
		return err
	}
	g, err := s.generator(ctx, p)
	if err != nil {
		return err
	}
	defer g.kill()
	machine := host.Take()
	before, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	if err := g.proceed(); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	series := memory.Watch(watching, pids, samplePeriod)
	if _, err := g.await(ctx, p, "done"); err != nil {
		return err
	}
	stop()
	m.Load, err = series.Wait()
	s.run.SampledReads = len(m.Load)
	if gone := p.Alive(); gone != nil {
		return gone
	}
	if err != nil {
		return err
	}
	s.judgeMachine(machine, host.Take()) // memory under pressure is not what the server asked for
	if m.LoadEnd, err = read(pids); err != nil {
		return err
	}
	after, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	if err := s.takeCounts(ctx, p, g); err != nil {
		return err
	}
	if err := pause(ctx, p, s.scenario.Rest); err != nil {
		return err
	}
	if m.Rest, err = read(pids); err != nil {
		return err
	}
	if m.PeakBytes, err = memory.Peak(pids); err != nil {
		return err
	}
	s.run.Memory = m
	s.account(before, after)
	s.run.ServerCPU, s.run.ServerCPUOver = nil, nil // the readings are in it
	return s.checkCPUs(p)
}

// takeCounts lets the generator end and keeps of its result what is no latency.
func (s *step) takeCounts(ctx context.Context, p *sut.Process, g *generator) error {
	l, err := g.result(ctx, p)
	if err != nil {
		return err
	}
	silence(l)
	s.run.Load = l
	return nil
}

// silence takes out of a result all that is latency.
func silence(l *record.LoadResult) {
	l.Response, l.Service, l.SendLag, l.Miss, l.Timeline, l.Slowest = nil, nil, nil, nil, nil, nil
}

func read(pids []int) (*record.MemoryReading, error) {
	r, err := memory.Read(pids)
	return &r, err
}

// pause waits, but not for a target that has ended.
func pause(ctx context.Context, p *sut.Process, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.Exited():
		return fmt.Errorf("target ended while at rest: %s", p.ExitStatus())
	case <-time.After(d):
		return nil
	}
}
