package diff

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonogo/runner/record"
)

// memoryTolerance: the kernel keeps some memory for itself, a little more or less
// by its version; another machine has other modules.
const memoryTolerance = 0.02

// identity are the facts that a machine keeps when it is left alone and its
// software is updated. Equal ones do not prove that a machine is the same: two of
// one model differ in machine_id alone, and where containers share an image not
// even in that. Different ones prove that it is not.
func identity(h record.Host) map[string]string {
	all := map[string]string{
		"os": h.OS, "arch": h.Arch, "cpu_model": h.CPUModel, "hypervisor": h.Hypervisor,
		"cpus": fmt.Sprint(h.CPUs), "physical_cores": strconv.Itoa(h.PhysicalCores),
		"container": h.Facts["container"], "smt": h.Facts["smt"],
	}
	if h.PhysicalCores == 0 {
		all["physical_cores"] = ""
	}
	if v := h.Facts["machine_id"]; v != "" {
		all["machine_id"] = v
	}
	return all
}

// Machines compares two machines: how their identities differ, and what is set
// otherwise on what may be the same machine. A processor that is unknown makes two
// machines different, for nothing shows that they are not.
func Machines(a, b record.Host) (other, settings []Difference) {
	x, y := identity(a), identity(b)
	if x["machine_id"] == "" || y["machine_id"] == "" { // an archive of a system that has none
		delete(x, "machine_id")
		delete(y, "machine_id")
	}
	other = texts(x, y)
	if a.CPUModel == "" && b.CPUModel == "" {
		other = append(other, Difference{Path: "cpu_model"})
	}
	if m, n := float64(a.MemoryBytes), float64(b.MemoryBytes); math.Abs(m-n) > memoryTolerance*math.Max(m, n) {
		other = append(other, Difference{"memory_bytes", strconv.FormatUint(a.MemoryBytes, 10), strconv.FormatUint(b.MemoryBytes, 10)})
	}
	return other, texts(set(a), set(b))
}

// set are the settings that change what is measured.
func set(h record.Host) map[string]string {
	all := map[string]string{
		"governor": h.Governor, "clock_source": h.ClockSource, "file_limit": fmt.Sprint(h.FileLimit), "port_range": fmt.Sprint(h.PortRange), "grade": h.Grade,
	}
	for name, v := range h.Facts {
		if _, ours := identity(h)[name]; !ours && name != "machine_id" {
			all[name] = v
		}
	}
	return all
}

func texts(a, b map[string]string) []Difference {
	var all []Difference
	names := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if a[name] != b[name] {
			all = append(all, Difference{name, a[name], b[name]})
		}
	}
	return all
}
