package host

import "strings"

// pmsetFacts reads what macOS says of its power (method E8): `pmset -g batt`,
// `pmset -g` and `pmset -g therm`. What a text does not say is absent.
func pmsetFacts(batt, settings, therm string) map[string]string {
	facts := map[string]string{}
	switch {
	case strings.Contains(batt, "drawing from 'AC Power'"):
		facts["power"] = "mains"
	case strings.Contains(batt, "drawing from 'Battery Power'"):
		facts["power"] = "battery"
	}
	if strings.Contains(batt, "InternalBattery") {
		facts["battery"] = "present"
	}
	if v, ok := pmsetValue(settings, "lowpowermode"); ok {
		facts["low_power_mode"] = v
	}
	if v, ok := pmsetValue(therm, "CPU_Speed_Limit"); ok {
		facts["cpu_speed_limit_percent"] = v
	}
	return facts
}

// pmsetValue finds "name value" or "name = value" on a line of its own.
func pmsetValue(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(f) == 2 && f[0] == name {
			return f[1], true
		}
	}
	return "", false
}
