package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// meter is a hiccup meter: a process of its own that notes when a CPU did not
// run a thread that was due.
type meter struct {
	cmd   *exec.Cmd
	guard *sut.Guard
	in    io.WriteCloser
	lines chan []byte // closed when its output ends
}

// meterPatience is how long a meter may take to say what it is asked for.
const meterPatience = 5 * time.Second

// startMeter watches the generator's CPUs, and those that nobody uses: a hiccup
// there at the same moment tells a stall of the machine from a busy CPU. It
// returns when all are being watched.
func (s *step) startMeter() (*meter, error) {
	if len(s.Meter) == 0 || len(s.target.GeneratorCPUs) == 0 {
		return nil, nil
	}
	used := slices.Concat(s.target.CPUs, s.target.GeneratorCPUs)
	spare := host.Spare(used)
	spare = spare[:min(len(spare), 1)] // one tells; each more is load of our own
	watch := slices.Concat(s.target.GeneratorCPUs, spare)
	var list []string
	for _, c := range watch {
		list = append(list, strconv.Itoa(c))
	}
	argv := append(slices.Clone(s.Meter), "--cpus", strings.Join(list, ","))
	m := &meter{cmd: exec.Command(argv[0], argv[1:]...), guard: s.guard}
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start meter: %w", err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start meter: %w", err)
	}
	if err := sut.Spawn(s.guard, m.cmd, nil); err != nil {
		return nil, fmt.Errorf("start meter: %w", err)
	}
	m.lines = make(chan []byte, 2) // all that it ever says, so that nobody waits for a reader
	go m.listen(out)
	if e, err := m.event(); err != nil || e.Event != "ready" {
		m.end()
		return nil, fmt.Errorf("start meter: it said %q: %v", e.Event, err)
	}
	return m, nil
}

// stop returns what the meter saw. Call end all the same.
func (m *meter) stop() (*record.Hiccups, error) {
	if m == nil {
		return nil, nil
	}
	if _, err := io.WriteString(m.in, "stop\n"); err != nil {
		return nil, fmt.Errorf("stop meter: %w", err)
	}
	e, err := m.event()
	if err != nil || e.Result == nil {
		return nil, fmt.Errorf("read meter: it said %q: %v", e.Event, err)
	}
	return e.Result, nil
}

// listen hands on the two lines of a meter, however long, and drops what follows.
func (m *meter) listen(out io.Reader) {
	defer close(m.lines)
	r := bufio.NewReader(out)
	for range cap(m.lines) {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		m.lines <- line
	}
	io.Copy(io.Discard, r)
}

func (m *meter) event() (e record.MeterEvent, err error) {
	select {
	case line, ok := <-m.lines:
		if !ok {
			return e, io.ErrUnexpectedEOF
		}
		return e, json.Unmarshal(line, &e)
	case <-time.After(meterPatience):
		return e, fmt.Errorf("nothing for %v", meterPatience)
	}
}

// end ends the meter, if it has not ended, and waits until it is gone.
func (m *meter) end() {
	if m == nil {
		return
	}
	m.in.Close()
	late := time.AfterFunc(time.Second, func() { m.cmd.Process.Kill() })
	for range m.lines { // to the end of its output
	}
	late.Stop()
	sut.Reap(m.guard, m.cmd)
}
