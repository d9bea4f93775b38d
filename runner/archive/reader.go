package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// reader reads the files of one session and keeps account of their size.
type reader struct {
	root *os.Root // never leaves the folder, whatever links lie in it
	size size
	sums map[string]string
}

// size is what a session amounts to so far.
type size struct {
	bytes  int64
	values int
}

// add bounds the whole session. Values are counted by their commas: a few too
// many when texts hold commas, never too few.
func (s *size) add(data []byte) error {
	s.bytes += int64(len(data))
	s.values += bytes.Count(data, []byte{','})
	switch {
	case s.bytes > maxTotal:
		return fmt.Errorf("the session exceeds %d MiB", maxTotal>>20)
	case s.values > maxValues:
		return fmt.Errorf("the session exceeds %d values", maxValues)
	}
	return nil
}

func (r *reader) optional(name string, v any) (bool, error) {
	err := r.decode(name, v)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (r *reader) decode(name string, v any) error {
	data, err := r.read(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, cause(err))
	}
	r.sums[name] = sum(data)
	if err := r.size.add(data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (r *reader) read(name string) ([]byte, error) {
	info, err := r.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a named pipe would wait for ever
		return nil, errors.New("not a regular file")
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMost(f, maxFile)
}

// verify holds what was read against the seal.
func (r *reader) verify(sealed map[string]string) error {
	for _, name := range sortedNames(sealed) {
		got, read := r.sums[name]
		switch {
		case !read:
			return fmt.Errorf("%q: missing, but %s lists it", name, sealFile)
		case got != sealed[name]:
			return fmt.Errorf("%q: altered since the session ended: its SHA-256 is not the one in %s", name, sealFile)
		}
	}
	for _, name := range sortedNames(r.sums) {
		if _, listed := sealed[name]; !listed && name != sealFile {
			return fmt.Errorf("%q: added since the session ended: %s does not list it", name, sealFile)
		}
	}
	return nil
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func readMost(f io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("larger than %d MiB", most>>20)
	}
	return data, nil
}

// unmarshal is json.Unmarshal for whole files only. A number cut after its first
// digits is still a number, and a file cut before its last newline still parses.
func unmarshal(data []byte, v any) error {
	if len(data) == 0 {
		return errors.New("empty")
	}
	if data[len(data)-1] != '\n' {
		return errors.New("truncated: it does not end in a newline")
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("truncated or damaged: %w", err)
	}
	return nil
}
