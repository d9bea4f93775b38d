package host

import (
	"slices"
	"testing"

	"gonogo/runner/record"
)

// sound is a bare machine with nothing to object to.
func sound() record.Host {
	return record.Host{OS: "linux", CPUs: []int{0, 1, 2, 3}, PhysicalCores: 4, ClockSource: "tsc", Governor: "performance",
		Facts: map[string]string{"power": "mains", "aslr": "2", "cpu_quota": "max 100000"}}
}

func TestJudgeHostAndGrade(t *testing.T) {
	tests := []struct {
		name, gate string
		change     func(*record.Host)
		want       string
		grade      string
	}{
		{"all well", "clock source", func(*record.Host) {}, "ok tsc", "A"},
		{"guest's clock", "clock source", func(h *record.Host) { h.ClockSource = "kvm-clock" }, "ok kvm-clock", "A"},
		{"slow clock", "clock source", func(h *record.Host) { h.ClockSource = "hpet" }, "fail hpet", "D"},
		{"slow clock", "clock source", func(h *record.Host) { h.ClockSource = "acpi_pm" }, "fail acpi_pm", "D"},
		{"odd clock", "clock source", func(h *record.Host) { h.ClockSource = "mct" }, "warn mct", "B"},
		{"no clock", "clock source", func(h *record.Host) { h.ClockSource = "" }, "unknown unknown", "B"},
		{"governor", "CPU governor", func(h *record.Host) { h.Governor = "powersave" }, "warn powersave", "B"},
		{"governors", "CPU governor", func(h *record.Host) { h.Governor = "performance,powersave" }, "warn performance,powersave", "B"},
		{"no governor", "CPU governor", func(h *record.Host) { h.Governor = "" }, "unknown unknown", "B"},
		{"on battery", "power", func(h *record.Host) { h.Facts["power"] = "battery"; h.Facts["battery"] = "present" }, "fail battery", "D"},
		{"laptop on mains", "power", func(h *record.Host) { h.Facts["battery"] = "present" }, "ok mains", "C"},
		{"no power supply", "power", func(h *record.Host) { delete(h.Facts, "power") }, "unknown unknown", "B"},
		{"no randomisation", "address space randomisation", func(h *record.Host) { h.Facts["aslr"] = "0" }, "warn 0", "B"},
		{"2 cores", "physical cores", func(h *record.Host) { h.PhysicalCores = 2; h.CPUs = h.CPUs[:2] }, "warn 2", "B"},
		{"3 cores", "physical cores", func(h *record.Host) { h.PhysicalCores = 3 }, "ok 3", "A"},
		{"1 CPU", "physical cores", func(h *record.Host) { h.PhysicalCores = 1; h.CPUs = h.CPUs[:1] }, "warn 1", "C"},
		{"quota", "CPU quota", func(h *record.Host) { h.Facts["cpu_quota"] = "200000 100000" }, "warn 200000 100000 us", "B"},
		{"quota, version 1", "CPU quota", func(h *record.Host) { h.Facts["cpu_quota_v1_us"] = "50000" }, "warn 50000 us", "B"},
		{"no quota, version 1", "CPU quota", func(h *record.Host) { h.Facts["cpu_quota_v1_us"] = "-1" }, "ok none", "A"},
		{"guest", "CPU quota", func(h *record.Host) { h.Hypervisor = "KVM" }, "ok none", "B"},
		{"container", "CPU quota", func(h *record.Host) { h.Facts["container"] = "docker" }, "ok none", "B"},
		{"macOS", "CPU quota", func(h *record.Host) { h.OS = "darwin" }, "unknown unknown", "C"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := sound()
			tt.change(&h)
			checks := JudgeHost(h)
			if got := find(t, checks, tt.gate); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.gate, got, tt.want)
			}
			if got := Grade(h, checks); got != tt.grade {
				t.Errorf("grade %s, want %s", got, tt.grade)
			}
		})
	}
}

// A failed check outweighs all else, an unknown one caps at B.
func TestGradeOfChecks(t *testing.T) {
	pressure := unknown("CPU pressure", "1 %")
	if got := Grade(sound(), []record.Check{pressure}); got != "B" {
		t.Errorf("pressure unknown: grade %s, want B", got)
	}
	if got := Grade(sound(), []record.Check{{Name: "steal", Void: true}, pressure}); got != "D" {
		t.Errorf("a failed check: grade %s, want D", got)
	}
	// A check that would void a run, and did not.
	if got := Grade(sound(), []record.Check{{Name: "CPUs of the server", OK: true, Void: true}}); got != "A" {
		t.Errorf("a check that is OK: grade %s, want A", got)
	}
}

func find(t *testing.T, checks []record.Check, name string) string {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return word(c) + " " + c.Observed
		}
	}
	t.Fatalf("no check %q in %v", name, checks)
	return ""
}

func word(c record.Check) string {
	switch {
	case c.Unknown && (c.OK || c.Void):
		return "unknown, and yet judged"
	case c.Unknown:
		return "unknown"
	case c.OK && c.Void:
		return "good, and yet void"
	case c.OK:
		return "ok"
	case c.Void:
		return "fail"
	}
	return "warn"
}

// Every gate has its advice, and only those that do not hold give it.
func TestAdvise(t *testing.T) {
	disturbers := []record.Disturber{{PID: 77, Name: "backup", CPU: 1234567890}}
	bad := []record.Check{{Name: nameForeign, Void: true}, {Name: nameSteal}, {Name: nameSwap, OK: true}, {Name: nameCPU, Unknown: true}, {Name: "descriptors"}}
	want := []string{
		"CPU used by others: end or stop what else uses the CPUs; backup (PID 77) used 1.235s",
		"steal: other guests use this machine's processors: take a dedicated host, or another hour",
	}
	if got := Advise(bad, disturbers); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	checks := append(JudgeQuiet(record.Environment{}, record.MachineRules{}), JudgeHost(record.Host{})...)
	checks = append(checks, JudgeHiccups(nil, record.MachineRules{}), JudgeCanary(0, 0, record.MachineRules{}))
	for _, c := range checks {
		if remedies[c.Name] == "" {
			t.Errorf("%s has no advice", c.Name)
		}
	}
	if len(checks) != len(remedies) {
		t.Errorf("%d gates, advice on %d", len(checks), len(remedies))
	}
}

func TestChanged(t *testing.T) {
	same := sound()
	load := 3.5
	same.LoadAverage1 = &load // differs at all times
	if got := Changed(sound(), same); len(got) != 0 {
		t.Errorf("nothing has changed: %v", got)
	}
	other := sound()
	other.Governor = "powersave"
	other.Facts["thp"] = "always"
	delete(other.Facts, "aslr")
	var got []string
	for _, c := range Changed(sound(), other) {
		got = append(got, c.Name+": "+word(c)+" "+c.Observed+", was "+c.Limit)
	}
	want := []string{"aslr changed: fail none, was 2", "governor changed: fail powersave, was performance", "thp changed: fail always, was none"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
