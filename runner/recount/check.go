package recount

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Mismatch is a number that does not follow from the raw record.
type Mismatch struct {
	Where string // a run's step and attempt, a cell, a comparison
	What  string // the number's name
	Says  string // what was printed or evaluated
	Gives string // what the raw record gives here
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%s, %s: says %s, the raw record gives %s", m.Where, m.What, m.Says, m.Gives)
}

const nothing = "nothing"

// Evaluation holds an evaluation against the raw records of its session.
func Evaluation(s *record.Session, e *findings.Evaluation) []Mismatch {
	c := newChecker(s)
	counted := map[attempt]bool{}
	for i := range e.Cells {
		cell := &e.Cells[i]
		for _, p := range cell.Processes {
			counted[attempt{p.Step, p.Attempt}] = true
			c.process(p)
		}
		c.summary(cell)
	}
	for _, st := range s.Plan.Steps {
		for n, r := range c.attempts(st) {
			a := attempt{st, n}
			if c.counts(r) != counted[a] {
				c.add(a.String(), "whether it counts", strconv.FormatBool(counted[a]), strconv.FormatBool(c.counts(r)))
			}
		}
	}
	c.scale(e.Scale)
	for _, r := range e.Ratios {
		if !slices.Contains(Known, string(r.Metric)) {
			continue
		}
		c.ratio(e, r)
	}
	return c.found
}

type attempt struct {
	step record.Step
	n    int
}

func (a attempt) String() string {
	if a.n == 0 {
		return a.step.Key()
	}
	return fmt.Sprintf("%s again %d", a.step.Key(), a.n)
}

type checker struct {
	s     *record.Session
	runs  map[attempt]*record.Run
	last  map[string]int // attempt that counts, by scenario and block
	known map[*record.Run]numbers
	found []Mismatch
}

type numbers struct {
	values map[string]float64
	err    error
}

// of recounts a run, once.
func (c *checker) of(r *record.Run) (map[string]float64, error) {
	n, ok := c.known[r]
	if !ok {
		t, _ := c.s.Plan.Target(r.Step.Target)
		n.values, n.err = Run(r, t)
		c.known[r] = n
	}
	return n.values, n.err
}

func newChecker(s *record.Session) *checker {
	c := &checker{s: s, runs: map[attempt]*record.Run{}, last: map[string]int{}, known: map[*record.Run]numbers{}}
	for i := range s.Runs {
		r := &s.Runs[i]
		c.runs[attempt{r.Step, r.Attempt}] = r
		c.last[group(r.Step)] = max(c.last[group(r.Step)], r.Attempt)
	}
	return c
}

func group(st record.Step) string { return fmt.Sprintf("%d %s", st.Block, st.Scenario) }

func (c *checker) attempts(st record.Step) map[int]*record.Run {
	all := map[int]*record.Run{}
	for n := range c.last[group(st)] + 1 {
		if r, ok := c.runs[attempt{st, n}]; ok {
			all[n] = r
		}
	}
	return all
}

// counts: done, in the last attempt of its group, no check that voids it failed,
// its histogram can be read, and it was not made because of a maximum.
func (c *checker) counts(r *record.Run) bool {
	if slices.Contains(c.s.Plan.Confirm, r.Step) || r.Outcome != record.Done || r.Attempt < c.last[group(r.Step)] {
		return false
	}
	checks := r.Checks
	if r.Load != nil {
		checks = slices.Concat(checks, r.Load.Checks)
	}
	for _, k := range checks {
		if k.Void && !k.OK {
			return false
		}
	}
	_, err := c.of(r)
	return err == nil
}

func (c *checker) add(where, what, says, gives string) {
	c.found = append(c.found, Mismatch{where, what, says, gives})
}

// value holds one number against another; absent is a nil.
func (c *checker) value(where, what string, says, gives *float64) {
	if says == nil && gives == nil || says != nil && gives != nil && same(*says, *gives) {
		return
	}
	c.add(where, what, orNothing(says), orNothing(gives))
}

// same allows for another order of additions, and no more.
func same(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
}

func orNothing(v *float64) string {
	if v == nil {
		return nothing
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func at[K ~string](m map[K]float64, k K) *float64 {
	if v, ok := m[k]; ok {
		return &v
	}
	return nil
}

func (c *checker) process(p findings.Process) {
	a := attempt{p.Step, p.Attempt}
	r, ok := c.runs[a]
	if !ok {
		c.add(a.String(), "run", "there is one", nothing)
		return
	}
	c.run(a, r, func(name string) *float64 { return at(p.Values, findings.Metric(name)) })
}

// run holds every number that is recounted here against what is claimed.
func (c *checker) run(a attempt, r *record.Run, claim func(name string) *float64) {
	gives, err := c.of(r)
	if err != nil {
		c.add(a.String(), "latency histogram", "it can be read", err.Error())
		return
	}
	for _, name := range Known {
		c.value(a.String(), name, claim(name), at(gives, name))
	}
}

// summary: the median and the ends of a cell, over its processes.
func (c *checker) summary(cell *findings.Cell) {
	if cell.Kind.Searched() { // trials at many rates, or limits, have no median
		return
	}
	values := map[findings.Metric][]float64{}
	for _, p := range cell.Processes {
		if r, ok := c.runs[attempt{p.Step, p.Attempt}]; ok {
			gives, _ := c.of(r)
			for name, v := range gives {
				values[findings.Metric(name)] = append(values[findings.Metric(name)], v)
			}
		}
	}
	for _, name := range Known {
		m := findings.Metric(name)
		xs := values[m]
		if isQuantile(m) && len(xs) < len(cell.Processes) {
			xs = nil // a percentile is shown only where each run has it
		}
		says, ok := cell.Summary[m]
		c.condensed(cell.Name(), name, says, ok, xs)
	}
}

func isQuantile(m findings.Metric) bool {
	for _, q := range quantiles {
		if q.name == string(m) {
			return true
		}
	}
	return false
}

func (c *checker) condensed(where, what string, says findings.Summary, ok bool, xs []float64) {
	if !ok || len(xs) == 0 {
		if ok != (len(xs) > 0) {
			c.add(where, what, strconv.Itoa(says.N)+" values", strconv.Itoa(len(xs))+" values")
		}
		return
	}
	mid, lo, hi, n := median(xs), slices.Min(xs), slices.Max(xs), float64(len(xs))
	said := float64(says.N)
	c.value(where, what+" count", &said, &n)
	c.value(where, what+" median", &says.Median, &mid)
	c.value(where, what+" min", &says.Min, &lo)
	c.value(where, what+" max", &says.Max, &hi)
}

// ratio: target over base, block by block, then the median.
func (c *checker) ratio(e *findings.Evaluation, r findings.Ratio) {
	of := func(target string) map[int]float64 {
		byBlock := map[int]float64{}
		cell, ok := e.Cell(target, r.Scenario)
		if !ok {
			return byBlock
		}
		for _, p := range cell.Processes {
			if run, ok := c.runs[attempt{p.Step, p.Attempt}]; ok {
				gives, _ := c.of(run)
				if v, ok := gives[string(r.Metric)]; ok {
					byBlock[p.Step.Block] = v
				}
			}
		}
		return byBlock
	}
	target, base := of(r.Target), of(r.Base)
	var xs []float64
	for _, block := range slices.Sorted(maps.Keys(target)) {
		if b := base[block]; b > 0 {
			xs = append(xs, target[block]/b)
		}
	}
	where := strings.Join([]string{r.Target, r.Base}, " / ") + " in " + r.Scenario
	c.condensed(where, "ratio of "+string(r.Metric), r.Summary, true, xs)
}
