//go:build linux || darwin

package archive

import "syscall"

// freeBytes is what an unprivileged user may still write.
func freeBytes(dir string) (free uint64, known bool, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false, err
	}
	return st.Bavail * uint64(st.Bsize), true, nil
}
