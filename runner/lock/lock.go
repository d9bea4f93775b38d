// Package lock lets one command at a time measure on a machine: the timed windows of
// two would spoil each other, and neither could tell.
//
// The lock is the kernel's (flock) on a file that stays where it is. It ends with
// the process that holds it, however that ends, so there is no such thing as a lock
// that somebody has to remove: what a killed holder left in the file is only text.
package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// File is where all users of a machine meet: /tmp, and not the folder for temporary
// files of each, nor a run-time folder of one of them. Containers with a /tmp of
// their own do not meet here, nor do services with a private one.
const File = "/tmp/gonogo.lock"

// Holder is who measures.
type Holder struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
	// Start tells the process apart from a later one of the same PID; "" is unknown.
	Start string `json:"process_start,omitempty"`
}

// String names the holder in a message.
func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that has not said which"
	}
	return fmt.Sprintf("process %d (%s), since %s", h.PID, h.Command, h.Since.Local().Format("2006-01-02 15:04:05 MST"))
}

// Held says that somebody else measures.
type Held struct{ Holder Holder }

func (e *Held) Error() string {
	return "another session measures on this machine: " + e.Holder.String()
}

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// settle is how long a holder is given to write who it is; it takes far less.
const settle = 200 * time.Millisecond

// Take takes the lock of a file for a command, or says at once, with a *Held, who
// has it. The process keeps it until Release or its end; its children do not
// inherit it.
func Take(path, command string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := await(f); err != nil {
		f.Close()
		if held := (*Held)(nil); errors.As(err, &held) {
			return nil, err
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := sign(f, Holder{os.Getpid(), time.Now().UTC().Truncate(time.Second), command, processStart(os.Getpid())}); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// await claims the file, or says who has it. A claim that fails without a holder
// met somebody who only looked, and is made again.
func await(f *os.File) error {
	for last := false; ; last = true {
		free, err := claim(f, true)
		if err != nil || free {
			return err
		}
		if h := named(f); h.PID != 0 || last {
			return &Held{h}
		}
	}
}

// Release gives the lock back. The file stays: to remove it would let two
// processes hold the lock of two files of one name.
func (l *Lock) Release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// Who tells who holds the lock of a file, without taking it; false if nobody does,
// or if that cannot be told.
func Who(path string) (Holder, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return Holder{}, false
	}
	defer f.Close()
	if free, err := claim(f, false); err != nil || free {
		return Holder{}, false
	}
	return named(f), true
}

// open makes the file if need be, for all users: whoever comes second has to be
// able to lock and to sign it. It never follows a link, which anybody may leave in
// /tmp.
func open(path string) (*os.File, error) {
	for range 3 {
		// Without O_CREATE first: Linux refuses to create over a file of another user in
		// a folder like /tmp (fs.protected_regular), even where it may be written.
		f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
		if err == nil {
			return f, regular(f)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o666)
		if err == nil {
			return f, f.Chmod(0o666) // whatever the umask
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	return nil, errors.New("it comes and goes")
}

func regular(f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
	}
	return err
}

func sign(f *os.File, h Holder) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(data, '\n'), 0)
	return err
}

// named reads who holds the lock. Between the lock and the signature of a holder
// the text is that of the one before, which is known by having ended.
func named(f *os.File) Holder {
	for deadline := time.Now().Add(settle); ; time.Sleep(5 * time.Millisecond) {
		var h Holder
		data := make([]byte, 4096)
		n, _ := f.ReadAt(data, 0)
		if json.Unmarshal(data[:n], &h) == nil && h.PID > 0 && lives(h) {
			return h
		}
		if time.Now().After(deadline) {
			return Holder{}
		}
	}
}

// lives tells whether a signature is that of a living process.
func lives(h Holder) bool {
	if !exists(h.PID) {
		return false
	}
	now := processStart(h.PID)
	return now == h.Start || now == "" || h.Start == ""
}
