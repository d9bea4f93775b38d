// Package stub is a small server that speaks the API contract and misbehaves on
// request: late, stalled, wrong, dying, leaking, chatty. It is the known truth
// of the tests: what it does is asked for, so what a tool says of it can be
// held against that.
//
// It runs inside a test (Listen), as a process of the test's own binary (Argv
// and Hook), or as a program (./cmd). Every behaviour is one flag; Flags holds
// the table of them.
package stub

import (
	"flag"
	"os"
	"syscall"
	"time"
)

// Behaviour is what to do wrong. The zero value does everything right. "1 in k"
// counts the API's requests from 1 and means each k-th; 0 is never, 1 is always.
type Behaviour struct {
	Timing
	Answers
	Life
	Memory
}

// Flags declares the behaviours: this is their table.
func (b *Behaviour) Flags(f *flag.FlagSet) {
	f.DurationVar(&b.Delay, "delay", 0, "service time of each request")
	f.BoolVar(&b.Busy, "busy", false, "burn CPU during -delay instead of sleeping")
	f.BoolVar(&b.Serial, "serial", false, "serve one request at a time: -delay for each, one after the other")
	f.IntVar(&b.Spin, "spin", 0, "do so many steps of integer arithmetic for each request, 1000 of them about 2 µs")
	f.DurationVar(&b.StallFor, "stall-for", 0, "answer nothing for so long, at each SIGUSR1 and at the end of each -stall-every")
	f.DurationVar(&b.StallEvery, "stall-every", 0, "period of the stalls, from the start of the server")
	f.DurationVar(&b.CollectFor, "collect-for", 0, "at each SIGUSR1 collect garbage, and let a loop hold up the collector's stop of the world for so long; needs GODEBUG=asyncpreemptoff=1")
	f.IntVar(&b.SlowFirst, "slow-first", 0, "the first k requests take -slow-delay longer")
	f.DurationVar(&b.SlowDelay, "slow-delay", 50*time.Millisecond, "see -slow-first")

	f.IntVar(&b.Silent, "silent", 0, "never answer 1 in k")
	f.IntVar(&b.Hangup, "hangup", 0, "close the connection instead of answering, 1 in k")
	f.IntVar(&b.Truncate, "truncate", 0, "send half the body of a 200 and close, 1 in k")
	f.IntVar(&b.ErrorBody, "error-body", 0, "status 200 with an error in the body, 1 in k")
	f.IntVar(&b.WrongBody, "wrong-body", 0, "a body of the right length with one byte changed, 1 in k")
	f.IntVar(&b.NotFound, "not-found", 0, "404, 1 in k")
	f.IntVar(&b.Broken, "broken", 0, "500, 1 in k")
	f.IntVar(&b.Redirect, "redirect", 0, "301 to the same path with a slash, 1 in k")

	f.BoolVar(&b.ExitAtOnce, "exit-at-once", false, "end with -exit-code before listening")
	f.DurationVar(&b.ExitAfter, "exit-after", 0, "end with -exit-code so long after being ready")
	f.IntVar(&b.ExitCode, "exit-code", 0, "see -exit-at-once, -exit-after and -worker-exit; SIGUSR2 ends it with this code too")
	f.DurationVar(&b.Late, "late", 0, "listen so long after the start")
	f.BoolVar(&b.NeverReady, "never-ready", false, "listen, but print no ready line")
	f.BoolVar(&b.NoListen, "no-listen", false, "print a ready line for a port that nobody listens on")
	f.IntVar(&b.SayPort, "say-port", 0, "print a ready line for this port, whoever listens on it")
	f.StringVar(&b.Token, "token", "", "answer /healthz with this token instead of the one given")
	f.IntVar(&b.SayWorkers, "say-workers", 0, "report so many workers, whatever was asked for")
	f.BoolVar(&b.AnyCPU, "any-cpu", false, "run on any CPU, whatever was asked for (Linux)")
	f.BoolVar(&b.IgnoreTerm, "ignore-term", false, "do not end on SIGTERM")
	f.IntVar(&b.StderrBefore, "stderr-before", 0, "write so many bytes to stderr before listening")
	f.IntVar(&b.StderrEach, "stderr-each", 0, "write a line of so many bytes to stderr for each request")
	f.BoolVar(&b.Grandchild, "grandchild", false, "fork a process that keeps the output open and outlives its parent")
	f.BoolVar(&b.Daemon, "daemon", false, "fork one that leaves the process group as well")
	f.IntVar(&b.Workers, "workers", 0, "serve from so many worker processes on one socket; also by WORKERS")
	f.BoolVar(&b.Fair, "fair", false, "workers take connections in turn")
	f.BoolVar(&b.OneWorker, "one-worker", false, "worker 0 takes all connections, the others none")
	f.BoolVar(&b.BusyWorker, "busy-worker", false, "worker 0 ignores SIGTERM and loops when its primary is gone")
	f.DurationVar(&b.WorkerExit, "worker-exit", 0, "worker 0 ends with -exit-code after so long")
	f.BoolVar(&b.Refork, "refork", false, "fork a new worker for one that ended")
	f.DurationVar(&b.Burn, "burn", 0, "before being ready use so much CPU time, times -burn-threads, in each process")
	f.IntVar(&b.BurnThreads, "burn-threads", 2, "threads that share the -burn")

	f.IntVar(&b.AllocateMiB, "allocate", 0, "hold so many MiB")
	f.IntVar(&b.NeedMiB, "need", 0, "hold as much as makes it need so many MiB in all (Linux)")
	f.IntVar(&b.ConnectionKiB, "connection", 0, "hold so many KiB more for each open connection")
	f.IntVar(&b.LeakBytes, "leak", 0, "keep so many bytes more with each request")
	f.StringVar(&b.KeepStore, "keep-store", "", "keep added users in this file, and start with those in it")

	f.IntVar(&b.worker, "worker", -1, "be this worker; set by the primary")
	f.BoolVar(&b.linger, "linger", false, "be the grandchild; set by its parent")
}

// hookWord is the first argument of a test binary that is to be a stub.
const hookWord = "stub"

// Argv is the command line that starts this very binary as a stub. The binary
// must call Hook first thing.
func Argv(flags ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return append([]string{exe, hookWord}, flags...)
}

// Hook makes a test binary the stub, and does not return, if it was started by
// Argv. Call it first thing in TestMain.
//
// It ends by the system call: os.Exit in a binary built with -race sleeps 1 s,
// and every stop of a stub would seem to take that long.
func Hook() {
	if len(os.Args) > 1 && os.Args[1] == hookWord {
		syscall.Exit(Main(os.Args[2:]))
	}
}
