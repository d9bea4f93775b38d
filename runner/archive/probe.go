package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonogo/runner/disk"
)

// minFree is what a session must find free: its records, twice (runs and
// benchmark.json), and its servers' logs, with a margin of three.
const minFree = 64 << 20

// Probe reports whether sessions can be kept in out, which it creates if need
// be: a folder, writable, with room. It is asked before the first run, for to
// learn it after the last one would cost all of them.
func Probe(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		if to, linkErr := os.Readlink(out); linkErr == nil { // mkdir says that a file exists
			return fmt.Errorf("use output folder %s: it is a link to %s, which is no folder", out, to)
		}
		return fmt.Errorf("use output folder: %w", err)
	}
	free, known, err := freeBytes(out)
	if err != nil {
		return fmt.Errorf("use output folder %s: %w", out, cause(err))
	}
	if known && free < minFree {
		return fmt.Errorf("use output folder %s: %d MiB free, %d needed", out, free>>20, minFree>>20)
	}
	return probeWrite(out)
}

// ProbeFile reports whether WriteFile can replace the file at path, which it leaves
// as it is.
func ProbeFile(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return fmt.Errorf("use output file %s: it is a folder", path)
	}
	return probeWrite(filepath.Dir(path))
}

// probeWrite writes into a folder, and leaves nothing.
func probeWrite(out string) error {
	// Free space is not all: a quota or a limit on file size shows only in a write.
	probe := filepath.Join(out, probeName+random())
	err := writeBytes(probe, make([]byte, 1<<20))
	// It may be there all the same, when it is its folder that could not be synced.
	if rm := disk.Remove(probe); !errors.Is(rm, fs.ErrNotExist) {
		err = join(err, rm)
	}
	if err != nil {
		return fmt.Errorf("use output folder: %w", err)
	}
	return nil
}
