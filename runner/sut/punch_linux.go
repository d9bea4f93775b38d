package sut

import (
	"os"

	"golang.org/x/sys/unix"
)

// punch gives the space of a part of a file back. The file stays as long as it is,
// and who appends to it goes on. A test puts a file system in its place that cannot.
var punch = func(f *os.File, from, length int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, length)
}
