package sut

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// The ways to make a runtime write each of its pauses into its log.
const (
	goTrace   = "gctrace"
	nodeTrace = "trace-gc"
)

// trace returns the target with its runtime told to write its pauses. Node takes the
// flag on its command line only, not from NODE_OPTIONS, and hands it on to the workers
// of a cluster. What does not start as node gets Go's setting, which all else ignores,
// but for Bun and Deno, which are not asked.
func (l *logFile) trace(t record.Target) record.Target {
	switch filepath.Base(t.Argv[0]) {
	case "bun", "deno": // how they would be asked is not known
		return t
	case "node":
		l.traced = nodeTrace
		t.Argv = slices.Concat(t.Argv[:1], []string{"--trace-gc"}, t.Argv[1:])
		return t
	}
	l.traced = goTrace
	setting := "GODEBUG=gctrace=1"
	for _, e := range t.Env { // of two equal names the last counts
		if v, ok := strings.CutPrefix(e, "GODEBUG="); ok && v != "" {
			setting = "GODEBUG=" + v + ",gctrace=1"
		}
	}
	t.Env = append(slices.Clip(t.Env), setting)
	return t
}

// sighting is a look at the size of a log. What lies below the size was written
// before the second moment, what lies above it after the first.
type sighting struct {
	from, to time.Time
	size     int64
}

// sight looks at the size of a traced log: the stamps in it count from a start that
// the runtime does not tell, and are tied to our clock by when they were there.
func (l *logFile) sight() {
	if l.traced == "" {
		return
	}
	s := sighting{from: time.Now()}
	if info, err := os.Stat(l.path); err == nil {
		s.size, s.to = info.Size(), time.Now()
		l.sighted = append(l.sighted, s)
	}
}

// stamped is a line of a log that tells of pauses. Times count from when the runtime
// of the process began.
type stamped struct {
	at      int64         // offset of the line's end in the log
	pid     int           // 0 where the line does not say
	written time.Duration // earliest moment at which it can have been written
	pauses  []record.Pause
}

const (
	stampStep  = time.Millisecond // a stamp is a whole number of these
	pauseLeast = time.Millisecond // shorter ones are not kept
	pausesMost = 4096             // of one run; beyond it the longest are kept
	pauseLimit = time.Hour        // no pause and no stamp is longer
)

// Of Go 1.26 (runtime.gcMarkTermination; pauses are the first and the third of the
// clock times, the second runs beside the program; the stamp is of the start), and
// of V8 11 to 13 (Heap's tracer; the stamp is of the end, when the line is printed).
var (
	goLine = regexp.MustCompile(`^gc \d{1,9} @(\d{1,6}\.\d{3})s \d{1,3}%(?: \([a-z ]+\))?: (\d[\d.]{0,12})\+(\d[\d.]{0,12})\+(\d[\d.]{0,12}) ms clock, `)

	nodeLine = regexp.MustCompile(`^\[(\d{1,9}):0x[0-9a-f]+(?::\d+)?\] +(\d{1,10}) ms: [A-Z][A-Za-z-]+(?: \([a-z -]+\))* [\d.]+ \([\d.]+\) -> [\d.]+ \([\d.]+\) MB, (?:pooled: [\d.]+ MB, )?(\d[\d.]{0,12}) / [\d.]+ ms `)
)

// parse reads a line; false for one that tells of no pause, whoever wrote it.
func parse(line string) (stamped, bool) {
	if m := goLine.FindStringSubmatch(line); m != nil {
		at, ok := duration(m[1], time.Second)
		sweep, ok1 := duration(m[2], time.Millisecond)
		mark, ok2 := duration(m[3], time.Millisecond)
		end, ok3 := duration(m[4], time.Millisecond)
		return stamped{written: at + sweep + mark + end,
			pauses: []record.Pause{{Start: at, Length: sweep}, {Start: at + sweep + mark, Length: end}}}, ok && ok1 && ok2 && ok3
	}
	if m := nodeLine.FindStringSubmatch(line); m != nil {
		pid, err := strconv.Atoi(m[1])
		at, ok := duration(m[2], time.Millisecond)
		length, ok1 := duration(m[3], time.Millisecond)
		at -= stampStep / 2 // it is rounded, Go's is cut
		return stamped{pid: pid, written: at, pauses: []record.Pause{{Start: at - length, Length: length}}}, err == nil && ok && ok1
	}
	return stamped{}, false
}

func duration(text string, unit time.Duration) (time.Duration, bool) {
	v, err := strconv.ParseFloat(text, 64)
	d := time.Duration(v * float64(unit))
	return d, err == nil && v >= 0 && v <= float64(pauseLimit/unit)
}

// Traced is how the runtime was asked to tell of its pauses; "" for not at all.
func (p *Process) Traced() string { return p.log.traced }

// Pauses are the pauses of 1 ms and more that the target's runtime told of, on
// CLOCK_MONOTONIC, in order of their starts. Call it after Stop. None where it was
// not traced, or where the clock of this system cannot be told; lines that are not
// the runtime's, or that contradict when they were seen, tell of none.
func (p *Process) Pauses() []record.ServerPause {
	zero, ok := monotonicAt(p.begun)
	if p.log.traced == "" || !ok {
		return nil
	}
	text, err := os.ReadFile(p.log.path)
	if err != nil {
		return nil
	}
	var all []record.ServerPause
	for pid, lines := range p.log.lines(text) {
		if pid != 0 && !slices.Contains(p.pids, pid) {
			continue
		}
		first, last := p.log.start(lines, p.begun)
		last = min(last, p.ready) // it answered
		for _, l := range lines {
			for _, x := range l.pauses {
				if x.Length >= pauseLeast && first <= last {
					all = append(all, record.ServerPause{PID: pid, Late: last - first + stampStep,
						Hiccup: record.Hiccup{Start: zero + first + x.Start, Length: x.Length}})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b record.ServerPause) int { return -cmp.Compare(a.Length, b.Length) })
	all = all[:min(len(all), pausesMost)]
	slices.SortFunc(all, func(a, b record.ServerPause) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	return all
}

// lines are those of each process that tell of pauses, in order. A log that was cut
// lost some from its middle.
func (l *logFile) lines(text []byte) map[int][]stamped {
	all := map[int][]stamped{}
	at := int64(0)
	for line := range strings.Lines(string(text)) {
		at += int64(len(line))
		if l.cut > 0 && at == logMax/2+l.note {
			at += l.cut - l.note
		}
		if s, ok := parse(line); ok {
			s.at = at
			all[s.pid] = append(all[s.pid], s)
		}
	}
	return all
}

// start bounds when a runtime began, from when a process was forked: a line that was
// seen had been written, so the runtime began no later than its stamp before that
// moment; one that was not there yet was written after it.
func (l *logFile) start(lines []stamped, begun time.Time) (first, last time.Duration) {
	last = pauseLimit
	for _, s := range l.sighted {
		for _, line := range lines {
			if line.at <= s.size {
				last = min(last, s.to.Sub(begun)-line.written)
			} else {
				first = max(first, s.from.Sub(begun)-line.written-stampStep)
			}
		}
	}
	return first, last
}
