package soak

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// process reads the accounts of this process, and counts the living processes that
// carry the soak's folder as their HOME.
func process(dir string) Sample {
	var s Sample
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		n := len(fds) - 1 // the one that reads
		s.Descriptors = &n
	}
	if n, ok := field("/proc/self/status", "Threads:"); ok {
		s.Threads = &n
	}
	if kib, ok := field("/proc/self/smaps_rollup", "Rss:"); ok {
		b := int64(kib) << 10
		s.ResidentBytes = &b
	}
	if paths, err := filepath.Glob("/proc/[0-9]*/environ"); err == nil {
		n := 0
		for _, path := range paths {
			env, err := os.ReadFile(path) // fails for one that has ended, and is empty for a zombie
			if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00HOME="+dir+"\x00")) && filepath.Dir(path) != self {
				n++
			}
		}
		s.Processes = &n
	}
	return s
}

var self = "/proc/" + strconv.Itoa(os.Getpid())

// field reads the number after a name at the start of a line.
func field(path, name string) (int, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			words := bytes.Fields(rest)
			if len(words) == 0 {
				return 0, false
			}
			n, err := strconv.Atoi(string(words[0]))
			return n, err == nil
		}
	}
	return 0, false
}
