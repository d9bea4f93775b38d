// Package export writes a scenario for load generators of others: k6, vegeta and
// Hyperfoil, and Kubernetes manifests for many workers of our own. It is pure: a
// job in, a text out, the same text for the same job.
//
// What an engine cannot express is told twice, in the comments that the text begins
// with and to the caller. Nothing of a scenario is left out silently.
package export

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Job is what is exported.
type Job struct {
	Kit      string          // version of gonogo
	Scenario record.Scenario // an open loop with its RatePerSec
	Host     string          // host:port of the server; Kubernetes has its own
	IDs      int             // {id} is drawn from 1..IDs
	Seed     uint64          // of what is drawn
	Timeout  time.Duration   // longest time for a reply
}

// Text is a job in an engine's own language.
type Text struct {
	Text string
	Lost []string // what the engine cannot express, a sentence each; in Text too
}

// Engines are the writers by the name of their engine.
var Engines = map[string]func(Job) (*Text, error){"k6": K6, "vegeta": Vegeta, "hyperfoil": Hyperfoil}

// ErrRate says that a rate is wanted: that of an open loop in a plan is a share of a
// capacity, which each session measures anew.
var ErrRate = errors.New("the rate of this scenario is a share of a measured capacity")

// check demands what every engine needs.
func (j *Job) check() error {
	s := &j.Scenario
	switch {
	case len(s.Requests) == 0:
		return fmt.Errorf("scenario %s has no requests", s.Name)
	case s.Connections < 1 || s.Window <= 0 || j.IDs < 1 || j.Timeout <= 0:
		return fmt.Errorf("scenario %s: connections, window, ids and time-out must be above 0", s.Name)
	case j.open() && s.RatePerSec <= 0:
		return fmt.Errorf("scenario %s: %w", s.Name, ErrRate)
	case !j.open() && s.Kind != record.Closed:
		return fmt.Errorf("scenario %s is of kind %s, which no other engine knows", s.Name, s.Kind)
	}
	return nil
}

// open: the load of a memory scenario is an open loop too.
func (j *Job) open() bool { return j.Scenario.Kind == record.Open || j.Scenario.Kind == record.Memory }

// lost is what every foreign engine lacks of a scenario.
func (j *Job) lost(engine string) []string {
	list := []string{
		"fresh server processes, shuffled blocks, the A/A twin and the server's CPU time are not " + engine + "'s: start the server anew before each run yourself",
		"ids: from the same range, but not in gonogo's order",
	}
	if j.Scenario.Kind == record.Memory {
		list = append(list, "memory: "+engine+" does not read the server's; this is the load alone, without the idle and the rest")
	}
	if j.open() {
		list = append(list, "latency: "+engine+" counts it from the send, not from when a request was due: waiting in the generator does not show")
	}
	return list
}

// heading is the comment that every text begins with.
func (j *Job) heading(mark, engine, use string, lost []string) string {
	var b strings.Builder
	line := func(format string, a ...any) {
		b.WriteString(strings.TrimRight(mark+" "+comment(fmt.Sprintf(format, a...)), " ") + "\n")
	}
	line("%s for %s, written by gonogo %s.", j.what(), engine, j.Kit)
	line("%s", use)
	line("")
	line("Not expressed here:")
	for _, l := range lost {
		line("- %s", l)
	}
	return b.String()
}

func (j *Job) what() string {
	s := &j.Scenario
	if j.open() {
		return fmt.Sprintf("%s: open loop, %s requests/s, %s arrivals, %d connections, warm-up %v, window %v", s.Name, number(s.RatePerSec), arrivals(s), s.Connections, s.Warmup, s.Window)
	}
	return fmt.Sprintf("%s: closed loop, %d connections, warm-up %v, window %v", s.Name, s.Connections, s.Warmup, s.Window)
}

func arrivals(s *record.Scenario) string {
	if s.Arrivals == "" {
		return "constant"
	}
	return s.Arrivals
}

// comment keeps a text on its line: a name from a command line must not end it.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// millis is a duration as all three engines read it. Parts of a millisecond are
// rounded up, for none of them knows such.
func millis(d time.Duration) string {
	return fmt.Sprintf("%dms", (d+time.Millisecond-1)/time.Millisecond)
}
