package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// proc is a living process.
type proc struct {
	pid  int
	argv string
}

// matching lists the living processes of which a file in /proc/<pid> holds text.
// It reads /proc by other means than the code under test.
func matching(file, text string) []proc {
	paths, err := filepath.Glob("/proc/[0-9]*/" + file)
	if err != nil {
		panic(err)
	}
	var found []proc
	for _, path := range paths {
		dir := filepath.Dir(path)
		data, err := os.ReadFile(path)
		if file == "cwd" || file == "exe" {
			var to string
			to, err = os.Readlink(path)
			data = []byte(to)
		}
		if err != nil || !bytes.Contains(data, []byte(text)) {
			continue // an error: it has ended, or is a zombie
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		argv, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if len(argv) > 0 { // a zombie has none
			found = append(found, proc{pid, strings.TrimSpace(strings.ReplaceAll(string(argv), "\x00", " "))})
		}
	}
	return found
}

// processes are all that was started from a user's shell and lives: the
// environment carries its HOME on.
func (u *user) processes() []proc { return matching("environ", "HOME="+u.dir+"\x00") }

// endLeft ends what a test that has failed left behind.
func (u *user) endLeft() {
	for _, p := range u.processes() {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// count tells how many of them have a command line that holds text.
func (u *user) count(text string) int { return count(u.processes(), text) }

func count(all []proc, text string) int {
	n := 0
	for _, p := range all {
		if strings.Contains(p.argv, text) {
			n++
		}
	}
	return n
}

// runningFrom lists what runs in or from a folder, whatever its environment.
func runningFrom(dir string) []string {
	var found []string
	for _, p := range append(matching("cwd", dir), matching("exe", dir)...) {
		found = append(found, p.argv)
	}
	return found
}
