package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// watchWindow measures a latency run. Between the two edges nothing reads the
// target: its accounts are taken before the window opens and after it closed.
func (s *step) watchWindow(ctx context.Context, p *sut.Process) error {
	m, err := s.startMeter()
	if err != nil {
		return err
	}
	defer m.end()
	g, err := s.generator(ctx, p)
	if err != nil {
		return err
	}
	defer g.kill()
	machine := host.Take()
	counted, err := s.counts()
	if err != nil {
		return err
	}
	before, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	if err := g.proceed(); err != nil {
		return err
	}
	if _, err := g.await(ctx, p, "done"); err != nil {
		return err
	}
	cpu, err := readCPU(p) // first, so that the other readings are not in it
	if gone := p.Alive(); gone != nil {
		return gone
	}
	if err != nil {
		return err
	}
	if err := s.countWindow(counted); err != nil {
		return err
	}
	s.judgeMachine(machine, host.Take())
	after, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	after.cpu = cpu
	if s.run.Hiccups, err = m.stop(); err != nil {
		return err
	}
	if s.run.Load, err = g.result(ctx, p); err != nil {
		return err
	}
	s.account(before, after)
	return s.checkCPUs(p)
}

// judgeMachine keeps what else went on in the window, and holds it against the
// gates.
func (s *step) judgeMachine(before, after host.Snapshot) {
	cpus := slices.Concat(s.target.CPUs, s.target.GeneratorCPUs)
	slices.Sort(cpus)
	e := host.Between(before, after, slices.Compact(cpus))
	s.run.Environment = &e
	for _, c := range host.Judge(e, s.Plan.Rules.Machine) {
		c.Void = c.Void && s.gated()
		s.run.Checks = append(s.run.Checks, c)
	}
}

// gated reports whether what else went on may void the run. A smoke run has to show
// that everything works, on any machine; and a server that runs already on this one is
// itself among the others.
func (s *step) gated() bool {
	return !s.Plan.Quick && !(s.target.Remote() && s.target.Shared())
}

// accounts are the target's own counters at one edge of the window.
type accounts struct {
	health sut.Health
	cpu    *cpuAccount // nil where the system does not tell
	log    int64
}

// cpuAccount is the CPU time that a target had used at a time.
type cpuAccount struct {
	record.CPUTime
	at time.Time
}

func readCPU(p *sut.Process) (*cpuAccount, error) {
	cpu, err := p.CPU()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return &cpuAccount{cpu, time.Now()}, err
}

// readAccounts reads the CPU time last, so that its own reading falls outside
// the time that the next account is subtracted from.
func readAccounts(ctx context.Context, p *sut.Process) (accounts, error) {
	h, err := p.Health(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) { // of a foreign target nothing is known
		return accounts{}, err
	}
	log := p.LogSize()
	cpu, err := readCPU(p)
	return accounts{h, cpu, log}, err
}

// account subtracts the edges and checks that both sides counted alike.
func (s *step) account(before, after accounts) {
	r := s.run
	if before.cpu != nil && after.cpu != nil {
		r.ServerCPU = &record.CPUTime{User: after.cpu.User - before.cpu.User, System: after.cpu.System - before.cpu.System}
		over := after.cpu.at.Sub(before.cpu.at)
		r.ServerCPUOver = &over
	}
	r.LogInWindow = after.log - before.log
	if n := len(after.health.Requests); n == 0 || n != len(before.health.Requests) {
		return // not counted, or by other workers than before
	}
	var served uint64
	r.PerWorker = make([]uint64, len(after.health.Requests))
	for i, n := range after.health.Requests {
		r.PerWorker[i] = n - before.health.Requests[i]
		served += r.PerWorker[i]
	}
	r.Served = &served
	c := r.Load.Counts
	// A request that failed may or may not have reached the application.
	least, most := c.Answered(), c.Planned
	r.Checks = append(r.Checks, record.Check{Name: "requests the server counted", Void: true, OK: least <= served && served <= most,
		Observed: strconv.FormatUint(served, 10), Limit: fmt.Sprintf("%d answered to %d sent", least, most)})
}

// checkCPUs reads back where the live target may run: affinity is believed only
// when seen.
func (s *step) checkCPUs(p *sut.Process) error {
	if len(s.target.CPUs) == 0 {
		return nil
	}
	allowed, err := p.CPUsAllowed()
	if err != nil {
		return err
	}
	s.run.CPUsAllowed = allowed
	s.run.Checks = append(s.run.Checks, record.Check{Name: "CPUs of the server", Void: true, OK: slices.Equal(allowed, s.target.CPUs),
		Observed: fmt.Sprint(allowed), Limit: fmt.Sprint(s.target.CPUs)})
	return nil
}
