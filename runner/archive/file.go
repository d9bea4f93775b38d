package archive

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Every byte that an archive writes passes through this file.

// WriteFile makes path hold what write gives it, whole or not at all: a
// temporary file in the same folder, then write, sync, close and rename, and a
// sync of the folder. On an error what was at path before is untouched and the
// temporary file is gone.
func WriteFile(path string, write func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, cause(err))
		}
	}()
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	temp := filepath.Join(dir, "."+name+"."+random()+".tmp")
	// Not os.CreateTemp: its files are for the owner alone, and an archive is to
	// be read by others.
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := fill(f, write); err != nil {
		return join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return join(err, os.Remove(temp))
	}
	return syncDir(dir)
}

// fill writes, syncs and closes. A disk that is full may say so at any of them.
func fill(f *os.File, write func(*os.File) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	return join(err, f.Close())
}

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
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return join(err, d.Close())
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
	return WriteFile(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// random gives six hexadecimal digits.
func random() string {
	var b [3]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
