package sut

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// commandMax is how much of a command's output is kept: its end.
const commandMax = 8 << 10

// lastBytes keeps the end of what is written.
type lastBytes struct{ buf []byte }

func (l *lastBytes) Write(b []byte) (int, error) {
	l.buf = append(l.buf, b...)
	if n := len(l.buf); n > 2*commandMax {
		l.buf = append(l.buf[:0], l.buf[n-commandMax:]...)
	}
	return len(b), nil
}

// Run runs a command to its end: an argument list, in a group of its own, with the
// environment that targets get. It returns the end of what the command wrote. One
// that takes longer than limit is KILLed with all of its group.
func Run(ctx context.Context, g *Guard, dir string, env, argv []string, limit time.Duration) (output string, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var out lastBytes
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(env, "", 0), &out, &out
	cmd.WaitDelay = time.Second // a daemon that it leaves behind may hold its output open
	if err := Spawn(g, cmd, nil); err != nil {
		return "", fmt.Errorf("run %q: %w", argv, err)
	}
	ended := make(chan struct{})
	go func() {
		awaitExit(cmd)
		close(ended)
	}()
	var cut error
	select {
	case <-ended:
	case <-ctx.Done():
		cut = ctx.Err()
	case <-time.After(limit):
		cut = fmt.Errorf("it did not end within %v", limit)
	}
	if cut != nil {
		signalGroup(cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	err = Reap(g, cmd)
	output = string(bytes.TrimSpace(out.buf))
	if cut != nil {
		err = cut
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return output, fmt.Errorf("run %q in %s: %w; it wrote last:\n  %s", argv, dir, err, strings.ReplaceAll(output, "\n", "\n  "))
	}
	return output, nil
}
