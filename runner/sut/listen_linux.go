package sut

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// listens reports whether one of the processes listens on a port, and whether that
// can be told. It stands for the token that a foreign server does not know.
func listens(port int, pids []int) (mine, known bool) {
	var sockets []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // without IPv6 there is one
		}
		sockets = append(sockets, listeners(f, port)...)
		f.Close()
	}
	for _, pid := range pids {
		p, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		files, err := p.FileDescriptorTargets()
		if err != nil {
			return false, false // one that we may not look into
		}
		if slices.ContainsFunc(files, func(f string) bool { return slices.Contains(sockets, f) }) {
			return true, true
		}
	}
	return false, len(sockets) > 0
}

// listeners are the sockets of a table that take connections on a port, as
// /proc/PID/fd names them. Fields: proc_pid_net(5); state 0A is TCP_LISTEN.
func listeners(table io.Reader, port int) (sockets []string) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
			sockets = append(sockets, "socket:["+f[9]+"]")
		}
	}
	return sockets
}
