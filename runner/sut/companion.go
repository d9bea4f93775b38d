package sut

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

// members are all processes that make up the target, in the order of their start.
func (p *Process) members() []*Process {
	if p.foreign == nil {
		return []*Process{p}
	}
	return append(slices.Clone(p.foreign.before), p)
}

// watchAll makes the end of any member that of the target.
func (p *Process) watchAll() {
	if len(p.foreign.before) == 0 {
		return
	}
	p.foreign.ended = make(chan struct{})
	var once sync.Once
	for _, m := range p.members() {
		go func() {
			<-m.exited
			once.Do(func() { close(p.foreign.ended) })
		}()
	}
}

// part reports whether the process is a companion of a target.
func (p *Process) part() bool { return p.foreign != nil && p.foreign.part }

// endCompanions stops them in the reverse of the order in which they were started:
// what needs another goes before it.
func (p *Process) endCompanions(s *record.Stop) (err error) {
	if p.foreign == nil {
		return nil
	}
	for _, c := range slices.Backward(p.foreign.before) {
		stopped, stopErr := c.Stop()
		s.Killed, err = s.Killed || stopped.Killed, errors.Join(err, stopErr)
	}
	return err
}

// openLog gives the file that the process writes into. All processes of a foreign
// target write into one, which is there before the first of them.
func (p *Process) openLog() (*logFile, error) {
	if p.log != nil {
		return p.log, nil
	}
	return createLog(p.spec.LogPath)
}

// again opens the file of a log for one more process.
func (l *logFile) again() (*logFile, error) {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &logFile{path: l.path, file: f}, nil
}

// signal is what the target is asked to end with.
func (p *Process) signal() syscall.Signal {
	if p.foreign != nil && p.foreign.StopSignal != "" {
		if s := unix.SignalNum(p.foreign.StopSignal); s != 0 {
			return s
		}
	}
	return syscall.SIGTERM
}
