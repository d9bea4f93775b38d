package findings

import (
	"fmt"
	"slices"
	"time"

	"gonogo/runner/record"
)

// Standing says whether a maximum may be believed (method M4).
type Standing string

const (
	Reproduced   Standing = "reproduced"   // enough fresh processes show one like it, and it is the server's
	Artefact     Standing = "artefact"     // not the server's, or absent from so many others that it is one process's chance
	Undetermined Standing = "undetermined" // neither: no conclusion rests on it
)

// Maximum is the longest latency of a cell. One request decides it, so it counts
// for nothing until other processes show one like it.
type Maximum struct {
	Value    float64  `json:"max_ns"`
	Run      string   `json:"run"` // key of the step
	Class    Class    `json:"class"`
	Standing Standing `json:"standing"`
	// SeenIn of Of fresh processes had a request of more than half of Value (or the
	// plan's factor in place of 2); in Own of them not all such were caused outside
	// the server. Needed of them make it reproduced. Confirmation runs are among Of.
	SeenIn    int    `json:"seen_in"`
	Own       int    `json:"own"`
	Of        int    `json:"of"`
	Needed    int    `json:"needed"`
	Confirmed int    `json:"confirmation_runs"`
	Traced    int    `json:"traced_runs,omitempty"` // of them, whose runtime was asked for its pauses
	Cause     string `json:"cause"`                 // what was seen that gave it its class
	Text      string `json:"text"`

	steps  []string // runs that count and show it
	lonely bool     // seen once, in a run whose p99.9 is as usual
	asked  int      // of Traced, those that show it
}

// absentRuns: 0 of 20 bounds the share of processes that show it at 1 - 0.05^(1/20)
// = 14 % (method M4, of ten blocks: 2r = 20 further runs). A session of fewer runs
// finds no artefact by absence.
const absentRuns = 20

// neededFor is how many of r processes must show a maximum (method M4). At a rate
// of 0.1 a process 5 of 10 do so by chance in 0.0016 of sessions, at 0.8 in 0.994.
func neededFor(r int) int { return max(3, (r+1)/2) }

// lookAtMaximum fills in the maximum of a cell; a plan without the rule has none.
func (c *Cell) lookAtMaximum(s *record.Session) {
	factor := s.Plan.Rules.ArtefactMaxFactor
	worst := c.slowest()
	if factor <= 0 || worst == nil {
		return
	}
	target, _ := s.Plan.Target(c.Target)
	value := worst.Values[Max]
	limit := time.Duration(value / factor)
	m := &Maximum{Value: value, Run: worst.Step.Key(), Confirmed: len(c.Confirmations)}
	looks := c.evidence(target, limit)
	for _, v := range looks {
		shown, own := v.shows(limit)
		if v.run.Traced != "" {
			m.Traced++
		}
		if shown && v.run.Traced != "" {
			m.asked++
		}
		if shown {
			m.SeenIn++
			if !v.confirms {
				m.steps = append(m.steps, v.run.Step.Key())
			}
		}
		if own {
			m.Own++
		}
		if v.run == worst.run {
			m.Class, m.Cause = v.worst(value)
		}
	}
	m.Of = len(looks)
	m.Needed = neededFor(m.Of)
	m.Standing = m.standing()
	m.lonely = m.SeenIn == 1 && c.usualTail(worst, factor)
	m.Text = m.text()
	c.Maximum = m
}

func (m *Maximum) standing() Standing {
	switch {
	case m.Own >= m.Needed:
		return Reproduced
	case m.Own == 0 && m.SeenIn < m.Needed:
		return Artefact
	case m.SeenIn == 1 && m.Of-1 >= absentRuns:
		return Artefact
	}
	// That all processes show it but always by the machine's fault is a coincidence
	// that nobody should believe: it stays undetermined.
	return Undetermined
}

// slowest is the process that counts with the largest maximum, the first of equals.
func (c *Cell) slowest() *Process {
	var worst *Process
	for i := range c.Processes {
		p := &c.Processes[i]
		if v, ok := p.Values[Max]; ok && (worst == nil || v > worst.Values[Max]) {
			worst = p
		}
	}
	return worst
}

// evidence gathers what all runs of the cell kept, confirmations last, and what only
// all of them together show. It leaves out runs without a latency.
func (c *Cell) evidence(t record.Target, limit time.Duration) []*evidence {
	var looks []*evidence
	for i, p := range slices.Concat(c.Processes, c.Confirmations) {
		longest, ok := p.Values[Max]
		if !ok {
			continue
		}
		v := newEvidence(p.run, t, p.typical)
		v.max, v.confirms = time.Duration(longest), i >= len(c.Processes)
		looks = append(looks, v)
	}
	var ages [][]time.Duration
	lived, diagnosed := time.Duration(0), 0
	for _, v := range looks {
		ages = append(ages, v.slowAges(limit))
		lived = max(lived, v.lived())
		if v.pausedThrough(limit) {
			diagnosed++
		}
	}
	early := sameAge(ages, lived, neededFor(len(looks)))
	for _, v := range looks {
		v.early, v.diagnosed = early, diagnosed
	}
	return looks
}

// shows reports whether a run had a request above the limit, and whether one of
// those is the server's own. Without kept requests nothing speaks against that.
func (v *evidence) shows(limit time.Duration) (shown, own bool) {
	if v.max <= limit {
		return false, false
	}
	kept := false
	for _, s := range v.run.Load.Slowest {
		q := v.request(s)
		if q.latency <= limit {
			continue
		}
		kept = true
		if class, _ := v.classify(q); !class.foreign() {
			return true, true
		}
	}
	return true, !kept
}

// worst classifies the request that made the maximum.
func (v *evidence) worst(value float64) (Class, string) {
	for _, s := range v.run.Load.Slowest {
		if q := v.request(s); float64(q.latency) == value {
			return v.classify(q)
		}
	}
	return Unexplained, "none of its clocks was kept"
}

// text says what was seen and what follows.
func (m *Maximum) text() string {
	text := fmt.Sprintf("a maximum of %s was seen in %d of %s", millis(m.Value), m.SeenIn, count(m.Of, "run"))
	if m.Confirmed > 0 {
		text += fmt.Sprintf(" (%d of them made to confirm it)", m.Confirmed)
	}
	if m.lonely {
		text += ", p99.9 unaffected"
	}
	text += fmt.Sprintf(": %s, %s; ", m.Class, m.Cause)
	if m.Traced > 0 && m.asked == 0 {
		text += fmt.Sprintf("not seen in the %s, so the runtime cannot tell; ", count(m.Traced, "traced run"))
	}
	switch {
	case m.Standing == Reproduced:
		return text + "reproduced"
	case m.Standing == Artefact && m.Own == 0:
		return text + "not the server's, do not conclude from it"
	case m.Standing == Artefact:
		return text + fmt.Sprintf("absent from the other %d, an artefact: do not conclude from it", m.Of-m.SeenIn)
	case m.lonely:
		return text + "an artefact until it recurs, do not conclude from it"
	}
	return text + fmt.Sprintf("undetermined, for %d would have to show it as the server's own: do not conclude from it", m.Needed)
}
