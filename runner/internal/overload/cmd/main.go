// Command overload holds the servers against more than they can do:
//
//	go run ./runner/internal/overload/cmd -json docs/overload.json bin/gonogo
//
// It ends with code 1 when a server does not keep a limit.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"gonogo/runner/archive"
	"gonogo/runner/host"
	"gonogo/runner/internal/overload"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "overload: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("overload", flag.ContinueOnError)
	targets := flags.String("targets", "go-1,node-1,node-cluster-2,go-2", "servers, separated by commas")
	short := flags.Bool("short", false, "half a second a fault")
	file := flags.String("json", "", "write the record to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("usage: overload [-targets NAME,...] [-short] [-json FILE] GONOGO")
	}
	sets, err := host.Split()
	if err != nil {
		return err
	}
	sets.K = 2 // a cluster of two, also where there are more CPUs
	p, err := plan.New(plan.Options{CPUs: plan.CPUSets(sets)})
	if err != nil {
		return err
	}
	o := overload.Options{Dir: ".", Generator: []string{flags.Arg(0), "load", "--spec", "-"}, Short: *short, Progress: progress}
	for _, name := range strings.Split(*targets, ",") {
		t, ok := p.Target(name)
		if !ok {
			return fmt.Errorf("no target %q", name)
		}
		o.Targets = append(o.Targets, t)
	}
	return measure(ctx, o, *file, out)
}

// measure runs all faults, prints the page and keeps the record.
func measure(ctx context.Context, o overload.Options, file string, out io.Writer) (err error) {
	if o.Logs, err = os.MkdirTemp("", "gonogo-overload-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.Logs)
	record, err := overload.Run(ctx, o)
	if err != nil {
		return err
	}
	record.Host = describe(ctx)
	fmt.Fprint(out, overload.Markdown(record))
	if file != "" {
		if err := keep(file, record); err != nil {
			return err
		}
	}
	if !record.Passed() {
		return errors.New("a server did not keep a limit: the column of checks names it")
	}
	return nil
}

// describe leaves out what differs between two moments.
func describe(ctx context.Context) record.Host {
	node, err := exec.LookPath("node")
	if err != nil {
		node = ""
	}
	return host.Describe(ctx, node)
}

func keep(file string, o *overload.OverloadRecord) error {
	return archive.WriteFile(file, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(o)
	})
}
