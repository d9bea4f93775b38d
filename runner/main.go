// Command gonogo answers one question with evidence: should this Node.js
// service be rewritten in Go? This file reads the command line; each subcommand
// has a file of its own beside it, and the work is done in the packages below.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// Exit codes, the same for every subcommand.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPreflight   = 3   // the machine or the folder refuses; nothing was run
	exitWrong       = 4   // targets answer wrongly or not alike
	exitThreshold   = 5   // a threshold was missed
	exitInvalid     = 6   // the result is invalid, or not enough evidence
	exitInterrupted = 130 // by INT, TERM or HUP: one code, for a caller does the same about each
)

// streams are what a subcommand reads and writes: report on out, progress and
// diagnostics on err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// failure is an error with the exit code and the advice that go with it.
type failure struct {
	code  int
	cause error
	hint  string
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

func fail(code int, hint string, format string, a ...any) error {
	return &failure{code, fmt.Errorf(format, a...), hint}
}

// commands is the whole command line.
type commands struct {
	Version kong.VersionFlag `help:"Print the version of gonogo."`

	Compare   compareCmd   `cmd:"" help:"Measure all targets, archive every run, print the report: the main job."`
	Report    reportCmd    `cmd:"" help:"Print the report of an archived session."`
	Verify    verifyCmd    `cmd:"" help:"Check every file of an archive, and work every printed number out again from the raw record."`
	List      listCmd      `cmd:"" help:"All archives, a line each."`
	Show      showCmd      `cmd:"" help:"One run of an archive in full, with the end of its server's log."`
	Diff      diffCmd      `cmd:"" help:"What differs between two archives: plan, contract, versions, machine, and numbers with their intervals."`
	Decide    decideCmd    `cmd:"" help:"Answer the question of a session by the rule fixed before its first run, and file the answer with it."`
	Plan      planCmd      `cmd:"" help:"Show what compare would run, in which order, how long."`
	Check     checkCmd     `cmd:"" help:"Prove servers against the contract and against each other; nothing is timed."`
	Load      loadCmd      `cmd:"" help:"The load generator alone."`
	Memory    memoryCmd    `cmd:"" help:"Memory alone: the same number of stored users, rests, growth over cycles, what reading costs. An hour and a half; --quick a minute and a half."`
	Capacity  capacityCmd  `cmd:"" help:"The highest rate that meets a latency limit, found and confirmed in fresh processes, and what is left at 120 % of it. Ten minutes."`
	Scale     scaleCmd     `cmd:"" help:"Rate, p99, CPU and memory against open connections or cores: what one more costs and adds. Five minutes a pair."`
	Floor     floorCmd     `cmd:"" name:"memory-floor" help:"The smallest memory limit at which a server still meets a rate, found and confirmed in fresh processes. Ten minutes."`
	Variants  variantsCmd  `cmd:"" help:"What each named variant of the servers is worth end to end, beside the plain one in shuffled blocks. A quarter of an hour."`
	Postgres  postgresCmd  `cmd:"" help:"The comparison of the pair on one core with their users in a PostgreSQL of its own: make compare-postgres."`
	Profile   profileCmd   `cmd:"" help:"Where a server spends its CPU time, its waits and its memory, by function; and how two differ. Three minutes."`
	Export    exportCmd    `cmd:"" help:"Write a scenario for k6, vegeta, Hyperfoil, or many workers in Kubernetes; what cannot be expressed is said."`
	Import    importCmd    `cmd:"" help:"Print a summary of k6, vegeta or Hyperfoil, marked foreign; no archive takes it."`
	Doctor    doctorCmd    `cmd:"" help:"Say what this machine is, and whether it is quiet enough."`
	Calibrate calibrateCmd `cmd:"" help:"How often verdicts are right on this machine: simulated, and with servers of known truth."`
	Guard     guardCmd     `cmd:"" hidden:""`
	Meter     meterCmd     `cmd:"" hidden:""`
	Null      nullCmd      `cmd:"" hidden:""`
	Soak      soakCmd      `cmd:"" hidden:"" help:"Repeat quick sessions for hours and tell what grows with them."`
}

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run is the only way in, for main and for tests.
func run(ctx context.Context, args []string, s streams) int {
	var c commands
	exited := -1
	k, err := kong.New(&c, kong.Name("gonogo"), kong.Description("Should this Node.js service be rewritten in Go? Measures both and says what the numbers prove."),
		kong.Writers(s.out, s.err), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"version": "gonogo " + version()}, kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s))
	if err != nil {
		return exitWith(s, err)
	}
	parsed, err := k.Parse(args)
	if exited >= 0 { // --help was asked for and printed
		return exited
	}
	if err != nil {
		return exitWith(s, &failure{exitUsage, err, "gonogo --help lists commands and flags"})
	}
	err = parsed.Run()
	if err != nil && ctx.Err() != nil {
		err = interrupted(err)
	}
	return exitWith(s, err)
}

// interrupted makes an error that followed a signal one of the signal: children
// that were ended and waits that were given up fail in many words.
func interrupted(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) && f.code == exitInterrupted && f.hint != "" {
		return err
	}
	return fail(exitInterrupted, "what was not finished is not kept", "interrupted by a signal: %w", err)
}

// exitWith prints an error, if there is one, in the two lines that all errors
// have, and gives the exit code.
func exitWith(s streams, err error) int {
	if err == nil {
		return exitDone
	}
	code, hint := exitFailed, ""
	if f := (*failure)(nil); errors.As(err, &f) {
		code, hint = f.code, f.hint
	}
	fmt.Fprintf(s.err, "gonogo: error: %s\n", legible(err.Error()))
	if hint != "" {
		fmt.Fprintf(s.err, "gonogo: hint: %s\n", plain(hint))
	}
	return code
}
