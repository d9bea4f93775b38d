package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonogo/runner/contract"
	"gonogo/runner/plan"
	"gonogo/runner/profile"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// How long a target may take to be ready, and to stop after TERM.
const (
	readyTimeout = 20 * time.Second
	stopGrace    = 2 * time.Second
	logTailLines = 12
	// Fine enough to see, within a window of a second or two, whether the rate has
	// settled.
	slice = 100 * time.Millisecond
)

// step is one run in the making.
type step struct {
	Config
	guard    *sut.Guard
	target   record.Target
	scenario record.Scenario
	run      *record.Run
	profiler *profile.Profiler // nil but in a session of profiles
	group    *group
}

// execute fills the run. Whatever happens, the target has been stopped when it
// returns and the run has an outcome.
func (s *step) execute(ctx context.Context) {
	begin := time.Now()
	err := s.profiled(ctx)
	s.run.Took = time.Since(begin)
	s.run.Outcome, s.run.Reason = judge(ctx, s.run, s.Plan.Rules, err)
}

// measure runs the target's life: start, prove, load, stop.
func (s *step) measure(ctx context.Context) (err error) {
	if s.group, err = s.enter(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.group.leave()) }() // after the stop, which is deferred later
	if err := s.reset(ctx); err != nil {
		return err
	}
	logPath := s.LogPath(s.run.Step, s.run.Attempt)
	p, err := sut.Start(ctx, s.guard, sut.Spec{Target: s.target, Dir: s.Root, LogPath: logPath, ReadyTimeout: readyTimeout, Grace: stopGrace,
		Trace: s.Plan.Confirms(s.run.Step) || s.tellsPauses(), Place: s.group.place()})
	if err != nil {
		return err
	}
	s.run.LogFile = s.LogName(s.run.Step, s.run.Attempt)
	defer func() { err = errors.Join(err, s.stop(p, err)) }()

	s.run.Ready, s.run.PIDs, s.run.EnvPadding = p.Ready(), p.PIDs(), p.EnvPadding()
	if s.target.Foreign != nil {
		err = s.greet(ctx, p)
	} else {
		err = s.introduce(ctx, p)
	}
	if err != nil {
		return err
	}
	switch {
	case s.profiler != nil:
		return s.watchProfile(ctx, p)
	case s.scenario.Work != nil:
		return s.watchCycles(ctx, p)
	case s.scenario.Kind == record.Memory:
		return s.watchMemory(ctx, p)
	case s.scenario.Overload != nil:
		return s.watchOverload(ctx, p)
	}
	return s.watchWindow(ctx, p)
}

// introduce asks one of our servers who it is and what it holds.
func (s *step) introduce(ctx context.Context, p *sut.Process) error {
	settings := p.Settings()
	s.run.Settings = &settings
	answered, err := contract.Spot(ctx, server(s.target, p))
	if err != nil {
		return err
	}
	first := answered.Sub(p.Begun())
	s.run.FirstAnswer = &first
	return checkStore(ctx, p)
}

// checkStore looks at what the target holds before the first timed request: a store
// that outlives its process gives a later run more to hold than an earlier one. A
// target that tells no number is not judged.
func checkStore(ctx context.Context, p *sut.Process) error {
	h, err := p.Health(ctx)
	if err != nil {
		return err
	}
	for i, n := range h.Users {
		if n != plan.IDs {
			return fmt.Errorf("check store: worker %d starts with %d users, want %d: the store was not reset", i, n, plan.IDs)
		}
	}
	return nil
}

// generator starts this step's generator and waits until it is connected and
// warm.
func (s *step) generator(ctx context.Context, p *sut.Process) (*generator, error) {
	spec := s.spec(p.Address())
	spec.Host = p.Host()
	g, err := startGenerator(s.guard, s.Generator, spec, s.target.GeneratorCPUs)
	if err != nil {
		return nil, err
	}
	s.run.GeneratorPID = g.pid()
	if _, err := g.await(ctx, p, "warm"); err != nil {
		g.kill()
		return nil, err
	}
	return g, nil
}

// spec tells the generator what to send. The seed is the plan's and the block's:
// every target of a block gets the same requests at the same times, so none has
// luck, and every block gets others, so what one schedule does at one moment is not
// taken for what the servers do at that age.
func (s *step) spec(address string) record.LoadSpec {
	sc := s.scenario
	kind := sc.Kind
	if kind == record.Memory {
		kind = record.Closed
		if sc.RatePerSec > 0 {
			kind = record.Open
		}
	}
	if kind.Searched() {
		kind = record.Open
	}
	count := uint64(0)
	if sc.Work != nil {
		count = sc.Work.Requests
	}
	return record.LoadSpec{
		Count: count, Address: address, Host: address, Requests: sc.Requests, IDs: s.ids(), Seed: seed(seed(s.Plan.Seed, s.run.Step.Block), s.run.Step.Trial), Kind: kind,
		Connections: sc.Connections, RatePerSec: sc.RatePerSec, Arrivals: sc.Arrivals,
		Warmup: sc.Warmup, Window: sc.Window, Timeout: s.Plan.RequestTimeout,
		Slice: slice, Handshake: true, Intervals: sc.Kind.Searched(),
		// In a search a generator that falls behind voids nothing: it is an answer.
		LaxPacing: s.target.Shared() || sc.Kind == record.Memory || s.Plan.Quick || s.Plan.Kind.Searched(),
		LaxDuty:   s.Plan.Kind == record.Scaling, // a sweep begins with a single connection, and says what bounds each level
	}
}

// seed spreads the blocks over all seeds, by the golden ratio of 2^64.
func seed(plan uint64, block int) uint64 { return plan + uint64(block)*0x9e3779b97f4a7c15 }

// stop ends the target and reads what only an ended one can tell.
func (s *step) stop(p *sut.Process, cause error) error {
	died := false
	select {
	case <-p.Exited():
		died = true
	default:
	}
	s.run.LogBytes = p.LogSize()
	stopped, err := p.Stop()
	s.run.Stop, s.run.LogCut = &stopped, p.LogCut()
	s.run.Traced, s.run.ServerPauses = p.Traced(), pausesIn(s.run.Load, p.Pauses())
	if died {
		s.run.ExitStatus = p.ExitStatus()
	}
	if cause != nil || died || err != nil {
		s.run.LogTail = p.LogTail(s.tailLines())
	}
	return err
}

// tailLines is more where a runtime may say that it ran out of memory: V8 does so
// above a trace of some dozen lines.
func (s *step) tailLines() int {
	if s.run.Limits != nil {
		return 5 * logTailLines
	}
	return logTailLines
}

// judge names the outcome of a run from its error, its counts and its checks.
func judge(ctx context.Context, r *record.Run, rules record.Rules, err error) (record.Outcome, string) {
	if ctx.Err() != nil {
		return record.Interrupted, "interrupted by a signal"
	}
	if err != nil {
		return record.Failed, err.Error()
	}
	if r.Load == nil {
		return record.Failed, "the generator gave no result"
	}
	c := r.Load.Counts
	if c.Answered() == 0 {
		return record.Failed, fmt.Sprintf("no right answer to %d requests%s", c.Planned, example(r.Load.Errors))
	}
	if ratio := float64(c.Bad()) / float64(c.Planned); ratio > rules.ErrorRatioMax {
		return record.Failed, fmt.Sprintf("%d of %d requests failed (limit %.2g %%)%s", c.Bad(), c.Planned, 100*rules.ErrorRatioMax, example(r.Load.Errors))
	}
	for _, checks := range [][]record.Check{r.Checks, r.Load.Checks} {
		for _, ch := range checks {
			if ch.Void && !ch.OK {
				return record.Void, fmt.Sprintf("%s: %s (limit %s)", ch.Name, ch.Observed, ch.Limit)
			}
		}
	}
	return record.Done, ""
}

// example quotes the most frequent kind of error.
func example(kinds map[string]record.ErrorKind) string {
	name, most := "", record.ErrorKind{}
	for k, e := range kinds {
		if e.Count > most.Count || e.Count == most.Count && k < name {
			name, most = k, e
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; %d x %s, such as: %s", most.Count, name, most.Example)
}
