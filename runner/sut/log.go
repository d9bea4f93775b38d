package sut

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"gonogo/runner/disk"
)

const (
	logMax  = 1 << 20 // a longer log is cut when the target has ended
	tailMax = 8 << 10 // bytes of a tail

	// While the target runs, the disk holds at most logRunning of its log and what it
	// writes in logEvery; where a file system cannot give space back, at most logLast.
	logRunning = 4 * logMax
	logEvery   = 250 * time.Millisecond
	logLast    = 256 << 20
)

// logFile is a target's output. The target writes into the file itself, through
// no pipe: nobody has to read for it to go on.
type logFile struct {
	path string
	file *os.File // for the child; ours is closed once it runs
	cut  int64    // bytes that trim took out
	note int64    // bytes that trim put in

	stop    chan struct{} // closed when nobody writes any more
	watched chan error    // what watch ends with
	freed   int64         // up to where free has given space back

	traced  string // how its runtime was asked to tell of its pauses; "" for not at all
	sighted []sighting
}

func createLog(path string) (*logFile, error) {
	// O_APPEND, so that the two streams do not write over each other.
	f, err := disk.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	return &logFile{path: path, file: f, stop: make(chan struct{}), watched: make(chan error, 1)}, nil
}

// watch keeps a log from filling the disk while its target runs: it frees the middle
// of the file, of which trim would keep nothing. The target notices nothing of it. A
// look is one stat(2), so it disturbs no window. Where that cannot be done, a target
// that writes logLast is ended.
func (l *logFile) watch(end func()) {
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			l.watched <- nil
			return
		case <-tick.C:
		}
		info, err := os.Stat(l.path)
		if err != nil || info.Size()-l.freed < logRunning {
			continue
		}
		if err := l.free(info.Size()); err != nil && info.Size() > logLast {
			l.watched <- fmt.Errorf("it wrote more than %d MiB into its log, of which nothing can be freed here: %w", logLast>>20, err)
			end()
			return
		}
	}
}

// free gives back what lies between the first and the last half of logMax. Both ends
// are whole blocks, for only those can be.
func (l *logFile) free(size int64) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	from, to := max(l.freed, logMax/2), (size-logMax/2)&^(logBlock-1)
	if err := punch(f, from, to-from); err != nil {
		return err
	}
	l.freed = to
	return nil
}

const logBlock = 64 << 10 // no block of a file system is larger

// size is the number of bytes written by the target, 0 if the file is gone.
func (l *logFile) size() int64 {
	info, err := os.Stat(l.path)
	if err != nil {
		return 0
	}
	return info.Size() + l.cut - l.note
}

// tail is the last lines, without the newline that ends the last one.
func (l *logFile) tail(lines int) string {
	f, err := os.Open(l.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(info.Size(), tailMax))
	n, err := f.ReadAt(b, info.Size()-int64(len(b)))
	if err != nil && err != io.EOF {
		return ""
	}
	b = bytes.TrimRight(b[:n], "\n")
	for at, left := len(b), lines; ; left-- {
		if left == 0 {
			return string(b[at+1:])
		}
		if at = bytes.LastIndexByte(b[:at], '\n'); at < 0 {
			return string(b)
		}
	}
}

// trim keeps the first and the last half of logMax, once nobody writes any more. It
// ends watch, and tells what that says.
func (l *logFile) trim() error {
	close(l.stop)
	return errors.Join(<-l.watched, l.shorten())
}

func (l *logFile) shorten() error {
	info, err := os.Stat(l.path)
	if err != nil || info.Size() <= logMax {
		return err
	}
	if err := l.rewrite(info.Size()); err != nil {
		return fmt.Errorf("cut log: %w", err)
	}
	return nil
}

func (l *logFile) rewrite(size int64) (err error) {
	in, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	// A name that a resume knows for a leftover, should this process be killed.
	out, err := disk.OpenFile(fmt.Sprintf("%s.%d", l.path, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			disk.Close(out)
			disk.Remove(out.Name())
		}
	}()
	cut := size - logMax
	note := fmt.Sprintf("\n[gonogo: %d bytes cut out here]\n", cut)
	parts := io.MultiReader(io.NewSectionReader(in, 0, logMax/2), bytes.NewReader([]byte(note)), io.NewSectionReader(in, size-logMax/2, logMax/2))
	if _, err := io.Copy(output{out}, parts); err != nil {
		return err
	}
	if err := disk.Close(out); err != nil {
		return err
	}
	if err := disk.Rename(out.Name(), l.path); err != nil {
		return err
	}
	l.cut, l.note = cut, int64(len(note))
	return nil
}

// output is a file that is written to by calls of package disk.
type output struct{ file *os.File }

func (o output) Write(b []byte) (int, error) { return disk.Write(o.file, b) }
