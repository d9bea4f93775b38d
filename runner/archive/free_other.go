//go:build !linux && !darwin

package archive

// freeBytes is not known on this system.
func freeBytes(string) (free uint64, known bool, err error) { return 0, false, nil }
