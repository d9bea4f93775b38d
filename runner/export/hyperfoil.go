package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Hyperfoil writes a benchmark for Hyperfoil, by the schema at
// hyperfoil.io/schema.json and the reference of its steps.
func Hyperfoil(j Job) (*Text, error) {
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("export for hyperfoil: %w", err)
	}
	s := &j.Scenario
	if len(s.Requests) > 1 {
		return nil, fmt.Errorf("export for hyperfoil: scenario %s mixes %d requests, which is not written for this engine", s.Name, len(s.Requests))
	}
	lost := append(j.lost("Hyperfoil"), "right answers: the status is checked, the body is not")
	if j.open() {
		lost = append(lost, "a request that finds all connections busy when it is due: Hyperfoil fails the phase where gonogo sends it late")
	}
	var b strings.Builder
	b.WriteString(j.heading("#", "Hyperfoil", "Run: upload FILE; run; export -f json -d . in its CLI; then gonogo import --engine hyperfoil RUN.json", lost))
	fmt.Fprintf(&b, "name: %s\nhttp:\n  host: %s\n  allowHttp2: false\n  useHttpCache: false\n  sharedConnections: %d\n  requestTimeout: %s\n",
		quoted(s.Name), quoted("http://"+j.Host), s.Connections, millis(j.Timeout))
	b.WriteString("ergonomics:\n  autoRangeCheck: false\n  stopOnInvalid: false\n  followRedirect: NEVER\n  repeatCookies: false\nphases:\n")
	scenario := "      scenario: &requests\n" + j.hyperfoilSteps(s.Requests[0])
	if s.Warmup > 0 {
		b.WriteString(j.hyperfoilPhase("warmup", s.Warmup, "") + scenario)
		b.WriteString(j.hyperfoilPhase("window", s.Window, "      startAfterStrict: warmup\n") + "      scenario: *requests\n")
	} else {
		b.WriteString(j.hyperfoilPhase("window", s.Window, "") + scenario)
	}
	return &Text{b.String(), lost}, nil
}

func (j *Job) hyperfoilPhase(name string, d time.Duration, more string) string {
	s := &j.Scenario
	how := fmt.Sprintf("    always:\n      users: %d\n", s.Connections)
	if j.open() {
		how = fmt.Sprintf("    constantRate:\n      usersPerSec: %s\n      maxSessions: %d\n      variance: %t\n", number(s.RatePerSec), s.Connections, arrivals(s) == "poisson")
	}
	return fmt.Sprintf("- %s:\n%s      duration: %s\n%s", name, how, millis(d), more)
}

func (j *Job) hyperfoilSteps(r record.Request) string {
	var b strings.Builder
	id := func(text string) string { return quoted(strings.ReplaceAll(text, "{id}", "${id}")) }
	fmt.Fprintf(&b, "      - request:\n        - randomInt:\n            min: 1\n            max: %d\n            toVar: id\n        - httpRequest:\n            %s: %s\n", j.IDs, r.Method, id(r.Path))
	if len(r.Header) > 0 {
		b.WriteString("            headers:\n")
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			fmt.Fprintf(&b, "              %s: %s\n", quoted(name), quoted(r.Header[name]))
		}
	}
	if r.Body != "" {
		fmt.Fprintf(&b, "            body:\n              pattern: %s\n", id(r.Body))
	}
	status := "2xx"
	if r.WantStatus != 0 {
		status = fmt.Sprint(r.WantStatus)
	}
	fmt.Fprintf(&b, "            handler:\n              status:\n                range: %s\n", status)
	return b.String()
}
