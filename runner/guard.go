package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"gonogo/runner/sut"
)

// guardCmd is hidden: a session starts it as a process of its own, and it ends
// what the session leaves behind, even when the session is killed. Only the end of
// its input, which is the end of the session, ends it: whoever sends TERM to every
// process in sight would otherwise end the guard before those it guards against.
type guardCmd struct{}

// Run keeps guard until the input ends.
func (guardCmd) Run(_ context.Context, s streams) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return sut.RunGuard(s.in, s.out)
}
