package host

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

func (m machine) snapshot() Snapshot {
	s := Snapshot{at: time.Now()}
	m.readPressure(&s)
	m.readSwap(&s)
	m.readQuota(&s)
	m.readThermal(&s)
	fs, err := procfs.NewFS(m.path("proc"))
	if err != nil {
		return s
	}
	m.readNetwork(&s, fs)
	ours := m.readProcesses(&s, fs)
	readCPUs(&s, fs, ours)
	return s
}

// seconds turns procfs' float seconds, which were clock ticks, into a duration.
func seconds(f float64) time.Duration {
	return time.Duration(math.Round(f*100)) * (time.Second / 100)
}

// ticks are clock ticks, which are 1/100 s to user space on every Linux.
func ticks(n uint) time.Duration { return time.Duration(n) * (time.Second / 100) }

func readCPUs(s *Snapshot, fs procfs.FS, ours uint64) {
	st, err := fs.Stat()
	if err != nil {
		return
	}
	s.cpus = map[int]cpuTime{}
	for cpu, c := range st.CPU {
		// Guest time is part of user time already.
		s.cpus[int(cpu)] = cpuTime{busy: seconds(c.User + c.Nice + c.System), interrupts: seconds(c.IRQ + c.SoftIRQ), steal: seconds(c.Steal)}
	}
	running := st.ProcessesRunning - min(ours, st.ProcessesRunning)
	s.running = &running
}

// readProcesses shares out the machine's processes into our own and others, and
// returns how many of our own threads run or wait for a CPU.
//
// Our own CPU time counts that of dead children too (they are added to their
// parent when it reaps them), so it grows rightly when a generator ends.
func (m machine) readProcesses(s *Snapshot, fs procfs.FS) (running uint64) {
	link, err := os.Readlink(m.path("proc/self"))
	if err != nil {
		return 0
	}
	self, err := strconv.Atoi(link)
	if err != nil {
		return 0
	}
	all, err := fs.AllProcs()
	if err != nil {
		return 0
	}
	stats := make(map[int]procfs.ProcStat, len(all))
	for _, p := range all {
		if st, err := p.Stat(); err == nil { // else it has ended since the listing
			stats[p.PID] = st
		}
	}
	var own time.Duration
	s.others = make(map[process]usage, len(stats))
	for pid, st := range stats {
		if descends(stats, pid, self) {
			own += ticks(st.UTime+st.STime) + ticks(uint(max(0, st.CUTime+st.CSTime)))
			running += m.runningThreads(pid)
		} else {
			s.others[process{pid, st.Starttime}] = usage{st.Comm, ticks(st.UTime + st.STime)}
		}
	}
	s.own = &own
	return running
}

// descends reports whether pid is ancestor or one of its descendants. The walk is
// bounded: processes that end and begin during the listing could close a circle.
func descends(stats map[int]procfs.ProcStat, pid, ancestor int) bool {
	for range len(stats) {
		if pid == ancestor {
			return true
		}
		st, ok := stats[pid]
		if !ok || st.PPID == 0 {
			return false
		}
		pid = st.PPID
	}
	return false
}

func (m machine) runningThreads(pid int) (n uint64) {
	tasks := "proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(m.path(tasks))
	if err != nil {
		return 0
	}
	for _, e := range entries {
		// The name in parentheses may hold anything, even ") R".
		text, _ := m.read(tasks + "/" + e.Name() + "/stat")
		if i := strings.LastIndexByte(text, ')'); i >= 0 && strings.HasPrefix(text[i:], ") R") {
			n++
		}
	}
	return n
}

// readPressure reads the totals, not the averages: these miss short spikes.
func (m machine) readPressure(s *Snapshot) {
	fs, err := procfs.NewFS(m.path("proc"))
	if err != nil {
		return
	}
	s.pressure = map[string]time.Duration{}
	for _, what := range []string{"cpu", "memory", "io"} {
		if st, err := fs.PSIStatsForResource(what); err == nil && st.Some != nil {
			s.pressure[what] = time.Duration(st.Some.Total) * time.Microsecond
		}
	}
}

func (m machine) readSwap(s *Snapshot) {
	text, _ := m.read("proc/vmstat")
	in, okIn := counter(text, "pswpin")
	out, okOut := counter(text, "pswpout")
	if okIn && okOut {
		sum := in + out
		s.swap = &sum
	}
}

// counter finds a number in lines of "name number".
func counter(text, name string) (uint64, bool) {
	for line := range strings.SplitSeq(text, "\n") {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// readQuota sums the stops of this process's control group and of all above it,
// for any of them may hold the quota. Version 1 counts in nanoseconds.
func (m machine) readQuota(s *Snapshot) {
	groups, _ := m.read("proc/self/cgroup")
	for line := range strings.SplitSeq(groups, "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		var mount, field string
		var unit time.Duration
		switch {
		case parts[0] == "0" && parts[1] == "":
			mount, field, unit = "sys/fs/cgroup", "throttled_usec", time.Microsecond
		case parts[1] == "cpu" || strings.HasPrefix(parts[1], "cpu,") || strings.HasSuffix(parts[1], ",cpu"):
			mount, field, unit = "sys/fs/cgroup/cpu", "throttled_time", time.Nanosecond
		default:
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			text, _ := m.read(mount + dir + "/cpu.stat")
			if n, ok := counter(text, "nr_throttled"); ok {
				t, _ := counter(text, field)
				s.stops = plus(s.stops, n)
				s.stopped = plus(s.stopped, time.Duration(t)*unit)
			}
			if dir == "/" {
				break
			}
		}
	}
}

func plus[N ~int64 | ~uint64](sum *N, n N) *N {
	if sum != nil {
		n += *sum
	}
	return &n
}

func (m machine) readThermal(s *Snapshot) {
	s.thermal = map[int]uint64{}
	for _, cpu := range m.cpus {
		core, ok := m.readUint(cpuFile(cpu, "thermal_throttle/core_throttle_count"))
		if !ok {
			continue
		}
		pkg, _ := m.readUint(cpuFile(cpu, "thermal_throttle/package_throttle_count")) // not every processor has one
		s.thermal[cpu] = core + pkg
	}
}

func (m machine) readNetwork(s *Snapshot, fs procfs.FS) {
	self, err := fs.Self()
	if err != nil {
		return
	}
	if n, err := self.Snmp(); err == nil {
		s.retrans = whole(n.RetransSegs)
	}
	if n, err := self.Netstat(); err == nil {
		s.overflows, s.timeouts = whole(n.ListenOverflows), whole(n.TCPTimeouts)
	}
}

// whole undoes procfs' turning counters into floats.
func whole(f *float64) *uint64 {
	if f == nil || *f < 0 {
		return nil
	}
	n := uint64(*f)
	return &n
}
