package sut

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPausesAreWhereTheyWere: a Go process is made to stop its world at a time that
// it writes down, and the trace has to say the same, and nothing else.
func TestPausesAreWhereTheyWere(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-collect-for=80ms")
	s.Target.Env = append(s.Target.Env, "GODEBUG=asyncpreemptoff=1")
	s.Trace = true
	p := f.start(s)
	if err := syscall.Kill(p.PID(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	var from, to int64
	loop := regexp.MustCompile(`(?m)^loop \d+ \d+$`)
	trace := regexp.MustCompile(`(?m)^gc .* P \(forced\)$`)
	eventually(t, "the loop and the collection were written down", func() bool {
		text, err := os.ReadFile(s.LogPath)
		if err != nil || !trace.Match(text) {
			return false
		}
		n, _ := fmt.Sscanf(string(loop.Find(text)), "loop %d %d", &from, &to)
		return n == 2
	})
	forge(t, s.LogPath, "[1:0x1]      200 ms: Mark-Compact 7.0 (9.6) -> 6.7 (10.4) MB, 90.0 / 0.00 ms \n") // init is none of ours
	p.LogSize()
	stop(t, p, false)
	if p.Traced() != "gctrace" {
		t.Fatalf("traced %q", p.Traced())
	}
	pauses := p.Pauses()
	// On the clock of the trace: both clocks are read now, and neither is set meanwhile.
	now, _ := monotonicAt(time.Now())
	offset := now - time.Duration(time.Now().UnixNano())
	begin, end := time.Duration(from)+offset, time.Duration(to)+offset
	found := 0
	for _, x := range pauses {
		// It begins a little after the loop, and ends with it or, on a busy CPU, later.
		if x.Length < (end-begin)/2 {
			continue
		}
		found++
		if x.Start > end || x.Start+x.Late+x.Length < end || x.Start+x.Late < begin || x.Late > 2*p.Ready()+time.Second {
			t.Errorf("the loop ran from %v to %v, a pause of %v from %v to %v after", begin, end, x.Length, x.Start, x.Late)
		}
	}
	if found != 1 {
		t.Errorf("%d pauses as long as the loop in %+v", found, pauses)
	}
}

func forge(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		t.Fatal(err)
	}
}

// TestUntracedTellsNoPause: without the question there is no answer, and no line.
func TestUntracedTellsNoPause(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-collect-for=5ms")
	s.Target.Env = append(s.Target.Env, "GODEBUG=asyncpreemptoff=1")
	p := f.start(s)
	if err := syscall.Kill(p.PID(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it collected", func() bool { return strings.Contains(p.LogTail(1), "loop ") })
	stop(t, p, false)
	if p.Traced() != "" || p.Pauses() != nil {
		t.Errorf("traced %q, %v", p.Traced(), p.Pauses())
	}
}
