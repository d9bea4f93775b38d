package host

import (
	"fmt"
	"maps"
	"slices"

	"gonogo/runner/record"
)

// Changed compares two descriptions of one machine, from the beginning and the end
// of a session, and returns a failed check for each setting that is no longer the
// same: what was measured before and after is then not comparable (method E7).
func Changed(before, after record.Host) []record.Check {
	b, a := fixed(before), fixed(after)
	var checks []record.Check
	for _, name := range slices.Sorted(maps.Keys(union(b, a))) {
		if b[name] != a[name] {
			checks = append(checks, record.Check{Name: name + " changed", Void: true, Observed: orNone(a[name]), Limit: orNone(b[name])})
		}
	}
	return checks
}

// fixed are the members that stay the same while a machine is left alone, by name.
func fixed(h record.Host) map[string]string {
	all := map[string]string{
		"kernel": h.Kernel, "CPU model": h.CPUModel, "usable CPUs": fmt.Sprint(h.CPUs), "hypervisor": h.Hypervisor, "governor": h.Governor,
		nameClock: h.ClockSource, "file limit": fmt.Sprint(h.FileLimit), "port range": fmt.Sprint(h.PortRange),
		"node version": h.NodeVersion, "go version": h.GoVersion,
	}
	maps.Copy(all, h.Facts)
	return all
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
