package host

import (
	"maps"
	"strings"
	"testing"

	"gonogo/runner/record"
)

func TestPmset(t *testing.T) {
	const (
		plugged   = "Now drawing from 'AC Power'\n -InternalBattery-0 (id=4653155)\t100%; charged; 0:00 remaining present: true\n"
		unplugged = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t62%; discharging; 3:10 remaining present: true\n"
		desktop   = "Now drawing from 'AC Power'\n"
		settings  = "System-wide power settings:\nCurrently in use:\n standby              1\n lowpowermode         0\n sleep                1\n"
		saving    = " lowpowermode         1\n"
		cool      = "Note: No thermal warning level has been recorded\nNote: No performance warning level has been recorded\n"
		hot       = "CPU Power notify\n\tCPU_Scheduler_Limit \t= 100\n\tCPU_Available_CPUs \t= 8\n\tCPU_Speed_Limit \t= 62\n"
	)
	for _, c := range []struct {
		name                  string
		batt, settings, therm string
		facts                 map[string]string
		check                 string // of the power gate
	}{
		{"laptop on mains", plugged, settings, cool, map[string]string{"power": "mains", "battery": "present", "low_power_mode": "0"}, "ok mains"},
		{"laptop on battery", unplugged, settings, cool, map[string]string{"power": "battery", "battery": "present", "low_power_mode": "0"}, "fail battery"},
		{"saves power on mains", plugged, saving, cool, map[string]string{"power": "mains", "battery": "present", "low_power_mode": "1"}, "warn mains, low power mode"},
		{"hot", desktop, settings, hot, map[string]string{"power": "mains", "low_power_mode": "0", "cpu_speed_limit_percent": "62"}, "warn mains, CPU held to 62 %"},
		{"at full speed", desktop, "", strings.Replace(hot, "62", "100", 1), map[string]string{"power": "mains", "cpu_speed_limit_percent": "100"}, "ok mains"},
		{"no pmset", "", "", "", map[string]string{}, "unknown unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := pmsetFacts(c.batt, c.settings, c.therm)
			if !maps.Equal(facts, c.facts) {
				t.Errorf("facts %v, want %v", facts, c.facts)
			}
			if got := find(t, JudgeHost(record.Host{OS: "darwin", Facts: facts}), namePower); got != c.check {
				t.Errorf("power: %s, want %s", got, c.check)
			}
		})
	}
}
