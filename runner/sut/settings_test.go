package sut

import (
	"errors"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// What a Go 1.26 server told of itself under each of these settings.
func TestEnvironmentIsReadBack(t *testing.T) {
	const none = "9223372036854775807"
	for _, c := range []struct {
		env                       string
		variant, gogc, gomemlimit string
		wrong                     string
	}{
		{"", "", "100", none, ""},
		{"VARIANT=typed", "typed", "100", none, ""},
		{"VARIANT=typed", "", "100", none, `VARIANT is "", want "typed"`},
		{"", "typed", "100", none, `VARIANT is "typed", want ""`},
		{"GOGC=50", "", "50", none, ""},
		{"GOGC=50", "", "100", none, `GOGC is "100", want "50"`},
		{"GOGC=50", "", "", "", ""}, // another runtime, which says nothing of it
		{"GOGC=off GOMEMLIMIT=64MiB", "", "-1", "67108864", ""},
		{"GOMEMLIMIT=64MiB", "", "100", none, `GOMEMLIMIT is "` + none + `", want "67108864"`},
		{"GOMEMLIMIT=1000", "", "100", "1000", ""},
		{"GOMEMLIMIT=off", "", "100", none, ""},
		{"VARIANT=a VARIANT=b", "b", "100", none, ""},
	} {
		p := &Process{spec: Spec{Target: record.Target{Env: strings.Fields(c.env)}}, settings: record.Settings{Variant: c.variant, GOGC: c.gogc, GOMEMLIMIT: c.gomemlimit}}
		err := p.checkEnvironment()
		if (err != nil) != (c.wrong != "") || err != nil && (!errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", c.env, err, c.wrong)
		}
	}
}

func TestDelayIsReadBack(t *testing.T) {
	for _, c := range []struct {
		env, says string
		ok        bool
	}{{"", "", true}, {"DELAY_MS=5+5+5", "5+5+5", true}, {"DELAY_MS=5", "", false}, {"", "5", false}, {"DELAY_MS=5/5/5", "5+5+5", false}} {
		p := &Process{spec: Spec{Target: record.Target{Env: strings.Fields(c.env)}}, settings: record.Settings{Delay: c.says}}
		if err := p.checkEnvironment(); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrSettings) {
			t.Errorf("%q, says %q: %v", c.env, c.says, err)
		}
	}
}

// Bun and Deno are not asked for their pauses: nothing is known of them.
func TestOtherRuntimesAreNotTraced(t *testing.T) {
	for _, program := range []string{"runtimes/bun/bun", "runtimes/deno/deno"} {
		l := &logFile{}
		was := record.Target{Argv: []string{program, "server.mjs"}}
		if got := l.trace(was); l.traced != "" || len(got.Env) != 0 || len(got.Argv) != 2 {
			t.Errorf("%s: traced as %q, %v %v", program, l.traced, got.Env, got.Argv)
		}
	}
	l := &logFile{}
	if got := l.trace(record.Target{Argv: []string{"runtimes/node22/node", "server.mjs"}}); l.traced != nodeTrace || got.Argv[1] != "--trace-gc" {
		t.Errorf("another Node: traced as %q, %v", l.traced, got.Argv)
	}
}
