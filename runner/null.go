package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"gonogo/runner/internal/null"
)

// nullCmd is hidden: the server that the generator is held against. It prints
// its address and serves until it is ended, or until its input ends, so that it
// does not outlive whoever started it.
type nullCmd struct {
	StallFor   time.Duration `help:"Freeze for this long at the end of every period."`
	StallEvery time.Duration `help:"The period of freezing."`
}

// Run serves until the input ends.
func (c *nullCmd) Run(_ context.Context, s streams) error {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fail(exitFailed, "", "listen: %w", err)
	}
	fmt.Fprintln(s.out, l.Addr())
	ended := make(chan error, 1)
	go func() { ended <- null.Serve(l, null.Stall{For: c.StallFor, Every: c.StallEvery}) }()
	go func() {
		one := make([]byte, 1)
		for {
			if _, err := s.in.Read(one); err != nil {
				ended <- nil
				return
			}
		}
	}()
	return <-ended
}
