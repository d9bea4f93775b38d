package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/load"
	"gonogo/runner/record"
)

// loadCmd is the generator alone. A session starts it as a process of its own
// and speaks with it over its standard input and output.
type loadCmd struct {
	Alone loadRunCmd   `cmd:"" name:"run" default:"withargs" help:"Load a URL."`
	Merge loadMergeCmd `cmd:"" help:"Merge the --json records of the workers of one plan."`
}

type loadRunCmd struct {
	URL string `arg:"" optional:"" name:"url" help:"http://HOST:PORT/PATH, or unix:SOCKET:/PATH; {id} in it becomes a random number."`

	Connections int            `short:"c" default:"50" help:"Connections."`
	Duration    time.Duration  `short:"d" default:"10s" help:"Length of the timed window."`
	Rate        amount         `short:"r" help:"Open loop: so many requests a second over all connections, whatever the server does (1.5k, 2m)."`
	Requests    amount         `short:"n" help:"Stop after so many requests instead (20k)."`
	Poisson     bool           `help:"Open loop with random gaps instead of equal ones."`
	Warmup      *time.Duration `help:"Load before the window (default: 1s, 0 with -n)."`
	Timeout     time.Duration  `default:"5s" help:"Longest time for a reply."`
	NewConns    bool           `name:"new-connections" help:"A new connection for each request."`
	Engine      string         `help:"epoll (Linux, the default there) or net."`
	Seed        uint64         `default:"1" help:"Seed of ids, mix and gaps: the same seed sends the same requests."`

	Asked askedFlags `embed:""`

	JSON       bool       `help:"Print the whole record as JSON."`
	Hlog       string     `placeholder:"FILE" help:"Write an HdrHistogram log of each second, tags planned and sent."`
	Hgrm       string     `placeholder:"FILE" help:"Write the percentile distribution for HdrHistogram's plotter."`
	Thresholds []string   `name:"threshold" sep:"none" placeholder:"LIMIT" help:"Exit 5 unless kept: p99<5ms, max<1s, mean<2ms, rate>1000, errors<0.1%. May be repeated."`
	Worker     string     `placeholder:"K/N" help:"Be worker K (0-based) of N: send every request i with i mod N = K."`
	StartAt    *time.Time `placeholder:"TIME" help:"Open the window at this time (RFC 3339), together with the other workers."`
	Spec       string     `placeholder:"FILE" help:"Carry out a load specification (JSON) instead; - reads it from standard input."`
	Calibrate  bool       `help:"Measure what the generator itself can do on this machine, and keep it as its ceiling."`
}

// errorRatioMax is the share of failed requests above which a run counts as
// failed. It is that of a session's rules.
const errorRatioMax = 0.001

// Run loads what the flags say.
func (c *loadRunCmd) Run(ctx context.Context, s streams) error {
	switch {
	case c.Calibrate:
		return calibrate(ctx, s)
	case c.Spec != "":
		return serveLoad(ctx, s, c.Spec)
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	spec, hint, err := c.spec(ctx)
	if err != nil {
		return err
	}
	if err := host.Preflight(host.Need{Files: spec.Connections + 16, Ports: spec.Connections}); err != nil {
		return fail(exitPreflight, "ask for fewer connections, or raise the limit (ulimit -n)", "%w", err)
	}
	beware(s)
	beyond(ctx, s, spec.Address)
	defer own(spec.Engine)()
	watch := newWatcher(s.err, spec.Window)
	result, err := load.RunWatched(ctx, spec, load.Hooks{Second: watch.second, Ceiling: ceiling})
	watch.done()
	if result == nil {
		return c.notBegun(err, hint)
	}
	r := &record.LoadRecord{SchemaVersion: record.SchemaVersion, Kit: version(), Spec: spec, Result: *result}
	if err != nil {
		r.Error = err.Error()
	}
	return errors.Join(c.print(s, r), outcome(r, err, limits))
}

// own makes this process a generator and nothing else, until it is called back.
func own(engine string) (back func()) {
	if engine == "net" || runtime.GOOS != "linux" {
		return func() {}
	}
	// The epoll engine is one goroutine, and nothing may take its thread.
	n := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(n) }
}

func serveLoad(ctx context.Context, s streams, path string) error {
	in := s.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return fail(exitUsage, "", "read load specification: %w", err)
		}
		defer f.Close()
		in = f
	}
	err := load.ServeOwning(ctx, in, s.out, ceiling, own)
	if errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, "", "%w", err)
	}
	return err
}

func (c *loadRunCmd) limits() (list []load.Threshold, err error) {
	for _, text := range c.Thresholds {
		t, err := load.ParseThreshold(text)
		if err != nil {
			return nil, fail(exitUsage, "", "%w", err)
		}
		list = append(list, t)
	}
	return list, nil
}

// notBegun gives an error the exit code of a run that measured nothing.
func (c *loadRunCmd) notBegun(err error, hint string) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, "", "load: %w", err)
	case errors.Is(err, load.ErrSpec):
		return fail(exitUsage, "", "%w", err)
	case errors.Is(err, load.ErrConnect):
		if hint == "" {
			hint = "is the server there? nothing was measured"
		}
		return fail(exitPreflight, hint, "load %s: %w", c.URL, err)
	}
	return fail(exitFailed, "nothing was measured; the answers must be right before they are counted: --want-status, --want-body", "load %s: %w", c.URL, err)
}

// print writes the record in every form that was asked for.
func (c *loadRunCmd) print(s streams, r *record.LoadRecord) error {
	errs := []error{writeFile(c.Hlog, func(f *os.File) error { return load.WriteLog(f, r) }),
		writeFile(c.Hgrm, func(f *os.File) error { return load.WriteDistribution(f, r) })}
	if c.JSON {
		errs = append(errs, record.WriteJSONLine(s.out, r))
	} else {
		errs = append(errs, load.Text(s.out, r))
	}
	return errors.Join(errs...)
}

func writeFile(path string, write func(*os.File) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write histogram: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// outcome is the error that a record deserves, the gravest first.
func outcome(r *record.LoadRecord, err error, limits []load.Threshold) error {
	c := r.Result.Counts
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, "what was measured until then is printed", "load: interrupted")
	case err != nil:
		return fail(exitFailed, "", "%w", err)
	case c.Answered() == 0:
		return fail(exitFailed, "", "load: none of %d requests got a right answer", c.Planned)
	case float64(c.Bad()) > errorRatioMax*float64(c.Planned):
		return fail(exitFailed, "", "load: %d of %d requests failed (limit %.2g %%)", c.Bad(), c.Planned, 100*errorRatioMax)
	}
	for _, check := range r.Result.Checks {
		if check.Void && !check.OK {
			return fail(exitInvalid, "the numbers do not mean what they seem to", "load: %s: %s (limit %s)", check.Name, check.Observed, check.Limit)
		}
	}
	var missed []string
	for _, t := range limits {
		kept, observed, err := t.Kept(&r.Result)
		if err != nil {
			return err
		}
		if !kept {
			missed = append(missed, fmt.Sprintf("%s: %s", t, observed))
		}
	}
	if len(missed) > 0 {
		return fail(exitThreshold, "", "load: threshold missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
