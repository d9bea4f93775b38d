package sut

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"gonogo/runner/record"
)

// tailLines is how much of a log goes into an error.
const tailLines = 8

// awaitReady polls the log for the ready line and then /healthz for our token.
// An early exit is reported at once, not after the timeout.
func (p *Process) awaitReady(ctx context.Context) error {
	lines, err := follow(p.spec.LogPath)
	if err != nil {
		return err
	}
	defer lines.file.Close()
	return p.poll(ctx, func(ctx context.Context) error { return p.probe(ctx, lines) })
}

// poll makes attempts until one succeeds or fails for good.
func (p *Process) poll(ctx context.Context, attempt func(context.Context) error) error {
	late := time.NewTimer(time.Until(p.begun.Add(p.spec.ReadyTimeout)))
	defer late.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errNotYet) {
			return err
		}
		select {
		case <-time.After(pollStep(time.Since(p.begun))):
		case <-p.exited:
			return p.withTail(fmt.Errorf("it ended before it was ready: %s", p.status))
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return p.withTail(fmt.Errorf("not ready within %v: %w", p.spec.ReadyTimeout, err))
		}
	}
}

// pollStep keeps the error of a ready time below 1 % or 1 ms, and does not
// disturb a slow start with needless wake-ups.
func pollStep(elapsed time.Duration) time.Duration {
	return min(max(elapsed/100, time.Millisecond), 50*time.Millisecond)
}

// withTail adds the last lines of the log to an error.
func (p *Process) withTail(err error) error {
	tail := strings.TrimSpace(p.LogTail(tailLines))
	if tail == "" {
		return fmt.Errorf("%w; it wrote nothing", err)
	}
	return fmt.Errorf("%w; it wrote last:\n  %s", err, strings.ReplaceAll(tail, "\n", "\n  "))
}

// errNotYet marks what may still become right.
var errNotYet = errors.New("not yet")

// probe makes one attempt. A port that refuses may still open; one that answers
// as somebody else never becomes ours.
func (p *Process) probe(ctx context.Context, lines *follower) error {
	if p.port == 0 {
		line, found, err := lines.ready()
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("%w: no ready line", errNotYet)
		}
		if line.Port < 1 || line.Port > 65535 {
			return fmt.Errorf("its ready line names port %d", line.Port)
		}
		p.port, p.pids = line.Port, line.PIDs
	}
	h, err := p.Health(ctx)
	if err != nil {
		return fmt.Errorf("%w: it says it is ready: %w", errNotYet, err)
	}
	ready := time.Since(p.begun)
	if h.Token != p.token {
		return p.withTail(fmt.Errorf("port %d is answered by another server: pid %d, token %.40q is not ours", p.port, h.PID, h.Token))
	}
	select {
	case <-p.exited: // our token from a child that is gone: a worker left behind
		return p.withTail(fmt.Errorf("it ended before it was ready: %s", p.status))
	default:
	}
	p.ready, p.settings = ready, h.Settings
	p.log.sight()
	return nil
}

// Health is what a target says of itself on /healthz.
type Health struct {
	Token string `json:"token"`
	PID   int    `json:"pid"` // of the process that answered
	record.Settings
	Users    []uint64 `json:"users"`    // in store, worker by worker
	Requests []uint64 `json:"requests"` // served, worker by worker
}

// prober opens a connection for each question: one kept open would be one more
// connection of the target under load. It takes no proxy from the environment
// and follows no redirect.
var prober = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       5 * time.Second,
}

// Health asks the target for its state.
func (p *Process) Health(ctx context.Context) (Health, error) {
	var h Health
	if p.foreign != nil {
		return h, fmt.Errorf("ask health of %s, which tells none: %w", p.spec.Target.Name, errors.ErrUnsupported)
	}
	url := "http://" + p.Address() + "/healthz"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return h, fmt.Errorf("ask health: %w", err)
	}
	resp, err := prober.Do(req)
	if err != nil {
		return h, fmt.Errorf("ask health: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return h, fmt.Errorf("ask health: GET %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return h, fmt.Errorf("ask health: GET %s: status %d", url, resp.StatusCode)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("ask health: GET %s: %w", url, err)
	}
	return h, nil
}

// readyLine is what a target prints when all its workers listen.
type readyLine struct {
	Ready bool  `json:"ready"`
	Port  int   `json:"port"`
	PIDs  []int `json:"pids"`
}

// follower reads a log while it grows, line by line.
type follower struct {
	file    *os.File
	partial []byte // a line whose end is not written yet
	buf     [1 << 16]byte
}

func follow(path string) (*follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return &follower{file: f}, nil
}

// ready reads what is new and reports the first ready line in it.
func (f *follower) ready() (readyLine, bool, error) {
	for {
		n, err := f.file.Read(f.buf[:])
		if err != nil && err != io.EOF {
			return readyLine{}, false, fmt.Errorf("read log: %w", err)
		}
		if n == 0 {
			return readyLine{}, false, nil
		}
		f.partial = append(f.partial, f.buf[:n]...)
		for {
			line, rest, whole := bytes.Cut(f.partial, []byte("\n"))
			if !whole {
				break
			}
			f.partial = rest
			var r readyLine
			if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &r) == nil && r.Ready {
				return r, true, nil
			}
		}
		if len(f.partial) > 1<<20 { // no line of ours is so long
			f.partial = nil
		}
	}
}
