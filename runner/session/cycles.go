package session

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gonogo/runner/memory"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// sampler reads a target's memory until ctx is done.
type sampler func(ctx context.Context, pids []int, every time.Duration) *memory.Series

// cycles is a memory run by count, in the making.
type cycles struct {
	*step
	p     *sut.Process
	start time.Time // of the first load
	m     *record.MemoryWatch
}

// watchCycles measures a memory run by count: idle, then load and rest, over and
// over in one process. The loads of all targets are equal whatever their speed.
func (s *step) watchCycles(ctx context.Context, p *sut.Process) error {
	pids, w := p.PIDs(), s.scenario.Work
	c := &cycles{step: s, p: p, m: &record.MemoryWatch{Method: memory.Method}}
	if err := pause(ctx, p, s.scenario.Idle); err != nil {
		return err
	}
	var err error
	if c.m.Idle, err = read(pids); err != nil {
		return err
	}
	if w.Alternate {
		if err := c.warm(ctx); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	before, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	c.start = time.Now()
	for n := range w.Cycles {
		if err := c.cycle(ctx, w, n); err != nil {
			return fmt.Errorf("cycle %d of %d: %w", n+1, w.Cycles, err)
		}
	}
	after, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	if c.m.PeakBytes, err = memory.Peak(pids); err != nil {
		return err
	}
	s.run.Memory = c.m
	s.account(before, after)
	s.run.ServerCPU, s.run.ServerCPUOver = nil, nil // the readings are in it
	if w.Stores {
		s.checkStored(sum(before.health.Users), sum(after.health.Users), w)
	}
	return s.checkCPUs(p)
}

// warm loads once before the pairs and keeps nothing of it: else the first member of
// the first pair would be the one that was compiled under way.
func (c *cycles) warm(ctx context.Context) error {
	g, err := c.generator(ctx, c.p)
	if err != nil {
		return err
	}
	defer g.kill()
	if err := g.proceed(); err != nil {
		return err
	}
	if _, err := g.await(ctx, c.p, "done"); err != nil {
		return err
	}
	_, err = g.result(ctx, c.p)
	return err
}

// cycle loads and rests once.
func (c *cycles) cycle(ctx context.Context, w *record.MemoryWork, n int) error {
	var one record.MemoryCycle
	ended, err := c.load(ctx, w, n, &one)
	if err != nil {
		return err
	}
	c.m.LoadEnd = one.LoadEnd
	for _, rest := range w.Rests {
		if err := pause(ctx, c.p, time.Until(ended.Add(rest))); err != nil {
			return err
		}
		at := time.Since(ended)
		r, err := read(c.p.PIDs())
		if err != nil {
			return err
		}
		one.Rests = append(one.Rests, record.MemoryAt{At: at, MemoryReading: *r})
		c.m.Rest, c.m.RestFor = r, rest
	}
	c.m.Cycles = append(c.m.Cycles, one)
	return nil
}

// load sends a cycle's requests and returns when the last was answered. Between the
// edges nothing reads the target but the sampler, if it is this cycle's turn.
func (c *cycles) load(ctx context.Context, w *record.MemoryWork, n int, one *record.MemoryCycle) (ended time.Time, err error) {
	g, err := c.generator(ctx, c.p)
	if err != nil {
		return ended, err
	}
	defer g.kill()
	before, err := readCPU(c.p)
	if err != nil {
		return ended, err
	}
	if err := g.proceed(); err != nil {
		return ended, err
	}
	offset := time.Since(c.start)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var series *memory.Series
	if w.Sampled(n) {
		series = c.watch()(watching, c.p.PIDs(), samplePeriod)
	}
	if _, err := g.await(ctx, c.p, "done"); err != nil {
		return ended, err
	}
	ended = time.Now()
	after, err := readCPU(c.p)
	stop()
	if gone := c.p.Alive(); gone != nil {
		return ended, gone
	}
	if err != nil {
		return ended, err
	}
	if w.Alternate && before != nil && after != nil {
		one.ServerCPU = &record.CPUTime{User: after.User - before.User, System: after.System - before.System}
	}
	if one.LoadEnd, err = read(c.p.PIDs()); err != nil {
		return ended, err
	}
	return ended, c.keep(ctx, g, series, offset, one)
}

// watch is how memory is read under load.
func (c *cycles) watch() sampler {
	if c.Sampler != nil {
		return c.Sampler
	}
	return memory.Watch
}

// keep takes what a load left: readings, counts, and the size of the store.
func (c *cycles) keep(ctx context.Context, g *generator, series *memory.Series, offset time.Duration, one *record.MemoryCycle) error {
	if series != nil {
		readings, err := series.Wait()
		if err != nil {
			return err
		}
		one.Reads = len(readings)
		c.run.SampledReads += len(readings)
		for _, r := range readings {
			r.At += offset
			c.m.Load = append(c.m.Load, r)
		}
	}
	l, err := g.result(ctx, c.p)
	if err != nil {
		return err
	}
	silence(l)
	one.Counts, one.Took = l.Counts, l.Window
	c.run.Load = together(c.run.Load, l)
	h, err := c.p.Health(ctx)
	if err != nil {
		return err
	}
	users := sum(h.Users)
	one.Users = &users
	return nil
}

// together adds the load of another cycle to those before it.
func together(to, l *record.LoadResult) *record.LoadResult {
	if to == nil {
		return l
	}
	to.Window += l.Window
	to.Counts.Planned += l.Counts.Planned
	to.Counts.OK += l.Counts.OK
	to.Counts.Miss += l.Counts.Miss
	to.Counts.Failed += l.Counts.Failed
	to.Counts.TimedOut += l.Counts.TimedOut
	to.Counts.Unfinished += l.Counts.Unfinished
	to.Counts.InWindow += l.Counts.InWindow
	for kind, e := range l.Errors {
		if to.Errors == nil {
			to.Errors = map[string]record.ErrorKind{}
		}
		have, ok := to.Errors[kind]
		if !ok {
			have.Example = e.Example
		}
		have.Count += e.Count
		to.Errors[kind] = have
	}
	to.CPU.User += l.CPU.User
	to.CPU.System += l.CPU.System
	to.GCPause += l.GCPause
	to.GCCount += l.GCCount
	to.NewDials += l.NewDials
	to.BytesIn += l.BytesIn
	to.BytesOut += l.BytesOut
	to.Checks = append(to.Checks, l.Checks...)
	to.InFlightMean, to.Pauses, to.PauseMax = nil, nil, nil // of one window, and there are several
	return to
}

// checkStored: what a POST stores is the work that is compared. A target that holds
// another number of users than it was sent did other work (method R5).
func (s *step) checkStored(before, after uint64, w *record.MemoryWork) {
	want := uint64(w.Cycles) * w.Requests
	s.run.Checks = append(s.run.Checks, record.Check{Name: "users stored", Void: true, OK: after == before+want,
		Observed: strconv.FormatUint(after, 10), Limit: fmt.Sprintf("%d at the start and %d sent", before, want)})
}

func sum(workers []uint64) (n uint64) {
	for _, w := range workers {
		n += w
	}
	return n
}
