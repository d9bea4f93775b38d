package archive

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"gonogo/runner/disk"
)

// Every byte that an archive writes passes through this file, by calls of package
// disk.

// WriteFile makes path hold what write gives it, whole or not at all: a
// temporary file in the same folder, then write, sync, close and rename, and a
// sync of the folder. On an error what was at path before is untouched and the
// temporary file is gone, as far as the disk still does what it is told; only when
// the last sync fails is path replaced already, and may not outlive a power cut.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	temp := filepath.Join(dir, "."+name+"."+random()+tempSuffix)
	// Not os.CreateTemp: its files are for the owner alone, and an archive is to
	// be read by others.
	f, err := disk.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return step(err)
	}
	if err := fill(f, write); err != nil {
		return join(err, step(disk.Remove(temp)))
	}
	if err := disk.Rename(temp, path); err != nil {
		return join(step(err), step(disk.Remove(temp)))
	}
	return syncDir(dir)
}

// fill writes, syncs and closes. A disk that is full may say so at any of them.
func fill(f *os.File, write func(io.Writer) error) error {
	err := write(output{f})
	if err == nil {
		err = disk.Sync(f)
	}
	return join(step(err), step(disk.Close(f)))
}

// output is a file that can be written to and nothing else.
type output struct{ file *os.File }

func (o output) Write(b []byte) (int, error) { return disk.Write(o.file, b) }

// join is errors.Join that leaves a lone error as it is, for cause to see.
func join(err, also error) error {
	if err == nil {
		return also
	}
	if also == nil {
		return err
	}
	return errors.Join(err, also)
}

// syncDir makes a rename in dir outlive a power cut. Some file systems cannot
// sync a folder and say so; there is nothing more to be done then.
func syncDir(dir string) error {
	d, err := disk.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("sync its folder: %w", step(err))
	}
	err = disk.Sync(d)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if err = join(step(err), step(disk.Close(d))); err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	return nil
}

// step drops the path of a file error, as cause does, and keeps which step of many
// failed: that a sync did is another matter than that a write did.
func step(err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) && err == error(e) {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) && err == error(e) {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}

// cause drops the path of a file error: the temporary name tells a reader
// nothing, and the error already names the file that was asked for.
func cause(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// encode gives v as indented JSON and a final newline, which load takes as the
// sign that a file is whole.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeBytes(path string, data []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// random gives six hexadecimal digits.
func random() string {
	var b [3]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
