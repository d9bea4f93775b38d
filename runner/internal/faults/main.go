// Command faults plants each fault that a measurement can have, and looks whether the
// alarm for it is raised:
//
//	go run ./runner/internal/faults [-v] [-short] [fault...]   the table; exit 1 unless all are told
//	go run ./runner/internal/faults -mutants [fault...]        the same with each check taken out of a copy of the sources
//
// A fault has a quiet twin: the same session without it, which has to stay silent.
// Both go the way of `gonogo compare`: plan, runs, archive, and findings over what the
// archive gives back.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"gonogo/runner/internal/stub"
	"gonogo/runner/load"
	"gonogo/runner/sut"
)

func main() {
	stub.Hook()
	role()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults: error:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// role makes this very program one of the processes that a session starts, and does
// not return, if it was started as one.
func role() {
	serve := map[string]func() error{
		"guard":     func() error { return sut.RunGuard(os.Stdin, os.Stdout) },
		"generator": func() error { return load.Serve(context.Background(), os.Stdin, os.Stdout, nil) },
		"burdened":  burdened,
	}
	if len(os.Args) != 2 || serve[os.Args[1]] == nil {
		return
	}
	if err := serve[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0) // os.Exit sleeps 1 s under -race
}

// burdened is a generator that does other work in its own process: half of the time
// of each of its CPUs.
func burdened() error {
	for range runtime.GOMAXPROCS(0) {
		go func() {
			runtime.LockOSThread()
			for ; ; time.Sleep(burst) {
				for begin := time.Now(); time.Since(begin) < 4*burst; {
				}
			}
		}()
	}
	return load.Serve(context.Background(), bufio.NewReader(os.Stdin), os.Stdout, nil)
}

const burst = 500 * time.Microsecond

func run(ctx context.Context, args []string, out, diagnostics io.Writer) error {
	f := flag.NewFlagSet("faults", flag.ContinueOnError)
	f.SetOutput(diagnostics)
	verbose := f.Bool("v", false, "tell how long each took")
	short := f.Bool("short", false, "only those that take less than a second or two")
	asMutants := f.Bool("mutants", false, "take each check out of a copy of the sources and see its row go red")
	if err := f.Parse(args); err != nil {
		return errUsage
	}
	if *asMutants {
		return runMutants(ctx, f.Args(), out)
	}
	chosen, err := choose(f.Args(), *short)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gonogo-faults-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var rows []row
	for _, fault := range chosen {
		r := fault.judge(ctx, dir)
		if ctx.Err() != nil {
			return fmt.Errorf("plant %s: interrupted", fault.name)
		}
		if *verbose {
			fmt.Fprintf(diagnostics, "%s: %v\n", fault.name, r.took.Round(time.Millisecond))
		}
		rows = append(rows, r)
	}
	return print(out, rows)
}
