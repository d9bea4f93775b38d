package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// peer is another generator: its command for so many connections, seconds and a
// URL, and where it tells how many requests it made.
type peer struct {
	name  string
	argv  string // fields; {c} {d} {url} are replaced
	count *regexp.Regexp
}

// peers on one thread where they can be told so. The first is what the targets
// are ratios to.
var peers = []peer{
	{"wrk", "wrk -t1 -c{c} -d{d}s {url}", regexp.MustCompile(`(\d+) requests in`)},
	{"ab", "ab -q -k -c {c} -t {d} -n 100000000 {url}", regexp.MustCompile(`Complete requests:\s+(\d+)`)},
	{"h2load", "h2load --h1 -t1 -c {c} -D {d} {url}", regexp.MustCompile(`requests: (\d+) total`)},
	{"bombardier", "bombardier -p r -c {c} -d {d}s {url}", regexp.MustCompile(`2xx - (\d+)`)},
	{"hey", "hey -c {c} -z {d}s {url}", regexp.MustCompile(`\[200\]\s+(\d+) responses`)},
	{"autocannon", "autocannon --json -c {c} -d {d} {url}", regexp.MustCompile(`"2xx":(\d+)`)},
}

// found are the peers on PATH.
func found() (list []peer) {
	for _, p := range peers {
		if _, err := exec.LookPath(strings.Fields(p.argv)[0]); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// cost runs a peer and returns its CPU time per request, of its whole life.
func (b *bench) cost(p peer, address string, connections int, window time.Duration) (time.Duration, error) {
	fill := strings.NewReplacer("{c}", strconv.Itoa(connections), "{d}", strconv.Itoa(int(window.Seconds())), "{url}", "http://"+address+"/users/500")
	var argv []string
	for _, field := range strings.Fields(p.argv) {
		argv = append(argv, fill.Replace(field))
	}
	cmd := b.command(generatorCPU, argv...)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", p.name, err)
	}
	m := p.count.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("read %s: no number of requests in its output", p.name)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil || n == 0 {
		return 0, errors.Join(fmt.Errorf("read %s: %d requests", p.name, n), err)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(n), nil
}
