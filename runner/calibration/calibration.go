// Package calibration asks how often the verdicts of this kit are right on this
// machine, in two ways.
//
// Simulated: the noise of the machine is measured (equal servers, fresh processes),
// and sessions with that noise are made up by the thousand and judged. This tells
// small rates, and how many blocks would do.
//
// For real: sessions of servers of which the truth is known, equal or slowed by a
// known tenth, run and judged as any other session. A few tell no rate of 5 %, but
// they go through all of the product, and its noise is no model.
//
// The package is pure: plans out, sessions in, a Result and its tables out.
package calibration

import (
	"math"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Effect is the difference that has to be found.
const Effect = 0.10

// The rates that verdicts promise: a session says BETTER or WORSE of equal servers
// in at most falseMax, finds Effect with the power that plans promise, and says
// EQUIVALENT of servers that differ by the very margin in at most falseMax.
const (
	falseMax = stats.Alpha
	foundMin = stats.Power
)

// Result is a whole calibration.
type Result struct {
	Kit       string      `json:"kit"`
	Started   time.Time   `json:"started"`
	Host      record.Host `json:"host"`
	Seed      uint64      `json:"seed"`
	From      string      `json:"from"`   // the session that the noise was measured in
	Blocks    int         `json:"blocks"` // of the default plan on this machine
	Family    int         `json:"family"` // primary tests of the default plan
	Effect    float64     `json:"effect_ratio"`
	Noise     []Source    `json:"noise"`
	Simulated []Row       `json:"simulated"`
	Known     []Known     `json:"known,omitempty"` // absent if no real session ran
}

// Held says whether a number is on the right side of its limit. A number from a
// sample is so only if its whole interval is, and is missed only if none of it is.
type Held string

const (
	Yes     Held = "yes"
	No      Held = "NO"
	Unclear Held = "unclear" // the limit lies inside the interval
)

// Share is a rate that was counted, with its exact 95 % interval.
type Share struct {
	Hits   int     `json:"hits"`
	Trials int     `json:"trials"`
	Ratio  float64 `json:"ratio"`
	Lo     float64 `json:"ratio_lo"`
	Hi     float64 `json:"ratio_hi"`
	Held   Held    `json:"held,omitempty"` // absent where nothing is promised
}

func share(hits, trials int) Share {
	r := stats.NewRate(hits, trials)
	return Share{Hits: hits, Trials: trials, Ratio: r.Share, Lo: r.Lo, Hi: r.Hi}
}

// within judges the share by limits of which it should be inside.
func (s Share) within(least, most float64) Share {
	switch {
	case least <= s.Lo && s.Hi <= most:
		s.Held = Yes
	case s.Hi < least || most < s.Lo:
		s.Held = No
	default:
		s.Held = Unclear
	}
	return s
}

// Missed lists what did not hold: what a simulation misses for certain, and each
// count of the real sessions. What is merely unclear is not in it.
func (r *Result) Missed() []string {
	var missed []string
	for _, row := range r.Simulated {
		missed = append(missed, row.missed()...)
	}
	for _, k := range r.Known {
		missed = append(missed, k.missed()...)
	}
	return missed
}

// percent prints a ratio; tiny ones keep a digit that is not 0.
func percent(ratio float64) float64 { return math.Round(1e4*ratio) / 100 }
