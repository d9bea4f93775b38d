package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"gonogo/runner/contract"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// resetTime is how long a command of a target's may take.
const resetTime = 5 * time.Minute

// Commands runs commands of a target's one after the other, and ends at the first
// that fails.
func Commands(ctx context.Context, g *sut.Guard, folder string, t record.Target, list [][]string) error {
	for _, argv := range list {
		if _, err := sut.Run(ctx, g, filepath.Join(folder, t.Foreign.Dir), t.Env, argv, resetTime); err != nil {
			return fmt.Errorf("ready target %s: %w", t.Name, err)
		}
	}
	return nil
}

// reset runs what the user wants done before each fresh process.
func (s *step) reset(ctx context.Context) error {
	if s.target.Foreign == nil {
		return nil
	}
	return Commands(ctx, s.guard, s.Root, s.target, s.target.Foreign.Reset)
}

// greet asks a foreign target one of the plan's requests: it says nothing of its
// settings, and what it holds is not known. The answer is no first answer of the API, to
// be timed: before it, the target's processes had time to settle.
func (s *step) greet(ctx context.Context, p *sut.Process) error {
	if s.target.Remote() {
		s.run.Ready, s.run.EnvPadding = 0, 0 // nobody here saw it start
	}
	requests := s.reading()
	if len(requests) == 0 {
		return nil
	}
	answers, err := contract.Ask(ctx, contract.Server{Name: s.target.Name, Address: p.Address()}, p.Host(), requests, 1)
	if err != nil {
		return err
	}
	first := answers[0]
	if err := first.Wrong(requests[0]); err != nil {
		return fmt.Errorf("first answer of %s to %s: %w", s.target.Name, first.Sent, err)
	}
	return nil
}

// reading is the first of the plan's requests that only reads, if there is one: a
// store must not grow before it is measured.
func (s *step) reading() []record.Request {
	if s.Plan.Service == nil {
		return nil
	}
	for _, r := range s.Plan.Service.Requests {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return []record.Request{r}
		}
	}
	return nil
}

// ids is what {id} is drawn up to.
func (s *step) ids() int {
	if s.Plan.Service != nil {
		return s.Plan.Service.IDs
	}
	return plan.IDs
}

// proveServices starts one target after the other, sends each the requests of the
// plan, and holds their answers against those of the first. One at a time: two services
// may want the same port, or the same database.
func proveServices(ctx context.Context, c Config, guard *sut.Guard, logDir string) ([]record.Parity, error) {
	v := c.Plan.Service
	var names []string
	var answers [][]contract.Exchange
	var parity []record.Parity
	for _, t := range c.Plan.Targets {
		if t.Twin {
			continue
		}
		list, err := askOne(ctx, c, guard, t, filepath.Join(logDir, "contract-"+t.Name+".log"))
		if err != nil {
			return nil, err
		}
		names, answers = append(names, t.Name), append(answers, list)
		parity = append(parity, record.Parity{Target: t.Name, Cases: len(list)})
	}
	e := contract.Equal(names, answers, v.Requests, v.Ignore)
	if len(e.Differences) > 0 {
		return nil, &Unlike{Differences: e.String()}
	}
	return parity, nil
}

func askOne(ctx context.Context, c Config, guard *sut.Guard, t record.Target, log string) (list []contract.Exchange, err error) {
	if err := Commands(ctx, guard, c.Root, t, t.Foreign.Reset); err != nil {
		return nil, err
	}
	t.CPUs = nil // the proof is not timed
	p, err := sut.Start(ctx, guard, sut.Spec{Target: t, Dir: c.Root, LogPath: log, ReadyTimeout: readyTimeout, Grace: stopGrace})
	if err != nil {
		return nil, err
	}
	defer func() {
		_, stopErr := p.Stop()
		err = errors.Join(err, stopErr)
	}()
	return contract.Ask(ctx, contract.Server{Name: t.Name, Address: p.Address()}, p.Host(), c.Plan.Service.Requests, c.Plan.Service.IDs)
}
