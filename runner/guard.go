package main

import (
	"context"

	"gonogo/runner/sut"
)

// guardCmd is hidden: a session starts it as a process of its own, and it ends
// what the session leaves behind, even when the session is killed. It does not
// look at ctx: only the end of its input, which is the end of the session, ends it.
type guardCmd struct{}

// Run keeps guard until the input ends.
func (guardCmd) Run(_ context.Context, s streams) error { return sut.RunGuard(s.in, s.out) }
