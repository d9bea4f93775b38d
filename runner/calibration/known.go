package calibration

import (
	"fmt"
	"slices"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Truth says how the target of a session differs from its base.
type Truth string

const (
	Equal  Truth = "equal"
	Slowed Truth = "slowed"
)

// Names of the targets in a session of known truth.
const (
	baseName   = "stub"
	targetName = "stub-2"
)

// The servers of known truth do a fixed number of steps of arithmetic for each
// request, about 200 µs of it, which leaves a tenth of the request's time or less to
// all else. The slowed one does 11 % more, so that the whole request takes 10 %
// more; what it came to is read from the CPU accounts and held against 10 +- 1 %.
const (
	spin       = 100_000
	spinSlowed = 111_000
	truthWidth = 0.01
)

// Short windows: what differs between processes is the noise, and a longer window
// does not make it less.
const (
	knownWarmup = 300 * time.Millisecond
	knownWindow = 500 * time.Millisecond
)

// KnownBlocks are as many as the default plan gives to the closed loop that sessions
// of known truth run.
func KnownBlocks(d *record.Plan) int { return d.Rounds(oneCore, scenario) }

// KnownPlan is a session of a server, its twin, and the same server again, equal or
// slowed. Command is the stub's, without flags.
func KnownPlan(d *record.Plan, command string, truth Truth, blocks int, seed uint64) (*record.Plan, error) {
	sc, ok := d.Scenario(scenario)
	cpus, ok2 := d.Target(oneCore)
	if !ok || !ok2 {
		return nil, fmt.Errorf("plan session of known truth: the default plan has no %s or no %s", scenario, oneCore)
	}
	sc.Warmup, sc.Window = knownWarmup, knownWindow
	p := derive(d, sc, blocks, seed)
	server := func(name, base string, steps int) record.Target {
		return record.Target{Name: name, Base: base, Argv: []string{command, fmt.Sprintf("-spin=%d", steps)}, Env: []string{"GOMAXPROCS=1"},
			Workers: 1, CPUs: cpus.CPUs, GeneratorCPUs: cpus.GeneratorCPUs}
	}
	steps := spin
	if truth == Slowed {
		steps = spinSlowed
	}
	base := server(baseName, "", spin)
	p.Targets = []record.Target{base, twin(base), server(targetName, baseName, steps)}
	p.Primary = questions(targetName, baseName)
	finish(p)
	return p, nil
}

// Outcome is what a session of known truth came to.
type Outcome struct {
	Session string            `json:"session"`
	Truth   Truth             `json:"truth"`
	Words   map[string]string `json:"verdicts"`            // by metric; empty if the session draws no conclusion
	CPU     *float64          `json:"cpu_ratio,omitempty"` // CPU per request of the target over its base's, by the accounts of all runs
	base    cpuAccount
	target  cpuAccount
}

type cpuAccount struct {
	cpu      time.Duration
	answered uint64
}

func (a cpuAccount) perRequest() float64 { return float64(a.cpu) / float64(a.answered) }

// OutcomeOf reads a session and its evaluation.
func OutcomeOf(s *record.Session, e findings.Evaluation, truth Truth) Outcome {
	o := Outcome{Session: s.ID, Truth: truth, Words: map[string]string{}}
	for _, v := range e.Verdicts {
		o.Words[v.Primary.Metric] = v.Word
	}
	for i, old := range s.Superseded() {
		r := &s.Runs[i]
		if old || r.Outcome != record.Done || r.ServerCPU == nil {
			continue
		}
		switch r.Step.Target {
		case baseName:
			o.base.add(r)
		case targetName:
			o.target.add(r)
		}
	}
	o.CPU = cpuRatio(o.target, o.base)
	return o
}

// String is the line that progress shows.
func (o Outcome) String() string {
	text := "CPU per request " + change(o.CPU)
	for _, q := range questions(targetName, baseName) {
		word := o.Words[q.Metric]
		if word == "" {
			word = "no verdict"
		}
		text += fmt.Sprintf(", %s %s", q.Metric, word)
	}
	return text
}

func (a *cpuAccount) add(r *record.Run) {
	a.cpu += r.ServerCPU.Total()
	a.answered += r.Load.Counts.Answered()
}

func cpuRatio(target, base cpuAccount) *float64 {
	if target.answered == 0 || base.answered == 0 || base.cpu <= 0 {
		return nil
	}
	ratio := target.perRequest() / base.perRequest()
	return &ratio
}

// Known is the count over all sessions of one truth.
type Known struct {
	Truth    Truth     `json:"truth"`
	Sessions []Outcome `json:"sessions"`
	CPU      *float64  `json:"cpu_ratio,omitempty"` // over all sessions
	CPUHeld  Held      `json:"cpu_held"`            // within 1 % of what it was to be
	Tallies  []Tally   `json:"tallies"`             // by metric
}

// Tally counts the words on one metric.
type Tally struct {
	Metric string         `json:"metric"`
	Words  map[string]int `json:"words"` // "" counts sessions without a word
	Right  int            `json:"right"` // equal: neither BETTER nor WORSE, slowed: WORSE
	Wrong  int            `json:"wrong"` // equal: BETTER or WORSE, slowed: BETTER or EQUIVALENT
	Held   Held           `json:"held"`
}

// Count tallies the sessions of one truth.
func Count(truth Truth, all []Outcome) Known {
	k := Known{Truth: truth, CPUHeld: No}
	var target, base cpuAccount
	for _, o := range all {
		if o.Truth != truth {
			continue
		}
		k.Sessions = append(k.Sessions, o)
		target.cpu, target.answered = target.cpu+o.target.cpu, target.answered+o.target.answered
		base.cpu, base.answered = base.cpu+o.base.cpu, base.answered+o.base.answered
	}
	k.CPU = cpuRatio(target, base)
	if k.CPU != nil && k.expected()-truthWidth <= *k.CPU && *k.CPU <= k.expected()+truthWidth {
		k.CPUHeld = Yes
	}
	for _, q := range questions(targetName, baseName) {
		k.Tallies = append(k.Tallies, k.tally(q.Metric))
	}
	return k
}

func (k *Known) expected() float64 {
	if k.Truth == Slowed {
		return 1 + Effect
	}
	return 1
}

// tally holds the words of one metric against the truth. Both truths want a word
// other than INVALID in 8 of 10 sessions: sessions that say nothing say nothing
// wrong, and are no success. A session of equal servers may be wrong in 1 of 10;
// at a true rate of 5 %, 2 or more of 10 come in 9 %.
func (k *Known) tally(metric string) Tally {
	t := Tally{Metric: metric, Words: map[string]int{}, Held: No}
	for _, o := range k.Sessions {
		word := o.Words[metric]
		t.Words[word]++
		switch right, wrong := sort(k.Truth, stats.Word(word)); {
		case right:
			t.Right++
		case wrong:
			t.Wrong++
		}
	}
	n := len(k.Sessions)
	if n > 0 && 10*t.Right >= 8*n && 10*t.Wrong <= n {
		t.Held = Yes
	}
	return t
}

// sort tells whether a word is right or wrong of a truth. INCONCLUSIVE is neither of
// the slowed, and right of the equal, of which it claims nothing.
func sort(truth Truth, w stats.Word) (right, wrong bool) {
	if truth == Slowed {
		// Rate is lower and CPU per request higher: the target is worse by both.
		return w == stats.Worse, w == stats.Better || w == stats.Equivalent
	}
	return w == stats.Equivalent || w == stats.Inconclusive, w == stats.Better || w == stats.Worse
}

func (k *Known) missed() []string {
	var missed []string
	for _, t := range k.Tallies {
		if t.Held == No {
			missed = append(missed, fmt.Sprintf("%s of %s servers: %d of %d sessions right, %d wrong", t.Metric, k.Truth, t.Right, len(k.Sessions), t.Wrong))
		}
	}
	if k.CPUHeld == No {
		missed = append(missed, fmt.Sprintf("CPU per request of %s servers: the truth itself is off, %s instead of %+.0f +- 1 %%", k.Truth, change(k.CPU), 100*(k.expected()-1)))
	}
	return missed
}

// spread are the smallest and largest CPU ratios of single sessions.
func (k *Known) spread() (lo, hi *float64) {
	var all []float64
	for _, o := range k.Sessions {
		if o.CPU != nil {
			all = append(all, *o.CPU)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	least, most := slices.Min(all), slices.Max(all)
	return &least, &most
}

// change prints a ratio as a difference.
func change(ratio *float64) string {
	if ratio == nil {
		return "unknown"
	}
	return fmt.Sprintf("%+.2f %%", 100*(*ratio-1))
}
