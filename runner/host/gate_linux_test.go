package host

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// The thresholds of method E1 to E3, which the default plan has too.
var methodRules = record.MachineRules{
	ForeignCPU: record.Limits{Warn: 0.02, Fail: 0.05}, ForeignInRun: record.Limits{Warn: 0.05, Fail: 0.10}, Unaccounted: record.Limits{Warn: 0.15, Fail: 0.25}, Steal: record.Limits{Warn: 0.001, Fail: 0.005}, Running: record.Limits{Warn: 1, Fail: 2},
	CPUPressure: record.Limits{Warn: 0.01, Fail: 0.05}, MemoryPressure: record.Limits{Warn: 0, Fail: 0.01}, IOPressure: record.Limits{Warn: 0.01, Fail: 0.05},
	Hiccup: record.Limits{Warn: 2e6, Fail: 10e6}, Canary: record.Limits{Warn: 0.02, Fail: 0.02},
}

func procStat(cpu0, cpu1 string, running int) string {
	return fmt.Sprintf("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 %s\ncpu1 %s\nintr 5 1 2\nctxt 100\nbtime 1700000000\nprocesses 500\nprocs_running %d\nprocs_blocked 0\nsoftirq 10 1 1 1 1 1 1 1 1 1 1\n", cpu0, cpu1, running)
}

// pidStat is proc/PID/stat: CPU times in ticks of 10 ms, those of dead children last.
func pidStat(pid int, name, state string, parent, user, system, deadUser, deadSystem, start int) string {
	return fmt.Sprintf("%d (%s) %s %d %d 1 0 -1 4194560 0 0 0 0 %d %d %d %d 20 0 1 0 %d 1000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, name, state, parent, pid, user, system, deadUser, deadSystem, start)
}

func pressure(total int) string {
	return fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", total)
}

func network(file, name string, value int) string {
	return fmt.Sprintf("%s: A %s\n%s: 1 %d\n", file, name, file, value)
}

// atRest is a machine on which this program (42), its server (50) and a stranger
// (77) live. Columns of a CPU: user nice system idle iowait irq softirq steal.
var atRest = onTop(twoCores, map[string]string{
	"proc/stat":            procStat("1000 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1),
	"proc/42/stat":         pidStat(42, "gonogo", "R", 1, 100, 50, 30, 10, 900),
	"proc/42/task/42/stat": pidStat(42, "gonogo", "R", 1, 100, 50, 30, 10, 900),
	"proc/42/task/43/stat": pidStat(43, "gonogo", "S", 1, 0, 0, 0, 0, 900),
	"proc/50/stat":         pidStat(50, "server-go", "S", 42, 500, 100, 0, 0, 950),
	"proc/50/task/50/stat": pidStat(50, "server-go", "S", 42, 500, 100, 0, 0, 950),
	"proc/77/stat":         pidStat(77, "backup", "S", 1, 40, 40, 0, 0, 100),
	"proc/pressure/cpu":    pressure(1000000), "proc/pressure/memory": pressure(2000000), "proc/pressure/io": pressure(3000000),
	"proc/vmstat":                     "nr_free_pages 1000\npswpin 10\npswpout 20\npswpin_not 7\n",
	"proc/42/net/snmp":                network("Tcp", "RetransSegs", 7),
	"proc/42/net/netstat":             "TcpExt: A ListenOverflows TCPTimeouts\nTcpExt: 1 8 9\n",
	"proc/42/cgroup":                  "0::/user/job\n",
	"sys/fs/cgroup/user/job/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 1\nthrottled_usec 1000\n",
	"sys/fs/cgroup/user/cpu.stat":     "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 2000\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":    "3\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "4\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":    "0\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count": "4\n",
})

// tenSeconds is what happened between the machine at rest and its changed form,
// which is taken to be 10 s later.
func tenSeconds(t *testing.T, before, change map[string]string, cpus ...int) record.Environment {
	t.Helper()
	b := fixture(t, 2, before).snapshot()
	a := fixture(t, 2, onTop(before, change)).snapshot()
	b.at = time.Time{}
	a.at = b.at.Add(10 * time.Second)
	return Between(b, a, cpus)
}

// Each threshold with its twin just below it.
func TestGates(t *testing.T) {
	tests := []struct {
		name, gate string
		change     map[string]string
		want       string // verdict and what is observed
	}{
		// 20 ticks of user time on CPU 0 are 200 ms of 10 s: 2 % of a CPU.
		{"others use 2 %", "CPU used by others", map[string]string{"proc/stat": procStat("1020 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1)}, "ok 2.00 %"},
		{"others use 2.1 %", "CPU used by others", map[string]string{"proc/stat": procStat("1020 0 500 9000 0 10 20 5 0 0", "2000 1 700 8000 0 10 20 5 0 0", 1)}, "warn 2.10 %"},
		{"others use 5 %", "CPU used by others", map[string]string{"proc/stat": procStat("1000 20 530 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1)}, "warn 5.00 %"},
		{"others use 5.1 %", "CPU used by others", map[string]string{"proc/stat": procStat("1000 20 531 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1)}, "fail 5.10 %"},
		{"and one of them is known", "CPU used by others", map[string]string{"proc/stat": procStat("1060 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1),
			"proc/77/stat": pidStat(77, "backup", "R", 1, 90, 48, 0, 0, 100)}, "fail 6.00 % (most by backup, PID 77: 580ms)"}, // 50+8 ticks
		{"interrupts count at rest", "CPU used by others", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 12 39 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1)}, "warn 2.10 %"},
		{"idle and iowait do not", "CPU used by others", map[string]string{"proc/stat": procStat("1000 0 500 9900 100 10 20 5 0 0", "2000 0 700 8900 100 10 20 5 0 0", 1)}, "ok 0.00 %"},
		// Our own: 800 of the server, 100 of a generator that has ended and was reaped.
		{"our own load", "CPU used by others", map[string]string{"proc/stat": procStat("1800 0 500 9000 0 10 20 5 0 0", "2100 0 700 8000 0 10 20 5 0 0", 1),
			"proc/50/stat": pidStat(50, "server-go", "S", 42, 1200, 200, 0, 0, 950), "proc/42/stat": pidStat(42, "gonogo", "R", 1, 100, 50, 110, 30, 900)}, "ok 0.00 %"},
		// 2 ticks of 2 x 1000 are 0.1 %, 10 are 0.5 %.
		{"steal 0.1 %", "steal", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 6 0 0", "2000 0 700 8000 0 10 20 6 0 0", 1)}, "ok 0.10 %"},
		{"steal 0.15 %", "steal", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 6 0 0", "2000 0 700 8000 0 10 20 7 0 0", 1)}, "warn 0.15 %"},
		{"steal 0.5 %", "steal", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 10 0 0", "2000 0 700 8000 0 10 20 10 0 0", 1)}, "warn 0.50 %"},
		{"steal 0.55 %", "steal", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 16 0 0", "2000 0 700 8000 0 10 20 5 0 0", 1)}, "fail 0.55 %"},
		{"we alone run", "threads running", nil, "ok 0"},
		{"one runs", "threads running", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 2)}, "ok 1"},
		{"two run", "threads running", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 3)}, "warn 2"},
		{"three run", "threads running", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 4)}, "fail 3"},
		{"our server runs too", "threads running", map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 4),
			"proc/50/task/50/stat": pidStat(50, "server-go", "R", 42, 500, 100, 0, 0, 950), "proc/50/task/51/stat": pidStat(51, "server) S", "R", 42, 0, 0, 0, 0, 950)}, "ok 1"},
		// Totals are microseconds: 100 000 of 10 s are 1 %.
		{"CPU pressure 1 %", "CPU pressure", map[string]string{"proc/pressure/cpu": pressure(1100000)}, "ok 1.00 %"},
		{"CPU pressure 1.01 %", "CPU pressure", map[string]string{"proc/pressure/cpu": pressure(1101000)}, "warn 1.01 %"},
		{"CPU pressure 5.01 %", "CPU pressure", map[string]string{"proc/pressure/cpu": pressure(1501000)}, "fail 5.01 %"},
		{"no memory pressure", "memory pressure", nil, "ok 0.00 %"},
		{"some memory pressure", "memory pressure", map[string]string{"proc/pressure/memory": pressure(2000600)}, "warn 0.01 %"},
		{"memory pressure 1.01 %", "memory pressure", map[string]string{"proc/pressure/memory": pressure(2101000)}, "fail 1.01 %"},
		{"disk pressure 1 %", "disk pressure", map[string]string{"proc/pressure/io": pressure(3100000)}, "ok 1.00 %"},
		{"disk pressure 4 %", "disk pressure", map[string]string{"proc/pressure/io": pressure(3400000)}, "warn 4.00 %"},
		{"disk pressure 6 %", "disk pressure", map[string]string{"proc/pressure/io": pressure(3600000)}, "fail 6.00 %"},
		{"no swap", "swap", nil, "ok 0 pages"},
		{"a page swapped in", "swap", map[string]string{"proc/vmstat": "pswpin 11\npswpout 20\n"}, "fail 1 pages"},
		{"a page swapped out", "swap", map[string]string{"proc/vmstat": "pswpin 10\npswpout 21\n"}, "fail 1 pages"},
		{"cool", "thermal slow-downs", nil, "ok 0"},
		{"hot", "thermal slow-downs", map[string]string{"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "1\n"}, "fail 1"},
		{"no quota hit", "stops by a CPU quota", nil, "ok 0"},
		{"quota of the parent group hit", "stops by a CPU quota", map[string]string{"sys/fs/cgroup/user/cpu.stat": "nr_throttled 3\nthrottled_usec 9000\n"}, "fail 1"},

		{"no stat", "CPU used by others", map[string]string{"proc/stat": ""}, "unknown unknown"},
		{"no steal", "steal", map[string]string{"proc/stat": ""}, "unknown unknown"},
		{"no count of threads", "threads running", map[string]string{"proc/stat": ""}, "unknown unknown"},
		{"no pressure", "CPU pressure", map[string]string{"proc/pressure/cpu": ""}, "unknown unknown"},
		{"no memory pressure file", "memory pressure", map[string]string{"proc/pressure/memory": ""}, "unknown unknown"},
		{"no disk pressure file", "disk pressure", map[string]string{"proc/pressure/io": ""}, "unknown unknown"},
		{"no swap counters", "swap", map[string]string{"proc/vmstat": "nr_free_pages 1\n"}, "unknown unknown"},
		{"no thermal counters", "thermal slow-downs", map[string]string{"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": ""}, "unknown unknown"},
		{"no quota counters", "stops by a CPU quota", map[string]string{"proc/42/cgroup": "1:name=x:/\n"}, "unknown unknown"},
		{"a counter that fell", "swap", map[string]string{"proc/vmstat": "pswpin 1\npswpout 1\n"}, "unknown unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checks := JudgeQuiet(tenSeconds(t, atRest, tt.change, 0, 1), methodRules)
			if got := find(t, checks, tt.gate); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.gate, got, tt.want)
			}
			for _, c := range checks { // and no other gate speaks
				if tt.want[:2] != "ok" && c.Name != tt.gate && !c.OK && !strings.Contains(tt.name, "no s") && !strings.Contains(tt.name, "threads") {
					t.Errorf("%s says %s as well", c.Name, c.Observed)
				}
			}
		})
	}
}

// In a window our own packets cause the interrupts, for which the kernel charges
// our server, and our own threads wait.
func TestJudgeUnderLoad(t *testing.T) {
	ours := map[string]string{
		"proc/stat":         procStat("1000 0 500 9000 0 110 220 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 9),
		"proc/pressure/cpu": pressure(9000000),
		"proc/50/stat":      pidStat(50, "server-go", "S", 42, 600, 300, 0, 0, 950), // the 300 ticks
	}
	e := tenSeconds(t, atRest, ours, 0, 1)
	for _, c := range Judge(e, methodRules) {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Observed)
		}
	}
	if e.Interrupts == nil || *e.Interrupts != 3*time.Second { // 100 + 200 ticks
		t.Errorf("interrupts %v, want 3s", e.Interrupts)
	}
	for _, c := range []struct {
		gate   string
		change map[string]string
		want   string
	}{
		// 50 ticks more of the backup are 5 % of 10 s, 101 are 10.1 %.
		{nameForeign, map[string]string{"proc/77/stat": pidStat(77, "backup", "R", 1, 90, 40, 0, 0, 100)}, "ok 5.00 % (most by backup, PID 77: 500ms)"},
		{nameForeign, map[string]string{"proc/77/stat": pidStat(77, "backup", "R", 1, 141, 40, 0, 0, 100)}, "fail 10.10 % (most by backup, PID 77: 1.01s)"},
		// 250 ticks on a CPU that nobody living was charged for are 25 %.
		{nameUnaccounted, map[string]string{"proc/stat": procStat("1250 0 500 9000 0 110 220 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 9)}, "warn 25.00 %"},
		{nameUnaccounted, map[string]string{"proc/stat": procStat("1251 0 500 9000 0 110 220 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 9)}, "fail 25.10 %"},
		// A compiler that lives is charged, and named; one that has ended is neither.
		{nameUnaccounted, map[string]string{"proc/stat": procStat("1500 0 500 9000 0 110 220 5 0 0", "2000 0 700 8000 0 10 20 5 0 0", 9),
			"proc/77/stat": pidStat(77, "backup", "R", 1, 540, 40, 0, 0, 100)}, "ok 0.00 %"},
		// CPUs that idle between bursts are sampled as idle: less than nothing counts as none.
		{nameUnaccounted, map[string]string{"proc/50/stat": pidStat(50, "server-go", "S", 42, 1600, 300, 0, 0, 950)}, "ok 0.00 %"},
	} {
		got := find(t, Judge(tenSeconds(t, atRest, onTop(ours, c.change), 0, 1), methodRules), c.gate)
		if strings.TrimSuffix(got, " (most by backup, PID 77: 500ms)") != strings.TrimSuffix(c.want, " (most by backup, PID 77: 500ms)") {
			t.Errorf("%s: got %s, want %s", c.gate, got, c.want)
		}
	}
}

// Only the CPUs of servers and generators count.
func TestOtherCPUsMayBeBusy(t *testing.T) {
	change := map[string]string{"proc/stat": procStat("1000 0 500 9000 0 10 20 5 0 0", "2900 0 700 8000 0 10 20 50 0 0", 1)}
	quiet, loud := tenSeconds(t, atRest, change, 0), tenSeconds(t, atRest, change, 1)
	if *quiet.Busy != 0 || *quiet.Steal != 0 {
		t.Errorf("CPU 0: busy %v, steal %v, want none", quiet.Busy, quiet.Steal)
	}
	if *loud.Busy != 9*time.Second || *loud.Steal != 450*time.Millisecond {
		t.Errorf("CPU 1: busy %v, steal %v, want 9s and 450ms", loud.Busy, loud.Steal)
	}
	if none := tenSeconds(t, atRest, change, 0, 7); none.Busy != nil || none.Steal != nil || none.Thermal != nil {
		t.Error("a CPU that does not exist has counters")
	}
}

func TestNetworkAndQuotaCounters(t *testing.T) {
	e := tenSeconds(t, atRest, map[string]string{
		"proc/42/net/snmp":                network("Tcp", "RetransSegs", 9),
		"proc/42/net/netstat":             "TcpExt: A ListenOverflows TCPTimeouts\nTcpExt: 1 11 13\n",
		"sys/fs/cgroup/user/job/cpu.stat": "nr_throttled 3\nthrottled_usec 51000\n",
	}, 0)
	if *e.Retransmits != 2 || *e.ListenOverflows != 3 || *e.TCPTimeouts != 4 || *e.QuotaStops != 2 || *e.QuotaStopped != 50*time.Millisecond {
		t.Errorf("retransmits %d, overflows %d, timeouts %d, stops %d of %v; want 2 3 4 2 of 50ms",
			*e.Retransmits, *e.ListenOverflows, *e.TCPTimeouts, *e.QuotaStops, *e.QuotaStopped)
	}
}

// Version 1 of control groups keeps nanoseconds, in a folder for each controller.
// In a container the group's own folder may be out of sight.
func TestQuotaVersion1(t *testing.T) {
	v1 := onTop(atRest, map[string]string{
		"proc/42/cgroup":              "4:memory:/a\n2:cpu,cpuacct:/docker/abc\n0::/\n",
		"sys/fs/cgroup/cpu/cpu.stat":  "nr_periods 0\nnr_throttled 5\nthrottled_time 1000000\n",
		"sys/fs/cgroup/user/cpu.stat": "", "sys/fs/cgroup/user/job/cpu.stat": "",
	})
	e := tenSeconds(t, v1, map[string]string{"sys/fs/cgroup/cpu/cpu.stat": "nr_periods 9\nnr_throttled 6\nthrottled_time 31000000\n"}, 0)
	if e.QuotaStops == nil || *e.QuotaStops != 1 || *e.QuotaStopped != 30*time.Millisecond {
		t.Errorf("stops %v, want 1 of 30ms", e.QuotaStops)
	}
}

func TestDisturbers(t *testing.T) {
	e := tenSeconds(t, atRest, map[string]string{
		"proc/77/stat": pidStat(77, "backup", "S", 1, 40, 42, 0, 0, 100),        // 20 ms more
		"proc/80/stat": pidStat(80, "indexer", "R", 1, 100, 0, 0, 0, 9999),      // new: 1 s
		"proc/81/stat": pidStat(81, "kworker/0:1-net", "I", 2, 0, 30, 0, 0, 50), // 300 ms, under another name than before
		"proc/82/stat": pidStat(82, "cron", "S", 1, 1, 0, 0, 0, 50),             // the fourth
		"proc/50/stat": pidStat(50, "server-go", "R", 42, 5000, 0, 0, 0, 950),   // ours
		"proc/51/stat": pidStat(51, "worker", "R", 50, 5000, 0, 0, 0, 950),      // ours too
	}, 0)
	got := fmt.Sprint(e.Disturbers)
	if want := "[{80 indexer 1s} {81 kworker/0:1-net 300ms} {77 backup 20ms}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	reused := tenSeconds(t, atRest, map[string]string{"proc/77/stat": pidStat(77, "backup", "S", 1, 10, 0, 0, 0, 200)}, 0)
	if got := fmt.Sprint(reused.Disturbers); got != "[{77 backup 100ms}]" {
		t.Errorf("a PID used again: %s, want all of its 100ms", got)
	}
}

func TestJudgeHiccups(t *testing.T) {
	for length, want := range map[time.Duration]string{
		2 * time.Millisecond:     "ok 2ms on CPU 3",
		2001 * time.Microsecond:  "warn 2.001ms on CPU 3",
		10 * time.Millisecond:    "warn 10ms on CPU 3",
		10001 * time.Microsecond: "fail 10.001ms on CPU 3",
	} {
		h := &record.Hiccups{CPUs: []record.CPUHiccups{{CPU: 1, Max: time.Millisecond}, {CPU: 3, Max: length}}}
		if got := find(t, []record.Check{JudgeHiccups(h, methodRules)}, "longest hiccup"); got != want {
			t.Errorf("%v: %s, want %s", length, got, want)
		}
	}
	if got := word(JudgeHiccups(nil, methodRules)); got != "unknown" {
		t.Errorf("no meter: %s", got)
	}
}

func TestJudgeCanary(t *testing.T) {
	for observed, want := range map[time.Duration]string{
		100 * time.Millisecond: "ok +0.0 %", 101 * time.Millisecond: "ok +1.0 %", 99 * time.Millisecond: "ok -1.0 %",
		105 * time.Millisecond: "fail +5.0 %", 95 * time.Millisecond: "fail -5.0 %", 0: "unknown unknown",
	} {
		if got := find(t, []record.Check{JudgeCanary(observed, 100*time.Millisecond, methodRules)}, "canary"); got != want {
			t.Errorf("%v: %s, want %s", observed, got, want)
		}
	}
}

// The real machine: its counters exist and grow.
func TestTakeHere(t *testing.T) {
	before := Take()
	for start := time.Now(); time.Since(start) < 30*time.Millisecond; { // 3 ticks
		timeLoops(1, 1000)
	}
	e := Between(before, Take(), here().cpus)
	if e.Busy == nil || e.Own == nil || e.Steal == nil || e.Running == nil || e.Swap == nil || e.Took < 30*time.Millisecond {
		t.Errorf("%+v", e)
	}
	if e.Own != nil && *e.Own == 0 {
		t.Error("30 ms of work are not in our own CPU time")
	}
}
