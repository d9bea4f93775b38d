package sut

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	logMax  = 1 << 20 // a longer log is cut when the target has ended
	tailMax = 8 << 10 // bytes of a tail
)

// logFile is a target's output. The target writes into the file itself, through
// no pipe: nobody has to read for it to go on.
type logFile struct {
	path string
	file *os.File // for the child; ours is closed once it runs
	cut  int64    // bytes that trim took out
	note int64    // bytes that trim put in

	traced  string // how its runtime was asked to tell of its pauses; "" for not at all
	sighted []sighting
}

func createLog(path string) (*logFile, error) {
	// O_APPEND, so that the two streams do not write over each other.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	return &logFile{path: path, file: f}, nil
}

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

// trim keeps the first and the last half of logMax, once nobody writes any more.
func (l *logFile) trim() error {
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
	out, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			out.Close()
			os.Remove(out.Name())
		}
	}()
	cut := size - logMax
	note := fmt.Sprintf("\n[gonogo: %d bytes cut out here]\n", cut)
	parts := io.MultiReader(io.NewSectionReader(in, 0, logMax/2), bytes.NewReader([]byte(note)), io.NewSectionReader(in, size-logMax/2, logMax/2))
	if _, err := io.Copy(out, parts); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), l.path); err != nil {
		return err
	}
	l.cut, l.note = cut, int64(len(note))
	return nil
}
