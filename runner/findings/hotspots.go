package findings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gonogo/runner/record"
)

// Profiles are what a session of profiles says.
type Profiles struct {
	Targets []TargetProfile `json:"targets"`
	// Difference is of two targets: function by function where both have the same
	// runtime, else by category. It is absent where one has no profile of its CPU.
	Difference *Difference `json:"difference,omitempty"`
}

// TargetProfile is one target: what it does when nobody profiles, what each profiler
// yields, and the diagnosis.
type TargetProfile struct {
	Target      string  `json:"target"`
	Runtime     string  `json:"runtime"`
	Shared      bool    `json:"shared"`
	Disturbed   bool    `json:"disturbed,omitempty"` // others used its CPUs: low CPU and high latency may be theirs
	Connections int     `json:"connections"`
	Rate        float64 `json:"rate_per_sec,omitempty"`
	Busy        float64 `json:"cpu_busy_ratio,omitempty"` // of its CPUs
	CPU         float64 `json:"cpu_ns_per_request,omitempty"`
	P99         float64 `json:"p99_ns,omitempty"`
	Generator   float64 `json:"generator_cpu_busy_ratio,omitempty"`
	// Work is how long serving every connection once takes, if nothing but the CPU is
	// waited for: connections x CPU time of a request / CPUs.
	Work          float64        `json:"work_ns,omitempty"`
	Runs          []ProfiledRun  `json:"runs"`
	Diagnosis     []Diagnosis    `json:"diagnosis"`
	Paradox       string         `json:"paradox,omitempty"` // low CPU and a high p99: where to look; "" where there is none
	Pauses        []PausesOfRun  `json:"pauses,omitempty"`
	vectors       map[string]one // by name
	loop          *record.EventLoop
	loopDisturbed bool
	live          *record.LiveHeap
	liveOver      float64 // requests
}

// ProfiledRun is a run that carried a profiler, against the one that carried none.
type ProfiledRun struct {
	Of      string                 `json:"of"`
	Rate    float64                `json:"rate_per_sec"`
	OfPlain float64                `json:"rate_of_plain_ratio,omitempty"` // what the profiler left of the rate
	Vectors []record.ProfileVector `json:"vectors,omitempty"`
	Loop    *record.EventLoop      `json:"event_loop,omitempty"`
	Live    *record.LiveHeap       `json:"live_heap,omitempty"`
	Files   []record.ProfileFile   `json:"files,omitempty"`
}

// PausesOfRun are the pauses of 1 ms and more that a runtime told of in its window.
type PausesOfRun struct {
	Of      string        `json:"of"`
	Count   int           `json:"count"`
	Total   time.Duration `json:"total_ns"`
	Longest time.Duration `json:"longest_ns"`
}

// Diagnosis is one vector: what was seen, what it is held against, what it means.
type Diagnosis struct {
	Vector    string `json:"vector"` // cpu, locks, memory
	Word      string `json:"word"`   // suspect, ok, unknown
	Observed  string `json:"observed"`
	Threshold string `json:"threshold"`
	Top       string `json:"top,omitempty"` // the function that has most of it
}

// The words of a diagnosis.
const (
	Suspect = "suspect"
	Fine    = "ok"
	NoWord  = "unknown"
)

// one is a vector, with the requests that it was recorded over.
type one struct {
	record.ProfileVector
	requests float64
	rate     float64
}

// Difference lays two targets side by side, in CPU time of a request: the share of a
// row in the samples times the CPU time that a request takes where nobody profiles.
type Difference struct {
	A    string    `json:"a"`
	B    string    `json:"b"`
	By   string    `json:"by"`   // function or category
	Rows []DiffRow `json:"rows"` // the largest difference first
}

// DiffRow is a function or a category. A share is 0..1, of the samples.
type DiffRow struct {
	Name   string  `json:"name"`
	A      float64 `json:"a_ns_per_request"`
	B      float64 `json:"b_ns_per_request"`
	AShare float64 `json:"a_share"`
	BShare float64 `json:"b_share"`
}

// profilesOf reads the runs of a session of profiles; nil of any other.
func profilesOf(s *record.Session, cells []Cell) *Profiles {
	if s.Plan.Kind != record.Profiling || s.Plan.Rules.Profile == nil {
		return nil
	}
	p := &Profiles{}
	for _, t := range s.Plan.Targets {
		x := TargetProfile{Target: t.Name, Shared: t.Shared(), vectors: map[string]one{}}
		for i := range cells {
			if c := &cells[i]; c.Target == t.Name && len(c.Processes) > 0 {
				sc, _ := s.Plan.Scenario(c.Scenario)
				x.take(t, sc, c)
			}
		}
		for i, r := range x.Runs {
			if x.Rate > 0 {
				x.Runs[i].OfPlain = r.Rate / x.Rate
			}
		}
		x.diagnose(*s.Plan.Rules.Profile, s.Plan.Rules.GeneratorCPUMax)
		p.Targets = append(p.Targets, x)
	}
	if len(p.Targets) == 2 {
		p.Difference = difference(&p.Targets[0], &p.Targets[1])
	}
	return p
}

// take reads the run of a scenario.
func (x *TargetProfile) take(t record.Target, sc record.Scenario, c *Cell) {
	value := func(m Metric) float64 { return c.Summary[m].Median }
	if sc.Profile == "" {
		x.Connections, x.Rate, x.CPU, x.Busy, x.P99, x.Generator = sc.Connections, value(Rate), value(ServerCPU), value(ServerBusy), value(P99), value(GeneratorBusy)
		x.Disturbed = othersRan(c)
		x.Work = float64(sc.Connections) * x.CPU / float64(max(1, len(t.CPUs), t.Workers))
		return
	}
	r := c.Processes[len(c.Processes)-1].run
	if r.Profile == nil {
		return
	}
	x.Runtime = r.Profile.Runtime
	requests := float64(c.Counts.InWindow)
	x.Runs = append(x.Runs, ProfiledRun{Of: sc.Profile, Rate: value(Rate), Vectors: r.Profile.Vectors, Loop: r.Profile.Loop, Live: r.Profile.LiveHeap, Files: r.Profile.Files})
	for _, v := range r.Profile.Vectors {
		x.vectors[v.Name] = one{v, requests, value(Rate)}
	}
	if r.Profile.Loop != nil {
		x.loop, x.loopDisturbed = r.Profile.Loop, othersRan(c)
	}
	if r.Profile.LiveHeap != nil {
		x.live, x.liveOver = r.Profile.LiveHeap, requests
	}
	if r.Traced != "" {
		p := PausesOfRun{Of: sc.Profile}
		for _, pause := range r.ServerPauses {
			p.Count++
			p.Total += pause.Length
			p.Longest = max(p.Longest, pause.Length)
		}
		x.Pauses = append(x.Pauses, p)
	}
}

// othersRan reports whether a gate says that other programs used the CPUs.
func othersRan(c *Cell) bool {
	for _, p := range c.Processes {
		for _, check := range checks(p.run) {
			if check.Name == "CPU used by others" && !check.OK && !check.Unknown {
				return true
			}
		}
	}
	return false
}

// difference is absent where there is nothing to lay side by side.
func difference(a, b *TargetProfile) *Difference {
	va, okA := a.vectors[record.VectorCPU]
	vb, okB := b.vectors[record.VectorCPU]
	if !okA || !okB || va.Total == 0 || vb.Total == 0 {
		return nil
	}
	d := &Difference{A: a.Target, B: b.Target, By: "category"}
	of := func(v one) map[string]int64 { return v.Categories }
	if a.Runtime == b.Runtime {
		d.By = "function"
		of = selfOf
	}
	inA, inB := of(va), of(vb)
	names := map[string]bool{}
	for name := range inA {
		names[name] = true
	}
	for name := range inB {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r := DiffRow{Name: name, AShare: float64(inA[name]) / float64(va.Total), BShare: float64(inB[name]) / float64(vb.Total)}
		r.A, r.B = r.AShare*a.CPU, r.BShare*b.CPU
		d.Rows = append(d.Rows, r)
	}
	slices.SortStableFunc(d.Rows, func(x, y DiffRow) int { return cmp.Compare(math.Abs(y.A-y.B), math.Abs(x.A-x.B)) })
	return d
}

// selfOf is what each function has of a vector by itself. Of one that is not among the
// largest it is not known, and less than theirs: it counts as none.
func selfOf(v one) map[string]int64 {
	all := map[string]int64{}
	for _, f := range v.Functions {
		if f.Self > 0 {
			all[f.Name] = f.Self
		}
	}
	return all
}

// profileSays turns a diagnosis into findings: what stands out, and the alarm that low
// CPU is no good sign where latency is high.
func profileSays(s *record.Session, e *Evaluation) []record.Finding {
	if e.Profiles == nil {
		return nil
	}
	var all []record.Finding
	r := s.Plan.Rules.Profile
	for _, t := range e.Profiles.Targets {
		if t.Paradox != "" {
			all = append(all, record.Finding{Code: "waits-not-works", Severity: record.Warn, Text: t.Target + ": " + t.Paradox,
				Observed:  fmt.Sprintf("%.0f %% busy, p99 %v", 100*t.Busy, brief(t.P99)),
				Threshold: fmt.Sprintf("%.0f %% busy, p99 %.3g times the %v that serving all connections once takes", 100*r.IdleMax, r.LatencyMean, brief(t.Work))})
		}
		for _, d := range t.Diagnosis {
			if d.Word == Suspect {
				text := t.Target + ": the " + d.Vector + " vector stands out"
				if d.Top != "" {
					text += "; most of it in " + d.Top
				}
				all = append(all, record.Finding{Code: "profile-" + d.Vector, Severity: record.Note, Text: text, Observed: d.Observed, Threshold: d.Threshold})
			}
		}
	}
	return all
}

// brief is a time in three digits.
func brief(ns float64) time.Duration {
	d := time.Duration(ns)
	for unit := time.Second; unit >= 1000; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}
