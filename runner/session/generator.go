package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// generator is a load generator of its own process, started afresh for each
// run, so that its CPU, its garbage and its affinity are its own.
type generator struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	events chan record.LoadEvent // closed when its output ends
	stderr *bytes.Buffer
	done   chan struct{} // closed when it has ended and been reaped
	limit  time.Duration // longest time between two events
}

// slowest bounds a load by count: fewer than 500 requests a second are given up.
const slowest = 2 * time.Millisecond

func startGenerator(g *sut.Guard, argv []string, spec record.LoadSpec, cpus []int) (*generator, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start generator: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start generator: %w", err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := sut.Spawn(g, cmd, cpus); err != nil {
		return nil, fmt.Errorf("start generator: %w", err)
	}
	l := &generator{cmd: cmd, in: in, events: make(chan record.LoadEvent), stderr: &stderr, done: make(chan struct{}),
		limit: spec.Warmup + spec.Window + time.Duration(spec.Count)*slowest + 2*spec.Timeout + 10*time.Second}
	go l.listen(g, out)
	if err := json.NewEncoder(in).Encode(spec); err != nil {
		l.kill()
		return nil, fmt.Errorf("tell generator its plan: %w", err)
	}
	return l, nil
}

// listen reads events until the generator's output ends, then reaps it.
func (l *generator) listen(g *sut.Guard, out io.Reader) {
	defer close(l.done)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var e record.LoadEvent
		if err := json.Unmarshal(line, &e); err != nil {
			e = record.LoadEvent{Event: "failed", Error: fmt.Sprintf("read generator: %v: %.80q", err, line)}
		}
		l.events <- e
	}
	sut.Reap(g, l.cmd)
	close(l.events)
}

func (l *generator) pid() int { return l.cmd.Process.Pid }

// await waits for an event. It gives up at once when the target ends: refused
// connections come back in microseconds and would count as speed.
func (l *generator) await(ctx context.Context, p *sut.Process, want string) (*record.LoadEvent, error) {
	late := time.NewTimer(l.limit)
	defer late.Stop()
	select {
	case e, ok := <-l.events:
		switch {
		case !ok:
			return nil, fmt.Errorf("await %s of generator: it ended: %s", want, strings.TrimSpace(l.stderr.String()))
		case e.Event == "failed":
			return nil, blame(p, fmt.Errorf("load target: %s", e.Error))
		case e.Event != want || want == "result" && e.Result == nil:
			return nil, fmt.Errorf("await %s of generator: it said %s", want, e.Event)
		}
		return &e, nil
	case <-p.Exited():
		return nil, fmt.Errorf("target ended under load: %s", p.ExitStatus())
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fmt.Errorf("await %s of generator: nothing for %v", want, l.limit)
	}
}

// blame names the target's own end as the cause of a load that failed, if it has
// one: the kernel may tell the client before it tells the parent.
func blame(p *sut.Process, err error) error {
	select {
	case <-p.Exited():
		return fmt.Errorf("target ended under load: %s; %w", p.ExitStatus(), err)
	case <-time.After(500 * time.Millisecond):
		return err
	}
}

// proceed lets the generator pass the edge at which it waits.
func (l *generator) proceed() error {
	if _, err := io.WriteString(l.in, "go\n"); err != nil {
		return fmt.Errorf("let generator go on: %w", err)
	}
	return nil
}

// result lets the generator close its connections and returns what it measured.
func (l *generator) result(ctx context.Context, p *sut.Process) (*record.LoadResult, error) {
	if err := l.proceed(); err != nil {
		return nil, err
	}
	e, err := l.await(ctx, p, "result")
	if err != nil {
		return nil, err
	}
	return e.Result, nil
}

// kill ends the generator, if it has not ended, and waits until it is gone.
func (l *generator) kill() {
	l.in.Close()
	select {
	case <-l.done:
		return
	default:
	}
	l.cmd.Process.Kill()
	for range l.events { // let listen come to its end
	}
	<-l.done
}
