package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal gives a context that ends at the first signal that asks to end: INT
// (Ctrl-C), TERM or HUP (the terminal is gone). What runs is then stopped in
// order, which takes seconds if a server ignores TERM.
//
// A second INT or TERM ends this process at once, as if it had no handler: the
// guard sees that and KILLs what is left. A second HUP does not, for a terminal
// that closes often sends two: one from the kernel and one from the shell.
//
// A signal that was ignored at the start stays ignored: nohup, and a shell that
// starts a job in the background, mean the job to live on.
func untilSignal() context.Context {
	heeded := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			heeded = append(heeded, s)
		}
	}
	ctx, _ := signal.NotifyContext(context.Background(), heeded...)
	context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP)
		if !signal.Ignored(os.Interrupt) {
			signal.Reset(os.Interrupt)
		}
		signal.Reset(syscall.SIGTERM)
	})
	return ctx
}
