package host

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// soundClocks are the clock sources that are read without leaving the processor
// (or, for guests, with their hypervisor's help); slowClocks cost a microsecond
// or more for each reading, which a generator pays several times a request.
var (
	soundClocks = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}
	slowClocks  = []string{"hpet", "acpi_pm", "jiffies", "pit"}
)

// JudgeHost holds the settings of a machine against what a measurement needs
// (method E2, E4, E5). None of them changes by itself, so once a session will do.
func JudgeHost(h record.Host) []record.Check {
	clock := unknown(nameClock, strings.Join(soundClocks, " "))
	if h.ClockSource != "" {
		clock = record.Check{Name: clock.Name, OK: slices.Contains(soundClocks, h.ClockSource), Void: slices.Contains(slowClocks, h.ClockSource), Observed: h.ClockSource, Limit: clock.Limit}
	}
	governor := unknown(nameGovernor, "performance")
	if h.Governor != "" {
		governor = record.Check{Name: governor.Name, OK: h.Governor == "performance", Observed: h.Governor, Limit: governor.Limit}
	}
	aslr := unknown(nameASLR, "2")
	if v, ok := h.Facts["aslr"]; ok {
		aslr = record.Check{Name: aslr.Name, OK: v == "2", Observed: v, Limit: aslr.Limit}
	}
	cores := unknown(nameCores, coresLimit)
	if h.PhysicalCores > 0 {
		cores = record.Check{Name: cores.Name, OK: h.PhysicalCores >= 3, Observed: fmt.Sprint(h.PhysicalCores), Limit: coresLimit}
	}
	return []record.Check{clock, governor, judgePower(h), aslr, cores, judgeQuota(h)}
}

// judgePower: on a battery, or told to save power, a processor is not the one that
// it can be (method E2, E8).
func judgePower(h record.Host) record.Check {
	c := unknown(namePower, "mains")
	v, ok := h.Facts["power"]
	if !ok {
		return c
	}
	c = record.Check{Name: c.Name, OK: v != "battery", Void: v == "battery", Observed: v, Limit: c.Limit}
	if h.Facts["low_power_mode"] == "1" {
		c.OK, c.Observed = false, c.Observed+", low power mode"
	}
	if limit, ok := h.Facts["cpu_speed_limit_percent"]; ok && limit != "100" {
		c.OK, c.Observed = false, c.Observed+", CPU held to "+limit+" %"
	}
	return c
}

const coresLimit = "3 or more, to keep the k-core servers apart from their generator"

// judgeQuota: a quota is not pinning. It stops all threads at once for up to
// 100 ms (method M5).
func judgeQuota(h record.Host) record.Check {
	c := record.Check{Name: nameQuotaSet, OK: true, Observed: "none", Limit: "none"}
	v2, known2 := h.Facts["cpu_quota"]
	v1, known1 := h.Facts["cpu_quota_v1_us"]
	switch {
	case h.OS != "linux":
		return unknown(c.Name, c.Limit)
	case known2 && !strings.HasPrefix(v2, "max"):
		c.OK, c.Observed = false, v2+" us"
	case known1 && !strings.HasPrefix(v1, "-"):
		c.OK, c.Observed = false, v1+" us"
	}
	return c
}

// Grade sums up how far a machine's numbers can be trusted (method E9): A bare
// metal with every check OK; B a guest or container, or a check not OK or not
// known; C a laptop, CPUs that cannot be pinned, or not Linux; D a check failed:
// numbers are kept, verdicts are not given.
func Grade(h record.Host, checks []record.Check) string {
	grade := "A"
	if h.Hypervisor != "" || h.Facts["container"] != "" {
		grade = "B"
	}
	for _, c := range checks {
		if !c.OK {
			grade = "B"
		}
	}
	if h.OS != "linux" || len(h.CPUs) < 2 || h.Facts["battery"] != "" {
		grade = "C"
	}
	for _, c := range checks {
		if c.Void && !c.OK {
			grade = "D"
		}
	}
	return grade
}
