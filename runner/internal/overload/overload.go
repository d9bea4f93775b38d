// Package overload drives servers beyond what they can do and holds them against
// limits: twice their capacity, thousands of connections, clients that send or read
// a byte at a time or not at all, bodies that are too large. One process of each
// server goes through all faults; what is looked at is whether it answers /healthz
// meanwhile, what memory it takes, how soon it is what it was before, and whether it
// is still the same process and keeps the contract.
//
// The clients are hostile to servers on loopback that this package itself started,
// and to nothing else.
package overload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"gonogo/runner/contract"
	"gonogo/runner/host"
	"gonogo/runner/memory"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Options say what to do to whom.
type Options struct {
	Targets   []record.Target
	Dir       string   // the kit's root, in which the targets' commands are looked up
	Logs      string   // an empty folder for the servers' logs
	Generator []string // command line of gonogo load --spec -
	Short     bool     // a few hundred milliseconds a fault
	Progress  io.Writer
}

// ErrLimits says that the machine gives too few descriptors or ports.
var ErrLimits = errors.New("the limits of this machine are too low for so many connections")

// Run does every fault to every target, one server at a time.
func Run(ctx context.Context, o Options) (*OverloadRecord, error) {
	size := full
	if o.Short {
		size = short
	}
	// A refused body is held for half a second, so the server's own need is larger
	// than the number of connections.
	if err := host.Preflight(host.Need{Files: 2*size.connections + 256, Ports: size.connections}); err != nil {
		return nil, fmt.Errorf("%w: %w; raise them: ulimit -n, sysctl net.ipv4.ip_local_port_range", ErrLimits, err)
	}
	out := &OverloadRecord{SchemaVersion: record.SchemaVersion, Started: time.Now().UTC().Truncate(time.Second), Short: o.Short}
	begun := time.Now()
	for _, t := range o.Targets {
		s, err := o.server(ctx, t, size)
		if err != nil {
			return nil, fmt.Errorf("overload %s: %w", t.Name, err)
		}
		out.Servers = append(out.Servers, *s)
	}
	out.Took = time.Since(begun)
	return out, nil
}

// capacityProbes warm the server up too; the best of them counts, for a disturbance
// only ever takes away.
const capacityProbes = 3

// subject is a server under way.
type subject struct {
	Options
	size   size
	target record.Target
	p      *sut.Process
	files  *int // open descriptors before the first fault
	out    OverloadServer
}

func (o Options) server(ctx context.Context, t record.Target, size size) (_ *OverloadServer, err error) {
	p, err := sut.Start(ctx, nil, sut.Spec{Target: t, Dir: o.Dir, LogPath: filepath.Join(o.Logs, t.Name+".log"), ReadyTimeout: 20 * time.Second})
	if err != nil {
		return nil, err
	}
	defer func() {
		_, stopErr := p.Stop()
		err = errors.Join(err, stopErr)
	}()
	s := &subject{Options: o, size: size, target: t, p: p}
	if err := s.baseline(ctx); err != nil {
		return nil, err
	}
	for _, f := range faults {
		fmt.Fprintf(o.Progress, "%s: %s\n", t.Name, f.name)
		trial, err := s.trial(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		s.out.Trials = append(s.out.Trials, *trial)
	}
	s.out.RSSPeak, err = memory.Peak(p.PIDs())
	return &s.out, err
}

// baseline warms the server up, finds its capacity and what it is before any fault.
func (s *subject) baseline(ctx context.Context) error {
	s.out.Target, s.out.PIDs = s.target.Name, s.p.PIDs()
	for range capacityProbes {
		res, err := s.generate(ctx, s.spec(record.Closed, 50, s.size.probe))
		if err != nil {
			return fmt.Errorf("find capacity: %w", err)
		}
		s.out.CapacityPerSec = max(s.out.CapacityPerSec, float64(res.Counts.InWindow)/res.Window.Seconds())
	}
	if s.out.CapacityPerSec == 0 {
		return errors.New("find capacity: no right answer")
	}
	var err error
	if s.out.P99Before, err = s.half(ctx, s.size.probe); err != nil {
		return fmt.Errorf("probe before the faults: %w", err)
	}
	m, err := memory.Read(s.p.PIDs())
	s.out.PSSBefore, s.files = m.PSS, openFiles(s.p.PIDs())
	return err
}

// trial does one fault and then waits until the server is what it was.
func (s *subject) trial(ctx context.Context, f fault) (*OverloadTrial, error) {
	t := &OverloadTrial{Fault: f.name}
	watch := s.watch(ctx)
	begun := time.Now()
	err := f.do(ctx, s, t)
	ended := time.Now()
	t.Length = ended.Sub(begun)
	if err := errors.Join(err, watch.stop(t)); err != nil {
		return nil, err
	}
	if err := s.recover(ctx, t, ended); err != nil {
		return nil, err
	}
	differences, err := s.differences(ctx, f)
	if err != nil {
		return nil, err
	}
	m, err := memory.Read(s.p.PIDs())
	if err != nil {
		return nil, err
	}
	t.PSSAfter, t.FilesAfter = m.PSS, s.filesAfter()
	t.Checks = s.checks(t, f, differences, s.p.Alive())
	return t, nil
}

// recover probes until p99 is near what it was. A server that hangs yields no p99;
// that is a probe that is not near.
func (s *subject) recover(ctx context.Context, t *OverloadTrial, ended time.Time) error {
	for {
		since := time.Since(ended)
		p99, err := s.half(ctx, s.size.recovery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if t.P99After = p99; err == nil && p99 <= s.near() {
			t.Recovery = &since
			return nil
		}
		if since > recoveryLimit {
			return nil
		}
	}
}

// filesAfter waits for connections that were refused and linger.
func (s *subject) filesAfter() *int {
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		n := openFiles(s.p.PIDs())
		if n == nil || s.files == nil || *n <= *s.files+filesSlack || time.Now().After(deadline) {
			return n
		}
	}
}

// differences are those to the contract. The short form asks after the last fault.
func (s *subject) differences(ctx context.Context, f fault) (*int, error) {
	if s.Short && f.name != faults[len(faults)-1].name {
		return nil, nil
	}
	result, err := contract.Check(ctx, []contract.Server{{Name: s.target.Name, Address: s.p.Address()}})
	if err != nil {
		return nil, err
	}
	n := len(result.Differences)
	return &n, nil
}
