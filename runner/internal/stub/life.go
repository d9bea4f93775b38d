package stub

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Life is how the process starts, speaks and ends.
type Life struct {
	ExitAtOnce bool
	ExitAfter  time.Duration
	ExitCode   int
	Late       time.Duration
	NeverReady bool
	NoListen   bool
	SayPort    int
	Token      string
	SayWorkers int
	IgnoreTerm bool
	AnyCPU     bool

	StderrBefore, StderrEach int

	Grandchild, Daemon bool
	Workers            int
	Fair, OneWorker    bool
	BusyWorker         bool
	WorkerExit         time.Duration
	Refork             bool
	Burn               time.Duration
	BurnThreads        int

	worker int
	linger bool
}

// longest is how long a stub lives that nobody ends: a test that fails to end
// it must not load the machine for ever.
const longest = 2 * time.Minute

// Main is the stub as a process: it reads flags and the contract's environment,
// serves until SIGTERM, SIGINT or its own fault, and returns the exit code.
func Main(args []string) int {
	var b Behaviour
	f := flag.NewFlagSet("stub", flag.ContinueOnError)
	f.Usage = func() {} // the error is enough
	b.Flags(f)
	if err := f.Parse(args); err != nil {
		return 2
	}
	if b.AnyCPU {
		fmt.Fprintln(os.Stderr, "stub:", leaveCPUs()) // it does not return but by an error
		return 1
	}
	if b.Workers == 0 {
		b.Workers, _ = strconv.Atoi(os.Getenv("WORKERS"))
	}
	term := make(chan os.Signal, 1)
	if b.IgnoreTerm || b.linger {
		signal.Ignore(syscall.SIGTERM)
	} else {
		signal.Notify(term, syscall.SIGTERM, syscall.SIGINT)
	}
	var code int
	var err error
	switch {
	case b.linger:
		sayUp()
		time.Sleep(longest)
	case b.worker >= 0:
		code, err = b.runWorker(term)
	default:
		code, err = b.runPrimary(term)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		return 1
	}
	return code
}

// runPrimary listens and serves, itself or through workers.
func (b *Behaviour) runPrimary(term <-chan os.Signal) (int, error) {
	b.burn()
	writeBytes(os.Stderr, b.StderrBefore)
	time.Sleep(b.Late)
	if b.ExitAtOnce {
		return b.ExitCode, nil
	}
	if err := b.forkLingering(); err != nil {
		return 0, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(envOr("HOST", "127.0.0.1"), envOr("PORT", "0")))
	if err != nil {
		return 0, err
	}
	if b.Workers > 1 {
		return b.runCluster(l.(*net.TCPListener), term)
	}
	pids := []int{os.Getpid()}
	s := newServer(*b, l, &counts{}, 0)
	if b.NoListen {
		l.Close()
	} else {
		go s.serve()
	}
	b.announce(l.Addr(), pids)
	return b.await(s, term), nil
}

// announce prints the ready line, true or not.
func (b *Behaviour) announce(addr net.Addr, pids []int) {
	if b.NeverReady {
		return
	}
	port := addr.(*net.TCPAddr).Port
	if b.SayPort != 0 {
		port = b.SayPort
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"ready": true, "port": port, "pids": pids})
}

// await serves until the end, and closes idle connections at once as the
// contract demands.
func (b *Behaviour) await(s *Server, term <-chan os.Signal) int {
	stall, leave := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(stall, syscall.SIGUSR1)
	signal.Notify(leave, syscall.SIGUSR2)
	exit := after(b.ExitAfter)
	end := time.After(longest)
	for {
		select {
		case <-stall:
			s.Stall()
		case <-exit:
			return b.ExitCode
		case <-leave:
			return b.ExitCode
		case <-end:
			return 1
		case <-term:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			s.http.Shutdown(ctx)
			return 0
		}
	}
}

// after is a timer, or for 0 never.
func after(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	return time.After(d)
}

// forkLingering starts what outlives its parent.
func (b *Behaviour) forkLingering() error {
	for _, fork := range []struct{ wanted, leave bool }{{b.Grandchild, false}, {b.Daemon, true}} {
		if !fork.wanted {
			continue
		}
		cmd := b.again("-linger")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: fork.leave}
		if err := startAndAwait(cmd); err != nil {
			return err
		}
	}
	return nil
}

// again is this very command with one flag more.
func (b *Behaviour) again(extra string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(os.Args[1:len(os.Args):len(os.Args)], extra)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// burn uses CPU time in several threads at once, until the process has used at
// least Burn for each of them; most of it in user space, some in the kernel.
func (b *Behaviour) burn() {
	if b.Burn == 0 {
		return
	}
	enough := time.Duration(b.BurnThreads) * b.Burn
	var wg sync.WaitGroup
	for range b.BurnThreads {
		wg.Go(func() {
			runtime.LockOSThread()
			for used() < enough {
				for begin := time.Now(); time.Since(begin) < 2*time.Microsecond; {
				}
			}
		})
	}
	wg.Wait()
}

// used is the CPU time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// writeBytes writes n bytes in lines of 100.
func writeBytes(w io.Writer, n int) {
	line := strings.Repeat("b", 99) + "\n"
	for ; n > 0; n -= len(line) {
		io.WriteString(w, line[max(0, len(line)-n):])
	}
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// exitCode is the code that a worker ended with.
func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}
