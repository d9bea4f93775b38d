package sut

import (
	"fmt"
	"strconv"
	"strings"
)

// checkEnvironment compares what a live server says of itself with the variables that
// it was given: which variant it is, how long it waits, and the limits of Go's collector. A server that
// says nothing of a limit is not held to it.
func (p *Process) checkEnvironment() error {
	given := map[string]string{}
	for _, e := range p.spec.Target.Env { // of two equal names the last counts
		name, value, _ := strings.Cut(e, "=")
		given[name] = value
	}
	for _, s := range []struct{ name, want, got string }{
		{"VARIANT", given["VARIANT"], p.settings.Variant},
		{"DELAY_MS", given["DELAY_MS"], p.settings.Delay},
		{"GOGC", percent(given["GOGC"]), p.settings.GOGC},
		{"GOMEMLIMIT", bytesOf(given["GOMEMLIMIT"]), p.settings.GOMEMLIMIT},
	} {
		silent := s.want == "" || s.got == ""
		if s.want != s.got && (s.name == "VARIANT" || s.name == "DELAY_MS" || !silent) {
			return fmt.Errorf("%w: %s is %q, want %q", ErrSettings, s.name, s.got, s.want)
		}
	}
	return nil
}

// percent is a GOGC as the runtime tells it.
func percent(gogc string) string {
	if gogc == "off" {
		return "-1"
	}
	return gogc
}

// bytesOf is a GOMEMLIMIT, such as 64MiB, as the runtime tells it; "" for none.
func bytesOf(limit string) string {
	for i, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		number, ok := strings.CutSuffix(limit, unit)
		n, err := strconv.ParseUint(number, 10, 64)
		if ok && err == nil {
			return strconv.FormatUint(n<<(10*i), 10)
		}
	}
	if limit == "off" {
		return ""
	}
	return limit
}
