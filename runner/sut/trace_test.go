package sut

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// TestTraceLines: real lines, and how to get them.
func TestTraceLines(t *testing.T) {
	for _, c := range []struct {
		line    string
		pid     int
		written time.Duration
		pauses  []record.Pause
	}{
		{ // GODEBUG=gctrace=1 GOMAXPROCS=1 bin/server-go, go1.26.8 linux/amd64, under GET; 920 + 0.025 + 3.4 + 0.002
			"gc 2 @0.920s 0%: 0.025+3.4+0.002 ms clock, 0.025+0.59/1.8/0+0.002 ms cpu, 4->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 1 P",
			0, ms(923.427), []record.Pause{{Start: ms(920), Length: ms(0.025)}, {Start: ms(923.425), Length: ms(0.002)}}},
		{ // GODEBUG=asyncpreemptoff=1,gctrace=1 stub -collect-for=200ms, then SIGUSR1; 664 + 203 + 5.8 + 0.98
			"gc 1 @0.664s 12%: 203+5.8+0.98 ms clock, 407+0/10/0+1.9 ms cpu, 0->0->0 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)",
			0, ms(873.78), []record.Pause{{Start: ms(664), Length: ms(203)}, {Start: ms(872.8), Length: ms(0.98)}}},
		{ // node --trace-gc server-node/server.mjs, v20.20.2, under GET; 906 - 0.5 - 4.65
			"[13207:0x1952dca0]      906 ms: Scavenge 7.0 (9.6) -> 6.7 (10.4) MB, 4.65 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task; ",
			13207, ms(905.5), []record.Pause{{Start: ms(900.85), Length: ms(4.65)}}},
		{ // node --trace-gc -e "let a=[];for(let i=0;i<4e6;i++)a.push({i,s:'x'+i})", v20.20.2; 206 - 0.5 - 16.72
			"[13323:0x14bbeec0]      206 ms: Mark-Compact 72.5 (94.5) -> 58.0 (92.6) MB, 16.72 / 0.01 ms  (+ 39.7 ms in 63 steps since start of marking, biggest step 16.2 ms, walltime since start of marking 69 ms) (average mu = 1.000, current mu = 1.000) finalize incremental marking via stack guard; GC in old space requested",
			13323, ms(205.5), []record.Pause{{Start: ms(188.78), Length: ms(16.72)}}},
		{line: ""},
		{line: "gc"},
		{line: `{"ready":true,"port":36623,"pids":[13094]}`},
		{line: "GET /users/5 gc 2 @0.920s 0%: 0.025+3.4+0.002 ms clock, "}, // an access log that quotes one
		{line: "gc 2 @0.920s 0%: 0.025+3.4 ms clock, "},
		{line: "gc 2 @-0.920s 0%: 0.025+3.4+0.002 ms clock, "},
		{line: "gc 2 @0.920s 0%: 1.2.3+3.4+0.002 ms clock, "},
		{line: "gc 2 @0.920s 0%: NaN+3.4+0.002 ms clock, "},
		{line: "gc 2 @0.920s 0%: 0.025+3.4+999999999999 ms clock, "}, // 31 years
		{line: "gc 2 @" + strings.Repeat("9", 400) + ".000s 0%: 0.025+3.4+0.002 ms clock, "},
		{line: "[99999999999999999999:0x1]      906 ms: Scavenge 7.0 (9.6) -> 6.7 (10.4) MB, 4.65 / 0.00 ms "},
		{line: "[13207:0x1952dca0]      906 ms: Scavenge 7.0 (9.6) -> 6.7 (10.4) MB, -4.65 / 0.00 ms "},
		{line: "[13207:0x1952dca0]      906 ms: Scavenge 7.0 (9.6) -> 6.7"},
		{line: strings.Repeat("[1:0x1] 9 ms: ", 100_000)},
	} {
		got, ok := parse(c.line)
		if ok != (c.pauses != nil) {
			t.Errorf("%.90q: parsed is %v", c.line, ok)
			continue
		}
		for i, want := range c.pauses {
			near := func(a, b time.Duration) bool { return (a - b).Abs() < time.Microsecond }
			if len(got.pauses) != len(c.pauses) || got.pid != c.pid || !near(got.written, c.written) || !near(got.pauses[i].Start, want.Start) || !near(got.pauses[i].Length, want.Length) {
				t.Errorf("%.90q: got %+v", c.line, got)
			}
		}
	}
}

func TestTraceTurnedOn(t *testing.T) {
	for _, c := range []struct {
		argv, env []string
		want      record.Target
		traced    string
	}{
		{[]string{"node", "server.mjs"}, nil, record.Target{Argv: []string{"node", "--trace-gc", "server.mjs"}}, "trace-gc"},
		{[]string{"/opt/node/bin/node"}, nil, record.Target{Argv: []string{"/opt/node/bin/node", "--trace-gc"}}, "trace-gc"},
		{[]string{"bin/server-go"}, []string{"GOMAXPROCS=1"}, record.Target{Argv: []string{"bin/server-go"}, Env: []string{"GOMAXPROCS=1", "GODEBUG=gctrace=1"}}, "gctrace"},
		{[]string{"s"}, []string{"GODEBUG=a=1", "GODEBUG=b=2"}, record.Target{Argv: []string{"s"}, Env: []string{"GODEBUG=a=1", "GODEBUG=b=2", "GODEBUG=b=2,gctrace=1"}}, "gctrace"},
	} {
		l := &logFile{}
		before := fmt.Sprint(c.argv, c.env)
		if got := l.trace(record.Target{Argv: c.argv, Env: c.env}); !reflect.DeepEqual(got, c.want) || l.traced != c.traced {
			t.Errorf("%v %v: got %+v, %s", c.argv, c.env, got, l.traced)
		}
		if fmt.Sprint(c.argv, c.env) != before {
			t.Errorf("the plan's own target became %v %v", c.argv, c.env)
		}
	}
}

// TestRuntimeStart bounds when a runtime began by when its lines were seen. All lines
// are of one that began 40 ms after the fork.
func TestRuntimeStart(t *testing.T) {
	begun := time.Now()
	seen := func(at float64, size int64) sighting {
		return sighting{from: begun.Add(ms(at)), to: begun.Add(ms(at + 0.1)), size: size}
	}
	line := func(at int64, stamp float64) stamped { return stamped{at: at, written: ms(stamp)} }
	for _, c := range []struct {
		name        string
		sighted     []sighting
		lines       []stamped
		first, last time.Duration
	}{
		// The line stamped 20 was there at 100.1: began at most 80.1 after the fork.
		{"seen once", []sighting{seen(100, 50)}, []stamped{line(50, 20)}, 0, ms(80.1)},
		// And one stamped 70 to 71 was not yet there at 100: began at least 29 after it.
		{"the next was not there", []sighting{seen(100, 50)}, []stamped{line(50, 20), line(90, 70)}, ms(29), ms(80.1)},
		// At 200 that of 159 was there and that of 162 was not: 37 to 41.1.
		{"busy", []sighting{seen(100, 50), seen(200, 300)}, []stamped{line(50, 20), line(90, 70), line(300, 159), line(350, 162)}, ms(37), ms(41.1)},
		{"never seen", nil, []stamped{line(50, 20)}, 0, pauseLimit},
		// It cannot have been written 20 ms after a start and been there 10 ms after the fork.
		{"forged", []sighting{seen(10, 50)}, []stamped{line(50, 20)}, 0, ms(-9.9)},
	} {
		l := &logFile{sighted: c.sighted}
		if first, last := l.start(c.lines, begun); first != c.first || last != c.last {
			t.Errorf("%s: %v to %v, want %v to %v", c.name, first, last, c.first, c.last)
		}
	}
}

// TestLinesOfACutLog are where they were before it was cut.
func TestLinesOfACutLog(t *testing.T) {
	l := &logFile{path: filepath.Join(t.TempDir(), "log")}
	line := func(i int) string {
		return fmt.Sprintf("[7:0x1] %8d ms: Scavenge 7.0 (9.6) -> 6.7 (10.4) MB, 4.65 / 0.00 ms \n", i)
	}
	width := len(line(0))
	var whole strings.Builder
	for i := range 2 * logMax / width {
		whole.WriteString(line(i))
	}
	if err := os.WriteFile(l.path, []byte(whole.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.shorten(); err != nil || l.cut == 0 {
		t.Fatalf("cut %d, %v", l.cut, err)
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := l.lines(text)[7]
	if n := len(lines); n < logMax/width-2 || n > logMax/width {
		t.Errorf("%d lines of %d", n, logMax/width)
	}
	for _, s := range lines {
		if i := int64((s.written + stampStep/2) / time.Millisecond); s.at != (i+1)*int64(width) {
			t.Fatalf("line %d ends at %d, want %d", i, s.at, (i+1)*int64(width))
		}
	}
}
