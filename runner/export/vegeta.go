package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"gonogo/runner/record"
)

// vegetaTarget is a line of vegeta's JSON target format: its README, "json".
type vegetaTarget struct {
	Method string              `json:"method"`
	URL    string              `json:"url"`
	Body   []byte              `json:"body,omitempty"`
	Header map[string][]string `json:"header,omitempty"`
}

// vegetaEnd ends the targets in the script. No line of JSON is like it.
const vegetaEnd = "END_OF_TARGETS"

// Vegeta writes a shell script that runs vegeta attack over one target for each id.
func Vegeta(j Job) (*Text, error) {
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("export for vegeta: %w", err)
	}
	lost := append(j.lost("vegeta"),
		"random ids: vegeta goes round through a list in which each id stands once, shuffled by the seed",
		"right answers: vegeta reads no body, and any status from 200 to 399 is a success to it; look at status_codes and bytes_in")
	if j.open() && arrivals(&j.Scenario) == "poisson" {
		lost = append(lost, "poisson arrivals: vegeta spaces requests evenly, so its tail is shorter")
	}
	targets, err := j.vegetaTargets()
	if err != nil {
		return nil, fmt.Errorf("export for vegeta: %w", err)
	}
	s := &j.Scenario
	rate := "0" // as fast as its workers can: a closed loop
	if j.open() {
		rate = vegetaRate(s.RatePerSec)
	}
	attack := fmt.Sprintf("vegeta attack -format=json -targets=\"$targets\" -rate=%s -workers=%d -max-workers=%d -connections=%d -max-connections=%d -timeout=%s -redirects=-1",
		rate, s.Connections, s.Connections, s.Connections, s.Connections, millis(j.Timeout))
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	b.WriteString(j.heading("#", "vegeta", "Run: sh FILE >vegeta.json; then gonogo import --engine vegeta vegeta.json", lost))
	fmt.Fprintf(&b, "set -eu\ntargets=$(mktemp)\ntrap 'rm -f \"$targets\"' EXIT\ncat >\"$targets\" <<'%s'\n%s%s\n", vegetaEnd, targets, vegetaEnd)
	if s.Warmup > 0 {
		fmt.Fprintf(&b, "%s -duration=%s >/dev/null\n", attack, millis(s.Warmup))
	}
	fmt.Fprintf(&b, "%s -duration=%s | vegeta report -type=json\n", attack, millis(s.Window))
	return &Text{b.String(), lost}, nil
}

// vegetaRate is a rate in vegeta's whole numbers: to a thousandth of a request a second.
func vegetaRate(perSec float64) string {
	rate, unit := k6Rate(perSec)
	return fmt.Sprintf("%d/%s", rate, unit)
}

// vegetaTargets are one line for each id, in shuffled order, each with a request
// drawn from the mix.
func (j *Job) vegetaTargets() (string, error) {
	random := rand.New(rand.NewPCG(j.Seed, 0))
	var b strings.Builder
	for _, i := range random.Perm(j.IDs) {
		id := fmt.Sprint(i + 1)
		r := draw(random, j.Scenario.Requests)
		t := vegetaTarget{Method: r.Method, URL: "http://" + j.Host + strings.ReplaceAll(r.Path, "{id}", id), Body: []byte(strings.ReplaceAll(r.Body, "{id}", id))}
		for name, value := range r.Header {
			if t.Header == nil {
				t.Header = map[string][]string{}
			}
			t.Header[name] = []string{value}
		}
		line, err := json.Marshal(t)
		if err != nil {
			return "", err
		}
		b.Write(append(line, '\n'))
	}
	return b.String(), nil
}

// draw draws a request by its weight.
func draw(random *rand.Rand, list []record.Request) record.Request {
	total := 0
	for _, r := range list {
		total += cmp.Or(r.Weight, 1)
	}
	left := random.IntN(total)
	for _, r := range list {
		if left -= cmp.Or(r.Weight, 1); left < 0 {
			return r
		}
	}
	return list[len(list)-1]
}
