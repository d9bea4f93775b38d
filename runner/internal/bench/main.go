// Command bench holds the generator against its peers and against the truth:
//
//	go run ./runner/internal/bench load bin/gonogo    cost of a request, beside every peer on PATH
//	go run ./runner/internal/bench truth bin/gonogo   what it reports of a server that freezes
//
// The generator runs on the first CPU that this process may use, the server on
// the second. What it prints is of this machine; only ratios travel.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: bench load|truth GONOGO")
	}
	b := &bench{ctx: ctx, gonogo: args[1], out: out}
	if _, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		b.pin = true
	} else {
		fmt.Fprintln(out, "Not pinned: the generator and the server share their CPUs.")
	}
	switch args[0] {
	case "load":
		return b.load()
	case "truth":
		return b.truth()
	}
	return fmt.Errorf("no bench %q, there are load and truth", args[0])
}

type bench struct {
	ctx    context.Context
	gonogo string
	out    io.Writer
	pin    bool
}

// The CPUs of a pinned bench, as taskset counts them.
const generatorCPU, serverCPU = "0", "1"

// command is argv on one CPU.
func (b *bench) command(cpu string, argv ...string) *exec.Cmd {
	if b.pin {
		argv = append([]string{"taskset", "-c", cpu}, argv...)
	}
	return exec.CommandContext(b.ctx, argv[0], argv[1:]...)
}

// server starts the null server and returns its address and what ends it.
func (b *bench) server(flags ...string) (address string, stop func(), err error) {
	cmd := b.command(serverCPU, append([]string{b.gonogo, "null"}, flags...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start null server: %w", err)
	}
	stop = func() { in.Close(); cmd.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("await null server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}
