package session

import (
	"context"
	"os"

	"gonogo/runner/host"
	"gonogo/runner/profile"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// profiled measures, and where the scenario asks for it with a profiler in the server.
// What a server records of itself is summed when it has ended: Node writes it then.
func (s *step) profiled(ctx context.Context) error {
	if s.scenario.Profile == "" {
		return s.measure(ctx)
	}
	dir, name := s.ProfileDir(s.run.Step, s.run.Attempt)
	var err error
	if s.target, s.profiler, err = profile.Prepare(s.target, s.scenario.Profile, dir); err != nil {
		return err
	}
	if err := s.measure(ctx); err != nil {
		return err
	}
	s.run.Profile, err = s.profiler.Finish(name)
	return err
}

// tellsPauses: a runtime is asked to tell of its pauses where the run is otherwise the
// least disturbed, or disturbed most.
func (s *step) tellsPauses() bool {
	return s.profiler != nil && (s.scenario.Profile == record.ProfileTrace || s.scenario.Profile == record.ProfileWaits && profile.Runtime(s.target) == "node")
}

// watchProfile is a window in which the server records where its time or its memory
// goes. Both edges are asked for outside it, and outside its CPU time.
func (s *step) watchProfile(ctx context.Context, p *sut.Process) error {
	log, err := os.ReadFile(s.LogPath(s.run.Step, s.run.Attempt))
	if err != nil {
		return err
	}
	if err := s.profiler.Find(log, len(p.PIDs())); err != nil {
		return err
	}
	g, err := s.generator(ctx, p)
	if err != nil {
		return err
	}
	defer g.kill()
	if err := s.profiler.Begin(ctx); err != nil {
		return err
	}
	machine := host.Take()
	before, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	s.profiler.Window(ctx, s.scenario.Window)
	if err := g.proceed(); err != nil {
		return err
	}
	if _, err := g.await(ctx, p, "done"); err != nil {
		return err
	}
	cpu, err := readCPU(p)
	if gone := p.Alive(); gone != nil {
		return gone
	}
	if err != nil {
		return err
	}
	if err := s.profiler.End(ctx); err != nil {
		return err
	}
	s.judgeMachine(machine, host.Take())
	after, err := readAccounts(ctx, p)
	if err != nil {
		return err
	}
	after.cpu = cpu
	if s.run.Load, err = g.result(ctx, p); err != nil {
		return err
	}
	s.account(before, after)
	return s.checkCPUs(p)
}
