//go:build !linux

package host

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"golang.org/x/sys/unix"
)

// here is the machine that this process runs on. Which CPUs it may use is not
// known here, and it cannot be told to keep to some of them.
func here() machine { return machine{root: "/"} }

func (m machine) physicalCores() int {
	n, _ := cpu.Counts(false)
	return n
}

func (m machine) kernel() string {
	v, _ := host.KernelVersion()
	return v
}

func (m machine) clockSource() string { return "" }
func (m machine) governor() string    { return "" }
func (m machine) hypervisor() string  { return "" }

// facts are what macOS says of its power; another system says nothing here.
func (m machine) facts() map[string]string {
	ask := func(about ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), pmsetPatience)
		defer cancel()
		out, _ := exec.CommandContext(ctx, "pmset", append([]string{"-g"}, about...)...).Output()
		return string(out) // empty without pmset: then nothing is known
	}
	return pmsetFacts(ask("batt"), ask(), ask("therm"))
}

// pmsetPatience bounds a question that is answered in milliseconds.
const pmsetPatience = 2 * time.Second

func (m machine) fileLimit() (uint64, bool) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err == nil
}

func (m machine) portRange() ([2]int, bool) {
	first, err := unix.SysctlUint32("net.inet.ip.portrange.first")
	if err != nil {
		return [2]int{}, false
	}
	last, err := unix.SysctlUint32("net.inet.ip.portrange.last")
	return [2]int{int(first), int(last)}, err == nil
}

func (m machine) reservedPorts([2]int) int { return 0 }

// snapshot knows only the time: this system shows no such counters.
func (m machine) snapshot() Snapshot { return Snapshot{at: time.Now()} }
