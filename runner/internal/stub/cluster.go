package stub

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// The descriptors that a forked stub inherits, the last two a worker only.
const (
	upFD     = 3
	socketFD = 4
	countsFD = 5
)

// startAndAwait starts a forked stub and returns when it says that it is up:
// before, a SIGTERM would end one that is to ignore it.
func startAndAwait(cmd *exec.Cmd) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = append([]*os.File{w}, cmd.ExtraFiles...)
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("forked stub %d ended before it was up: %w", cmd.Process.Pid, err)
	}
	return nil
}

// sayUp is what startAndAwait waits for.
func sayUp() {
	f := os.NewFile(upFD, "up")
	f.Write([]byte{1})
	f.Close()
}

// cluster is the primary's view of its workers.
type cluster struct {
	b      *Behaviour
	socket *os.File
	counts *os.File
	pids   []int
	hold   []io.Closer // ends of pipes: a worker whose pipe closes has lost its primary
	ended  chan ended
}

type ended struct{ worker, code int }

// runCluster serves from workers that share one socket.
func (b *Behaviour) runCluster(l *net.TCPListener, term <-chan os.Signal) (int, error) {
	socket, err := blockingFile(l)
	if err != nil {
		return 0, err
	}
	counts, err := shareCounts()
	if err != nil {
		return 0, err
	}
	addr := l.Addr()
	l.Close()
	c := &cluster{b: b, socket: socket, counts: counts, ended: make(chan ended)}
	for i := range b.Workers {
		if err := c.fork(i); err != nil {
			return 0, err
		}
	}
	b.announce(addr, append([]int{os.Getpid()}, c.pids...))
	return c.await(term)
}

// blockingFile is the listener's socket in a File that believes it to be
// blocking already. Of any other, each fork would make the socket blocking under
// the workers that serve on it, and an accept that blocks cannot be closed.
func blockingFile(l *net.TCPListener) (*os.File, error) {
	f, err := l.File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "socket"), nil
}

func (c *cluster) fork(i int) error {
	cmd := c.b.again("-worker=" + strconv.Itoa(i))
	cmd.ExtraFiles = []*os.File{c.socket, c.counts}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := startAndAwait(cmd); err != nil {
		return err
	}
	c.pids = append(c.pids, cmd.Process.Pid)
	c.hold = append(c.hold, in)
	go func() { c.ended <- ended{i, exitCode(cmd.Wait())} }()
	return nil
}

// await ends with the workers after SIGTERM, and before that replaces those
// that ended, if it is to.
func (c *cluster) await(term <-chan os.Signal) (int, error) {
	exit := after(c.b.ExitAfter)
	alive, stopping := c.b.Workers, false
	for {
		select {
		case <-exit:
			return c.b.ExitCode, nil
		case <-time.After(longest):
			return 1, nil
		case <-term:
			stopping = true
			for _, pid := range c.pids {
				syscall.Kill(pid, syscall.SIGTERM)
			}
		case e := <-c.ended:
			alive--
			if c.b.Refork && !stopping {
				if err := c.fork(e.worker); err != nil {
					return 0, err
				}
				alive++
			}
			if alive == 0 {
				return 0, nil
			}
		}
	}
}

// runWorker serves on the inherited socket until told to end, or until the
// primary is gone.
func (b *Behaviour) runWorker(term chan os.Signal) (int, error) {
	b.burn()
	l, err := net.FileListener(os.NewFile(socketFD, "socket"))
	if err != nil {
		return 0, fmt.Errorf("worker %d: %w", b.worker, err)
	}
	counts, err := mapCounts(os.NewFile(countsFD, "counts"))
	if err != nil {
		return 0, fmt.Errorf("worker %d: %w", b.worker, err)
	}
	if b.Fair && !b.OneWorker {
		l = &turns{Listener: l, counts: counts, index: b.worker, workers: b.Workers}
	}
	s := newServer(*b, l, counts, b.worker)
	if !b.OneWorker || b.worker == 0 {
		go s.serve()
	}
	own := *b
	own.ExitAfter = 0
	if b.worker == 0 {
		own.ExitAfter = b.WorkerExit
	}
	busy := b.BusyWorker && b.worker == 0
	if busy {
		term = nil
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		if !busy {
			term <- syscall.SIGTERM
			return
		}
		for begin := time.Now(); time.Since(begin) < longest; {
		}
	}()
	sayUp()
	return own.await(s, term), nil
}

// shareCounts makes the memory in which workers count: an unlinked file that
// they all map.
func shareCounts() (*os.File, error) {
	f, err := os.CreateTemp("", "stub-counts-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return f, f.Truncate(int64(unsafe.Sizeof(counts{})))
}

func mapCounts(f *os.File) (*counts, error) {
	size := int(unsafe.Sizeof(counts{}))
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*counts)(unsafe.Pointer(&b[0])), nil
}
