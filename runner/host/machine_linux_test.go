package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A machine of two cores as its kernel shows it.
var twoCores = map[string]string{
	"proc/self":                                 "-> 42",
	"proc/42/limits":                            limits(1023, 1024),
	"proc/42/cgroup":                            "0::/user.slice\n",
	"proc/cpuinfo":                              cpuinfo("fpu vme sse2", 2),
	"proc/loadavg":                              "0.25 0.50 0.75 1/200 4242\n",
	"proc/meminfo":                              "MemTotal:        8000000 kB\nMemFree:         4000000 kB\nMemAvailable:    6000000 kB\n",
	"proc/stat":                                 "cpu  1 0 1 1 0 0 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0 0 0\n",
	"proc/sys/kernel/osrelease":                 "6.12.0-test\n",
	"proc/sys/kernel/randomize_va_space":        "2\n",
	"proc/sys/net/core/somaxconn":               "4096\n",
	"proc/sys/net/ipv4/ip_local_port_range":     "32768\t60999\n",
	"proc/sys/net/ipv4/ip_local_reserved_ports": "\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
	"sys/devices/system/cpu/online":                                   "0-1\n",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list":       "0\n",
	"sys/devices/system/cpu/cpu1/topology/thread_siblings_list":       "1\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "performance\n",
	"sys/devices/system/cpu/vulnerabilities/l1tf":                     "Not affected\n",
	"sys/devices/system/cpu/vulnerabilities/retbleed":                 "Mitigation: Enhanced IBRS\n",
	"sys/devices/system/cpu/vulnerabilities/spectre_v1":               "Mitigation: usercopy/swapgs barriers\n",
	"sys/devices/system/cpu/vulnerabilities/mmio_stale_data":          "Vulnerable: Clear CPU buffers attempted, no microcode\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
}

func limits(soft, hard int) string {
	return fmt.Sprintf(`Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            %-20d %-20d files     
Max address space         unlimited            unlimited            bytes     
`, soft, hard)
}

func cpuinfo(flags string, cpus int) string {
	var b strings.Builder
	for cpu := range cpus {
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Example CPU @ 2.60GHz\nstepping\t: 7\nmicrocode\t: 0x5003801\ncpu MHz\t\t: 2600.000\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\nfpu\t\t: yes\nflags\t\t: %s\nbogomips\t: 5200.00\n\n",
			cpu, cpus, cpu, cpus, flags)
	}
	return b.String()
}

// onTop is base with some files changed; "" takes one away, "-> x" makes a link.
func onTop(base, change map[string]string) map[string]string {
	files := maps.Clone(base)
	maps.Copy(files, change)
	return files
}

// fixture is a machine made of files, whose CPUs 0 to cpus-1 may be used.
func fixture(t *testing.T, cpus int, files map[string]string) machine {
	t.Helper()
	m := machine{root: t.TempDir()}
	for cpu := range cpus {
		m.cpus = append(m.cpus, cpu)
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		path := m.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestDescribe(t *testing.T) {
	h := fixture(t, 2, twoCores).describe(t.Context())
	got := fmt.Sprintf("%s|%s|%v|%d|%d|%q|%s|%s|%d|%v|%v", h.Kernel, h.CPUModel, h.CPUs, h.PhysicalCores, h.MemoryBytes,
		h.Hypervisor, h.Governor, h.ClockSource, h.FileLimit, h.PortRange, *h.LoadAverage1)
	want := `6.12.0-test|Example CPU @ 2.60GHz|[0 1]|2|8192000000|""|performance|tsc|1023|[32768 60999]|0.25`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	facts := map[string]string{
		"aslr": "2", "somaxconn": "4096", "thp": "madvise", "microcode": "0x5003801",
		"mitigations": "mitigated: retbleed spectre_v1; vulnerable: mmio_stale_data",
	}
	if !maps.Equal(h.Facts, facts) {
		t.Errorf("facts\n got %v\nwant %v", h.Facts, facts)
	}
}

// What a machine does not tell stays empty.
func TestDescribeUnknown(t *testing.T) {
	h := fixture(t, 1, nil).describe(t.Context())
	if h.Kernel != "" || h.CPUModel != "" || h.MemoryBytes != 0 || h.FileLimit != 0 || h.PortRange != [2]int{} || len(h.Facts) != 0 || h.Hypervisor != "" {
		t.Errorf("out of nothing: %+v", h)
	}
}

func TestHypervisorAndContainer(t *testing.T) {
	guest := onTop(twoCores, map[string]string{"proc/cpuinfo": cpuinfo("fpu hypervisor sse2", 2)})
	tests := []struct {
		name                  string
		base                  map[string]string
		change                map[string]string
		hypervisor, container string
	}{
		{"bare metal", twoCores, nil, "", ""},
		{"unnamed", guest, nil, "unnamed", ""},
		{"named by firmware", guest, map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "QEMU", ""},
		{"the maker of a real machine", twoCores, map[string]string{"sys/class/dmi/id/sys_vendor": "LENOVO\n"}, "", ""},
		{"xen", twoCores, map[string]string{"sys/hypervisor/type": "xen\n"}, "xen", ""},
		{"arm guest", twoCores, map[string]string{"proc/device-tree/hypervisor/compatible": "linux,kvm\x00"}, "linux,kvm", ""},
		{"docker by file", twoCores, map[string]string{".dockerenv": "\n"}, "", "docker"},
		{"kubernetes by group", twoCores, map[string]string{"proc/42/cgroup": "0::/kubepods.slice/pod1\n"}, "", "kubepods"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := fixture(t, 2, onTop(tt.base, tt.change))
			if got := m.hypervisor(); got != tt.hypervisor {
				t.Errorf("hypervisor %q, want %q", got, tt.hypervisor)
			}
			if got := m.container(); got != tt.container {
				t.Errorf("container %q, want %q", got, tt.container)
			}
		})
	}
}

func TestGovernorsThatDiffer(t *testing.T) {
	files := onTop(twoCores, map[string]string{"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n"})
	if got := fixture(t, 2, files).governor(); got != "performance,powersave" {
		t.Errorf("two CPUs: %q", got)
	}
	if got := fixture(t, 1, files).governor(); got != "performance" {
		t.Errorf("a CPU that may not be used counts: %q", got)
	}
}

// Real answers of the machine that runs the test: nothing but that they exist.
func TestDescribeHere(t *testing.T) {
	h := Describe(t.Context(), "")
	if len(h.CPUs) == 0 || h.PhysicalCores == 0 || h.MemoryBytes == 0 || h.FileLimit == 0 || h.Kernel == "" || h.NodeVersion != "" {
		t.Errorf("%+v", h)
	}
}

func TestNodeVersion(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := nodeVersion(t.Context(), script("node", "echo v99.1.0")); got != "v99.1.0" {
		t.Errorf("got %q", got)
	}
	if got := nodeVersion(t.Context(), script("broken", "echo v99; exit 1")); got != "" {
		t.Errorf("a broken node has version %q", got)
	}
	if got := nodeVersion(t.Context(), filepath.Join(dir, "none")); got != "" {
		t.Errorf("no node has version %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := nodeVersion(ctx, script("slow", "exec sleep 60")); got != "" {
		t.Errorf("a node that hangs has version %q", got)
	}
}

func TestPreflight(t *testing.T) {
	small := onTop(twoCores, map[string]string{
		"proc/42/limits":                        limits(128, 128),
		"proc/sys/net/ipv4/ip_local_port_range": "40000\t40299\n", // 300 ports
	})
	reserved := onTop(small, map[string]string{"proc/sys/net/ipv4/ip_local_reserved_ports": "8080,40010-40019,40299-50000\n"}) // 11 of them
	tests := []struct {
		name  string
		files map[string]string
		need  Need
		want  string
	}{
		{"enough", twoCores, Need{Files: 1023, Ports: 28232}, ""}, // 60999-32768+1
		{"one descriptor short", twoCores, Need{Files: 1024}, "check open files: need 1024 descriptors, have 1023"},
		{"300 connections and 128 descriptors", small, Need{Files: 364, Ports: 300}, "check open files: need 364 descriptors, have 128"},
		{"one port short", small, Need{Ports: 301}, "check local ports: need 301, have 300 (40000 to 40299, 0 of them reserved)"},
		{"reserved ports", reserved, Need{Ports: 290}, "check local ports: need 290, have 289 (40000 to 40299, 11 of them reserved)"},
		{"both", small, Need{Files: 364, Ports: 301}, "check open files: need 364 descriptors, have 128\ncheck local ports: need 301, have 300 (40000 to 40299, 0 of them reserved)"},
		{"unknown limits", nil, Need{Files: 1e9, Ports: 1e9}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := fixture(t, 2, tt.files).preflight(tt.need); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "0": {0}, "0-3,8,10-11\n": {0, 1, 2, 3, 8, 10, 11}, "5,1": {1, 5}, "1,0-1": {0, 1}} {
		got, err := parseList(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "3-1", "-1", "0-999999999", "1,,2", "0-"} {
		if got, err := parseList(text); err == nil {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}

// The hard limit decides, for servers and generators raise their soft one.
func TestPreflightUnderLimits(t *testing.T) {
	if os.Getenv("HOST_TEST_PREFLIGHT") != "" {
		fmt.Printf("preflight: %v\n", Preflight(Need{Files: 364}))
		return
	}
	for limit, want := range map[string]string{
		"ulimit -n 128":  "preflight: check open files: need 364 descriptors, have 128\n",
		"ulimit -Sn 128": "preflight: <nil>\n",
	} {
		cmd := exec.Command("sh", "-c", limit+`; exec "$0" -test.run=^TestPreflightUnderLimits$`, os.Args[0])
		cmd.Env = append(os.Environ(), "HOST_TEST_PREFLIGHT=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %v, %q, want %q", limit, err, out, want)
		}
	}
}

func TestPower(t *testing.T) {
	const dir = "sys/class/power_supply/"
	battery := func(status string) map[string]string {
		return map[string]string{dir + "BAT0/type": "Battery\n", dir + "BAT0/status": status + "\n"}
	}
	mains := func(online string) map[string]string {
		return map[string]string{dir + "AC/type": "Mains\n", dir + "AC/online": online + "\n"}
	}
	mouse := map[string]string{dir + "hid-1/type": "Battery\n", dir + "hid-1/scope": "Device\n", dir + "hid-1/status": "Discharging\n"}
	tests := []struct {
		name    string
		files   map[string]string
		source  string
		battery bool
	}{
		{"no folder", nil, "", false},
		{"desktop", mains("1"), "mains", false},
		{"desktop with a mouse", onTop(mains("1"), mouse), "mains", false},
		{"nothing but a mouse", mouse, "mains", false},
		{"laptop plugged in", onTop(battery("Charging"), mains("1")), "mains", true},
		{"laptop plugged in, using both", onTop(battery("Discharging"), mains("1")), "mains", true},
		{"laptop unplugged", onTop(battery("Discharging"), mains("0")), "battery", true},
		{"laptop without a file for mains, full", battery("Full"), "mains", true},
		{"laptop without a file for mains", battery("Discharging"), "battery", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source, has := fixture(t, 1, tt.files).power()
			if source != tt.source || has != tt.battery {
				t.Errorf("%q, battery %v; want %q, %v", source, has, tt.source, tt.battery)
			}
		})
	}
}
