package cgroup

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Uncache drops a file from the page cache, as far as no process maps it. Pages are
// charged to the group that first reads them: a program that an earlier run has left in
// the cache would cost a later one nothing, and a container on a fresh machine all.
func Uncache(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("drop from page cache: %w", err)
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("drop %s from page cache: %w", path, err)
	}
	return nil
}
