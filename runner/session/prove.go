package session

import (
	"context"
	"errors"
	"path/filepath"

	"gonogo/runner/contract"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// Unlike says that targets broke the contract or differ from each other.
type Unlike struct {
	Differences string
	Targets     []string // that broke it, in the order of the plan
}

func (e *Unlike) Error() string {
	return "prove targets alike: they break the contract:\n" + e.Differences
}

// server is a target as the contract sees it.
func server(t record.Target, p *sut.Process) contract.Server {
	return contract.Server{Name: t.Name, Address: p.Address(), Known: t.Known, Chunked: t.Chunked}
}

// Prove starts every target once, runs the whole contract against all of them,
// and stops them: nothing is timed between targets that answer differently. It
// also puts the targets' files into the page cache, which would otherwise favour
// whoever starts second.
func Prove(ctx context.Context, c Config, logDir string) (parity []record.Parity, err error) {
	guard, err := sut.StartGuard(c.Guard[0], c.Guard[1:]...)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	if c.Plan.Service != nil {
		return proveServices(ctx, c, guard, logDir)
	}
	var servers []contract.Server
	for _, t := range c.Plan.Targets {
		t.CPUs = nil // the proof is not timed
		p, startErr := sut.Start(ctx, guard, sut.Spec{Target: t, Dir: c.Root, LogPath: filepath.Join(logDir, "contract-"+t.Name+".log"),
			ReadyTimeout: readyTimeout, Grace: stopGrace})
		if startErr != nil {
			return nil, startErr
		}
		defer func() {
			if _, stopErr := p.Stop(); stopErr != nil {
				err = errors.Join(err, stopErr)
			}
		}()
		servers = append(servers, server(t, p))
	}
	result, err := contract.Check(ctx, servers)
	if err != nil {
		return nil, err
	}
	if len(result.Differences) > 0 {
		return nil, &Unlike{result.String(), wrong(c.Plan, result)}
	}
	return result.Parity, nil
}

// wrong are the targets that a result holds something against.
func wrong(p *record.Plan, r contract.Result) []string {
	against := map[string]bool{}
	for _, d := range r.Differences {
		for _, a := range d.Answers {
			against[a.Server] = against[a.Server] || a.Wrong != ""
		}
	}
	var names []string
	for _, t := range p.Targets {
		if against[t.Name] {
			names = append(names, t.Name)
		}
	}
	return names
}
