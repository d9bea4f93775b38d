package stub

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// leaveCPUs lets the process run on every CPU, whatever it was started on. Only a
// thread can be moved, and the others are there already, so the moved one becomes the
// whole process by starting the program again, under the same number.
func leaveCPUs() error {
	args := slices.DeleteFunc(slices.Clone(os.Args), func(a string) bool { return strings.TrimLeft(a, "-") == "any-cpu" })
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	var all [128]byte // 1024 CPUs; the kernel leaves out what is not there
	for i := range all {
		all[i] = 0xff
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, uintptr(len(all)), uintptr(unsafe.Pointer(&all))); errno != 0 {
		return fmt.Errorf("leave CPUs: %w", errno)
	}
	return syscall.Exec(exe, args, os.Environ())
}
