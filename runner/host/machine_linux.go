package host

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// here is the machine that this process runs on.
func here() machine {
	m := machine{root: "/"}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err == nil {
		for cpu := range len(set) * 64 {
			if set.IsSet(cpu) {
				m.cpus = append(m.cpus, cpu)
			}
		}
		return m
	}
	// More CPUs than the set holds: those that are online.
	if online, ok := m.read("sys/devices/system/cpu/online"); ok {
		m.cpus, _ = parseList(online)
	}
	return m
}

func (m machine) kernel() string {
	v, _ := m.read("proc/sys/kernel/osrelease")
	return v
}

func (m machine) clockSource() string {
	v, _ := m.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
	return v
}

// governor is that of the usable CPUs, or all of theirs where they differ.
func (m machine) governor() string {
	var all []string
	for _, cpu := range m.cpus {
		if g, ok := m.read(cpuFile(cpu, "cpufreq/scaling_governor")); ok && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return strings.Join(all, ",")
}

// hypervisor names what this machine is a guest of; "unnamed" when the processor
// says that it is a guest and nothing says whose.
func (m machine) hypervisor() string {
	if v, ok := m.read("sys/hypervisor/type"); ok && v != "" {
		return v
	}
	if v, ok := m.read("proc/device-tree/hypervisor/compatible"); ok { // ARM has no flag for it
		return strings.Trim(v, "\x00")
	}
	fs, err := procfs.NewFS(m.path("proc"))
	if err != nil {
		return ""
	}
	infos, err := fs.CPUInfo()
	if err != nil || len(infos) == 0 || !slices.Contains(infos[0].Flags, "hypervisor") {
		return ""
	}
	if v, ok := m.read("sys/class/dmi/id/sys_vendor"); ok && v != "" {
		return v
	}
	return "unnamed"
}

// fileLimit is the soft limit of this process, which Go has raised at start.
func (m machine) fileLimit() (uint64, bool) {
	fs, err := procfs.NewFS(m.path("proc"))
	if err != nil {
		return 0, false
	}
	self, err := fs.Self()
	if err != nil {
		return 0, false
	}
	limits, err := self.Limits()
	return limits.OpenFiles, err == nil
}

func (m machine) portRange() ([2]int, bool) {
	v, ok := m.read("proc/sys/net/ipv4/ip_local_port_range")
	if !ok {
		return [2]int{}, false
	}
	var r [2]int
	_, err := fmt.Sscan(v, &r[0], &r[1])
	return r, err == nil
}

// reservedPorts counts the ports in r that the kernel keeps from being chosen.
func (m machine) reservedPorts(r [2]int) int {
	v, ok := m.read("proc/sys/net/ipv4/ip_local_reserved_ports")
	if !ok {
		return 0
	}
	n := 0
	for part := range strings.SplitSeq(v, ",") {
		var from, to int
		if k, _ := fmt.Sscanf(part, "%d-%d", &from, &to); k == 0 {
			continue
		} else if k == 1 {
			to = from
		}
		n += max(0, min(to, r[1])-max(from, r[0])+1)
	}
	return n
}

// settings are the kernel's that change what is measured, by the name in Host.Facts.
var settings = map[string]string{
	"aslr":                  "proc/sys/kernel/randomize_va_space",
	"cpu_isolated":          "sys/devices/system/cpu/isolated",
	"cpu_quota":             "sys/fs/cgroup/cpu.max",
	"cpu_quota_v1_us":       "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
	"khugepaged_defrag":     "sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
	"memory_limit":          "sys/fs/cgroup/memory.max",
	"memory_limit_v1_bytes": "sys/fs/cgroup/memory/memory.limit_in_bytes",
	"no_turbo":              "sys/devices/system/cpu/intel_pstate/no_turbo",
	"numa_balancing":        "proc/sys/kernel/numa_balancing",
	"reserved_ports":        "proc/sys/net/ipv4/ip_local_reserved_ports",
	"sched_autogroup":       "proc/sys/kernel/sched_autogroup_enabled",
	"smt":                   "sys/devices/system/cpu/smt/control",
	"somaxconn":             "proc/sys/net/core/somaxconn",
	"swappiness":            "proc/sys/vm/swappiness",
	"tcp_max_syn_backlog":   "proc/sys/net/ipv4/tcp_max_syn_backlog",
	"tcp_tw_reuse":          "proc/sys/net/ipv4/tcp_tw_reuse",
	"thp":                   "sys/kernel/mm/transparent_hugepage/enabled",
	"thp_defrag":            "sys/kernel/mm/transparent_hugepage/defrag",
	"turbo_boost":           "sys/devices/system/cpu/cpufreq/boost",
}

// facts are the settings that this kernel has. Of a choice such as
// "always [madvise] never" only the one that holds is kept.
func (m machine) facts() map[string]string {
	facts := map[string]string{}
	for name, file := range settings {
		v, ok := m.read(file)
		if !ok || v == "" {
			continue
		}
		if _, rest, ok := strings.Cut(v, "["); ok {
			v, _, _ = strings.Cut(rest, "]")
		}
		facts[name] = v
	}
	if v := m.mitigations(); v != "" {
		facts["mitigations"] = v
	}
	if v := m.microcode(); v != "" {
		facts["microcode"] = v
	}
	if v := m.container(); v != "" {
		facts["container"] = v
	}
	if v := m.id(); v != "" {
		facts["machine_id"] = v
	}
	power, battery := m.power()
	if power != "" {
		facts["power"] = power
	}
	if battery {
		facts["battery"] = "present"
	}
	return facts
}

// id tells this machine from another of the same model, without telling which it
// is: machine-id(5) wants applications to hash it with a key of their own.
func (m machine) id() string {
	v, ok := m.read("etc/machine-id")
	if !ok || v == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(v))
	h.Write([]byte("gonogo"))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// power is mains or battery, and whether there is a battery that could feed the
// machine (a mouse's cannot). A machine without one runs on mains.
func (m machine) power() (source string, battery bool) {
	const dir = "sys/class/power_supply"
	supplies, err := os.ReadDir(m.path(dir))
	if err != nil {
		return "", false
	}
	mains, discharging := false, false
	for _, s := range supplies {
		file := dir + "/" + s.Name() + "/"
		if scope, _ := m.read(file + "scope"); scope == "Device" {
			continue
		}
		switch kind, _ := m.read(file + "type"); kind {
		case "Mains", "USB":
			online, _ := m.read(file + "online")
			mains = mains || online == "1"
		case "Battery":
			battery = true
			status, _ := m.read(file + "status")
			discharging = discharging || status == "Discharging"
		}
	}
	if battery && discharging && !mains {
		return "battery", true
	}
	return "mains", battery
}

func (m machine) microcode() string {
	fs, err := procfs.NewFS(m.path("proc"))
	if err != nil {
		return ""
	}
	infos, err := fs.CPUInfo()
	if err != nil || len(infos) == 0 {
		return ""
	}
	return infos[0].Microcode
}

// mitigations sums up sys/devices/system/cpu/vulnerabilities: the flaws this
// processor has and whether the kernel works around them, which costs time at
// every system call.
func (m machine) mitigations() string {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	files, err := os.ReadDir(m.path(dir))
	if err != nil {
		return ""
	}
	var mitigated, vulnerable []string
	for _, f := range files {
		switch v, _ := m.read(dir + "/" + f.Name()); {
		case strings.HasPrefix(v, "Mitigation"):
			mitigated = append(mitigated, f.Name())
		case strings.HasPrefix(v, "Vulnerable"):
			vulnerable = append(vulnerable, f.Name())
		}
	}
	named := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, " ")
	}
	return "mitigated: " + named(mitigated) + "; vulnerable: " + named(vulnerable)
}

// container names the kind of container this process is in, as far as it shows.
func (m machine) container() string {
	for file, kind := range map[string]string{".dockerenv": "docker", "run/.containerenv": "podman"} {
		if _, err := os.Stat(m.path(file)); err == nil {
			return kind
		}
	}
	group, _ := m.read("proc/self/cgroup")
	for _, kind := range []string{"docker", "kubepods", "lxc", "containerd"} {
		if strings.Contains(group, kind) {
			return kind
		}
	}
	return ""
}

func (m machine) physicalCores() int { return len(m.cores()) }
